import { FlagFailure } from "../flags/reasons.ts";
import type { Subject, SubjectGroup } from "../flags/subject.ts";
import type { Call } from "../http/call.ts";
import { isObject, type Json, type JsonObject, own } from "../kernel/json.ts";
import { currentOfInitial } from "../model/copied-properties.ts";
import type { Desk } from "../model/desk.ts";
import type { Person } from "../model/person.ts";
import type { Project } from "../model/world.ts";
import { addressOf, isPublicAddress } from "./flags-address.ts";
import type { FlagsRequest } from "./flags-request.ts";

/** Person properties that the service derives from the caller's address. */
const placeProperties: ReadonlySet<string> = new Set(
  [
    "city_name",
    "country_name",
    "country_code",
    "continent_name",
    "continent_code",
    "postal_code",
    "time_zone",
  ].map((name) => `$geoip_${name}`),
);

const none: JsonObject = Object.freeze({});

/** The value of the first document that has the key. */
const ownInEither = (over: JsonObject, under: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(over, key) ? over[key] : own(under, key);

/** Reads person properties: the request's, the stored ones, then what follows from the others. */
function personReader(desk: Desk, project: Project, request: FlagsRequest, call: Call, distinctId: string) {
  const isStoredIgnored = call.query.get("only_use_override_person_properties") === "true";
  const sent = request.personProperties;
  let stored: JsonObject | undefined = isStoredIgnored ? none : undefined;
  const read = (name: string): Json | undefined => {
    if (Object.hasOwn(sent, name)) return sent[name];
    if (name === "distinct_id") return distinctId;
    stored ??= desk.people.personOf(project.id, distinctId)?.properties ?? none;
    return own(stored, name);
  };
  const mayHavePlace = (): boolean => !request.isGeoipDisabled && isPublicAddress(addressOf(call));
  return function property(name: string): Json | undefined {
    const value = read(name);
    if (placeProperties.has(name) && (value === undefined || value === null) && mayHavePlace()) {
      throw new FlagFailure("unsupported_geoip");
    }
    if (value !== undefined) return value;
    const current = currentOfInitial.get(name);
    return current === undefined ? undefined : read(current);
  };
}

/** A group's key as sent: text or a number; anything else, and "", is no group. */
const keyIn = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

function groupOf(
  desk: Desk,
  project: Project,
  request: FlagsRequest,
  type: number,
): SubjectGroup | undefined {
  const name = desk.people.groupTypes(project.id)[type];
  const key = name === undefined ? undefined : keyIn(own(request.groups, name));
  if (name === undefined || key === undefined) return undefined;
  const properties = own(request.groupProperties, name);
  const sent = isObject(properties) ? properties : none;
  const stored = desk.people.group(project.id, type, key)?.properties ?? none;
  return { key, property: (wanted) => (wanted === "$group_key" ? key : ownInEither(sent, stored, wanted)) };
}

/**
 * What continuity flags hash. Stored hash keys are not kept yet, so it is known only while neither id has a
 * person: then the service stores nothing, either, and hashes the anonymous id, else the distinct id.
 */
function continuityKeyOf(desk: Desk, project: Project, request: FlagsRequest, distinctId: string) {
  const ids = request.anonymousId === undefined ? [distinctId] : [distinctId, request.anonymousId];
  const isKnown = ids.every((id) => desk.people.personOf(project.id, id) === undefined);
  return isKnown ? (request.anonymousId ?? distinctId) : undefined;
}

/** The fields of a person that filters may ask for. */
const metadataOf = (person: Person | undefined, name: string): string | undefined =>
  person && name === "created_at" ? new Date(person.created_at).toISOString() : undefined;

/**
 * Whom a request asks about: stored properties with the request's on top, key by key. Nothing is read
 * before a flag asks for it.
 */
export function subjectOf(
  desk: Desk,
  project: Project,
  request: FlagsRequest,
  call: Call,
  distinctId: string,
): Subject {
  return {
    distinctId,
    deviceId: request.deviceId,
    anonymousId: request.anonymousId,
    now: desk.clock.now(),
    continuityKey: () => continuityKeyOf(desk, project, request, distinctId),
    property: personReader(desk, project, request, call, distinctId),
    metadata: (name) => metadataOf(desk.people.personOf(project.id, distinctId), name),
    personId: () => desk.people.personOf(project.id, distinctId)?.uuid,
    group: (type) => groupOf(desk, project, request, type),
  };
}
