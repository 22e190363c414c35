import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import type { EventReader } from "../../../state/journal/event-reader.ts";
import { calmly } from "../../api-frame/desk.ts";
import { detectedType, type PropertyType } from "../../query/hogql/property-types.ts";

interface CapturedName {
  readonly name: string;
  /** Seq of the last event with it. */
  seq: number;
}

interface CapturedEvent extends CapturedName {
  /** Wire times of the first and the last one's arrival. */
  readonly first: string;
  last: string;
}

interface CapturedProperty extends CapturedName {
  readonly type: "event" | "person" | "group";
  readonly group: string | null;
  /** Undefined until a value shows it. */
  property_type: PropertyType | undefined;
}

/** The names in the events of a project. Upstream PostHog/posthog rust/property-defs-rs/src/types.rs. */
export interface Captured {
  readonly events: ReadonlyMap<string, CapturedEvent>;
  readonly properties: Iterable<CapturedProperty>;
}

interface Names {
  readonly revision: number;
  readonly events: Map<string, CapturedEvent>;
  readonly properties: Map<string, CapturedProperty>;
  /** The last event that was read. */
  seq: number;
}

/** Not properties of events, but of persons and groups. */
const notOfEvents = new Set(["$set", "$set_once", "$unset", "$groups"]);
const isOfEvents = (name: string): boolean => !notOfEvents.has(name) && !/^\$group_\d$/.test(name);

const mostBytes = 200;
const isTooLong = (name: string): boolean => Buffer.byteLength(name) > mostBytes;

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

type Owner = Pick<CapturedProperty, "type" | "group">;
const ofEvents: Owner = { type: "event", group: null };
const ofPersons: Owner = { type: "person", group: null };

function addProperties(names: Names, { seq, received_at }: StoredEvent, owner: Owner, values: JsonObject): void {
  for (const [name, value] of Object.entries(values)) {
    if (isTooLong(name) || (owner === ofEvents && !isOfEvents(name))) continue;
    const key = `${owner.type}/${owner.group ?? ""}/${name}`;
    const known = names.properties.get(key) ?? { ...owner, name, seq, property_type: undefined };
    known.seq = seq;
    known.property_type ??= detectedType(name, value, Date.parse(received_at));
    names.properties.set(key, known);
  }
}

function add(names: Names, event: StoredEvent): void {
  const { seq, event: name, properties, received_at } = event;
  names.seq = seq;
  if (isTooLong(name)) return;
  const time = wireTime(Date.parse(received_at));
  const known = names.events.get(name) ?? { name, seq, first: time, last: time };
  known.seq = seq;
  known.last = time;
  names.events.set(name, known);
  if (name === "$groupidentify") {
    const { $group_type: group } = properties;
    if (typeof group === "string")
      addProperties(names, event, { type: "group", group }, objectOf(properties.$group_set));
    return;
  }
  addProperties(names, event, ofEvents, properties);
  addProperties(names, event, ofPersons, objectOf(properties.$set));
  addProperties(names, event, ofPersons, objectOf(properties.$set_once));
}

/** Reads the events of a project for the first call about it, and later only new ones. */
export function openCaptured(events: EventReader): (project: number) => Promise<Captured> {
  const projects = new Map<number, Names>();

  function namesOf(project: number): Names {
    const known = projects.get(project);
    if (known?.revision === events.revision) return known;
    const names: Names = { revision: events.revision, events: new Map(), properties: new Map(), seq: 0 };
    projects.set(project, names);
    return names;
  }

  return async (project) => {
    for (;;) {
      const names = namesOf(project);
      // calls at the same time read the same events, which adds nothing
      for await (const event of calmly(events.after(project, names.seq))) {
        if (names.revision !== events.revision) break;
        add(names, event);
      }
      if (names.revision === events.revision) {
        return { events: names.events, properties: names.properties.values() };
      }
    }
  };
}
