import { isObject, type Json, type JsonObject, own, textOrNumber } from "../../kernel/base/json.ts";
import { once } from "../../kernel/base/work.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import { currentOfInitial } from "../../state/journal/copied-properties.ts";
import type { GeoPlace } from "../../state/journal/places.ts";
import type { Person } from "../../state/persons/person.ts";
import type { Desk } from "../capture/desk.ts";
import type { Subject, SubjectGroup } from "./engine/run.ts";

export interface RequestedSubject {
  readonly distinctId: string;
  readonly deviceId?: string | undefined;
  /** The id before the person was identified. */
  readonly anonymousId?: string | undefined;
  /** They override the stored ones, key by key. */
  readonly personProperties: JsonObject;
  /** Group type → key, as sent. */
  readonly groups: JsonObject;
  /** Group type → properties; they override the stored ones, key by key. */
  readonly groupProperties: JsonObject;
  readonly address?: string | undefined;
  readonly isGeoipDisabled?: boolean | undefined;
  readonly isStoredIgnored?: boolean | undefined;
}

type AskDesk = Pick<Desk, "people" | "clock" | "geoip">;

/** Person property → part of the client's place. Upstream rust/common/geoip. */
const placeParts: ReadonlyMap<string, keyof GeoPlace> = new Map(
  (
    [
      "city_name",
      "country_name",
      "country_code",
      "continent_name",
      "continent_code",
      "postal_code",
      "time_zone",
    ] as const
  ).map((part) => [`$geoip_${part}`, part]),
);

const nothing: JsonObject = Object.freeze({});

const ownInEither = (over: JsonObject, under: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(over, key) ? over[key] : own(under, key);

function placeReader({ geoip }: AskDesk, { address, isGeoipDisabled }: RequestedSubject) {
  let found: { place: GeoPlace | undefined } | undefined;
  return function placeProperty(name: string): Json | undefined {
    const part = placeParts.get(name);
    if (part === undefined || address === undefined || isGeoipDisabled || geoip.isEmpty) return undefined;
    found ??= { place: geoip.placeOf(address) };
    return found.place?.[part];
  };
}

/**
 * Reads person properties: the request's, with the caller's place where they are missing or null; the stored
 * ones; then what follows from the others. Upstream rust/feature-flags, handler/properties.rs.
 */
function personReader(desk: AskDesk, asked: RequestedSubject, person: () => Person | undefined) {
  const sent = asked.personProperties;
  const placeProperty = placeReader(desk, asked);
  const read = (name: string): Json | undefined => {
    const given = own(sent, name) ?? placeProperty(name);
    if (given !== undefined || Object.hasOwn(sent, name)) return given ?? null;
    if (name === "distinct_id") return asked.distinctId;
    return asked.isStoredIgnored ? undefined : own(person()?.properties ?? nothing, name);
  };
  return function property(name: string): Json | undefined {
    const value = read(name);
    if (value !== undefined) return value;
    const current = currentOfInitial.get(name);
    return current === undefined ? undefined : read(current);
  };
}

function groupOf(
  { people }: AskDesk,
  project: number,
  asked: RequestedSubject,
  type: number,
): SubjectGroup | undefined {
  const name = people.groupTypes(project)[type];
  const key = name === undefined ? undefined : textOrNumber(own(asked.groups, name)) || undefined;
  if (name === undefined || key === undefined) return undefined;
  const properties = own(asked.groupProperties, name);
  const sent = isObject(properties) ? properties : nothing;
  let stored: JsonObject | undefined;
  return {
    key,
    property(wanted) {
      if (wanted === "$group_key") return key;
      stored ??= people.group(project, type, key)?.properties ?? nothing;
      return ownInEither(sent, stored, wanted);
    },
  };
}

const noKeys: ReadonlyMap<string, string> = new Map();

/**
 * What continuity flags hash: the key stored for the person, else the one stored for the person that the
 * anonymous id still has, else the anonymous id, else the distinct id. Upstream rust/feature-flags,
 * flag_matching_utils: the rows of both persons are read, those of the distinct id's own come last.
 */
function continuityReader(
  { people }: AskDesk,
  project: number,
  asked: RequestedSubject,
  person: () => Person | undefined,
) {
  const { anonymousId } = asked;
  const keysOf = (it: Person | undefined) => (it ? people.hashKeysOf(it) : noKeys);
  const own = once(() => keysOf(person()));
  const before = once(() => (anonymousId === undefined ? noKeys : keysOf(people.personOf(project, anonymousId))));
  return (flagKey: string): string => own().get(flagKey) ?? before().get(flagKey) ?? anonymousId ?? asked.distinctId;
}

const metadataOf = (person: Person | undefined, name: string): string | undefined =>
  person && name === "created_at" ? new Date(person.created_at).toISOString() : undefined;

/** The subject of a question: stored properties with the request's on top, key by key. Nothing is read before a flag asks for it. */
export function subjectOf(desk: AskDesk, project: StoredProject, asked: RequestedSubject): Subject {
  const person = once(() => desk.people.personOf(project.id, asked.distinctId));
  return {
    distinctId: asked.distinctId,
    deviceId: asked.deviceId,
    anonymousId: asked.anonymousId,
    now: desk.clock.now(),
    continuityKey: continuityReader(desk, project.id, asked, person),
    property: personReader(desk, asked, person),
    metadata: (name) => metadataOf(person(), name),
    personId: () => person()?.uuid,
    group: (type) => groupOf(desk, project.id, asked, type),
  };
}
