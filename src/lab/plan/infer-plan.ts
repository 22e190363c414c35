import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { isSdkEvent, isSdkProperty } from "../../state/journal/sdk-properties.ts";
import type { EventEntry, PlanFile, PlannableEvent } from "./plan.ts";

export interface InferOptions {
  title?: string;
  /** Only the event of this name; without it, the SDKs' own events are left out. */
  event?: string;
}

const mostEvents = 1000;

/** Collects the shapes of events; its size does not grow with their number. */
export function createInference({ title, event: only }: InferOptions = {}) {
  const events = new Map<string, Fields>();
  let [added, leftOut] = [0, 0];
  const isWanted = ({ event, outcome }: PlannableEvent): boolean =>
    outcome !== "dropped" && event !== "__proto__" && (only === undefined ? !isSdkEvent(event) : event === only);
  return {
    get added() {
      return added;
    },
    get leftOut() {
      return leftOut;
    },
    add(event: PlannableEvent) {
      if (!isWanted(event)) return;
      const fields = events.get(event.event) ?? (events.size < mostEvents ? newFields() : undefined);
      if (!fields) {
        leftOut += 1;
        return;
      }
      added += 1;
      events.set(event.event, fields);
      addObject(fields, event.properties, (name) => !isSdkProperty(name));
    },
    plan: (): PlanFile => ({
      version: 1,
      ...(title !== undefined && { title }),
      events: Object.fromEntries(
        [...events].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, fields]) => [name, entryOf(fields)]),
      ),
    }),
  };
}

/** An inferred event lists all its properties, unless there were too many to keep. */
const entryOf = (fields: Fields): EventEntry => ({
  ...objectSchema(fields),
  ...(!fields.isOverfull && { additionalProperties: false }),
});

/**
 * A plan that all the events fit: types of each property, unions, allowed values where they are few and frequent,
 * formats that all values fit; properties that every event has are required. The SDKs' own events and properties,
 * and dropped events, are left out. The result is a plan file's content; `JSON.stringify` writes it.
 */
export function inferPlan(events: Iterable<PlannableEvent>, options: InferOptions = {}): PlanFile {
  const inference = createInference(options);
  for (const event of events) inference.add(event);
  return inference.plan();
}

/**
 * A plan extended by another: with its additional events, and additional properties of common events. Existing
 * entries stay as they are; new properties are not required.
 */
export function mergePlans(plan: PlanFile, other: PlanFile): PlanFile {
  const known = Object.entries(plan.events).map(([name, entry]): [string, EventEntry] => {
    const also = Object.hasOwn(other.events, name) ? other.events[name]?.properties : undefined;
    return [name, also ? withProperties(entry, also) : entry];
  });
  const fresh = Object.entries(other.events).filter(([name]) => !Object.hasOwn(plan.events, name));
  return { ...plan, events: Object.fromEntries([...known, ...fresh]) };
}

function withProperties(entry: EventEntry, also: NonNullable<EventEntry["properties"]>): EventEntry {
  const own = entry.properties ?? {};
  const fresh = Object.entries(also).filter(([name]) => !Object.hasOwn(own, name));
  if (fresh.length === 0) return entry;
  return { ...entry, properties: Object.fromEntries([...Object.entries(own), ...fresh]) };
}

type TypeName = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

/** The values of a property so far. Its size does not grow with their number. */
interface Shape {
  seen: number;
  readonly types: Map<TypeName, number>;
  /** The strings, while they are few; null if they are too many, or too long. */
  strings: Set<string> | null;
  /** The one format of all strings; null if there is none, undefined before the first. */
  format: string | null | undefined;
  items: Shape | null;
  hasLongLists: boolean;
  fields: Fields | null;
}

interface Fields {
  objects: number;
  readonly shapes: Map<string, Shape>;
  /** True if there were more names than are kept. */
  isOverfull: boolean;
  /** How many more shapes may be made here and below; shared by the whole event. */
  readonly room: { left: number };
}

/** Limits: names of one object, shapes of an event, characters of a name, levels. */
const mostFields = 300;
const mostShapes = 2000;
const longestName = 200;
const mostDepth = 4;
const mostItems = 1000;
const mostStrings = 8;
const longestValue = 40;
/** With this many strings, others are unlikely. */
const enoughStrings = 20;
const enoughOfEach = 4;

const newFields = (room = { left: mostShapes }): Fields => ({ objects: 0, shapes: new Map(), isOverfull: false, room });
const newShape = (): Shape => ({
  seen: 0,
  types: new Map(),
  strings: new Set(),
  format: undefined,
  items: null,
  hasLongLists: false,
  fields: null,
});

/** Adds an object; only names for which `isOwn` is true count. */
function addObject(fields: Fields, object: object, isOwn: (name: string) => boolean, depth = 0): void {
  fields.objects += 1;
  for (const [name, value] of Object.entries(object)) {
    if (name === "__proto__" || value === undefined || !isOwn(name)) continue;
    const shape = fields.shapes.get(name) ?? shapeFor(name, fields);
    if (!shape) {
      fields.isOverfull = true;
      continue;
    }
    addValue(shape, value, depth + 1, fields.room);
  }
}

function shapeFor(name: string, { shapes, room }: Fields): Shape | undefined {
  if (shapes.size >= mostFields || room.left <= 0 || name.length > longestName) return undefined;
  room.left -= 1;
  const shape = newShape();
  shapes.set(name, shape);
  return shape;
}

function addValue(shape: Shape, value: unknown, depth: number, room: Fields["room"]): void {
  shape.seen += 1;
  const type = typeOf(value);
  shape.types.set(type, (shape.types.get(type) ?? 0) + 1);
  if (typeof value === "string") addString(shape, value);
  if (depth > mostDepth) return;
  if (Array.isArray(value)) {
    shape.items ??= newShape();
    if (value.length > mostItems) shape.hasLongLists = true;
    for (const item of value.slice(0, mostItems)) addValue(shape.items, item, depth + 1, room);
  } else if (isObject(value)) {
    shape.fields ??= newFields(room);
    addObject(shape.fields, value, () => true, depth);
  }
}

function typeOf(value: unknown): TypeName {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? (typeof value as TypeName) : "object";
}

function addString(shape: Shape, text: string): void {
  shape.strings?.add(text);
  if (text.length > longestValue || (shape.strings && shape.strings.size > mostStrings)) shape.strings = null;
  if (shape.format === null) return;
  const format = formatOf(text) ?? null;
  shape.format = shape.format === undefined || shape.format === format ? format : null;
}

const order: readonly TypeName[] = ["string", "integer", "number", "boolean", "object", "array", "null"];

function schemaOf(shape: Shape): JsonObject {
  const types = order.filter((it) => shape.types.has(it) && !(it === "integer" && shape.types.has("number")));
  if (types.length === 0) return {};
  const allowed = allowedOf(shape, types);
  return {
    type: types.length === 1 && types[0] ? types[0] : types,
    ...(allowed ? { enum: allowed } : typeof shape.format === "string" && { format: shape.format }),
    ...(shape.fields && objectSchema(shape.fields)),
    // A schema of the items must also hold for those that were not read.
    ...(shape.items && shape.items.seen > 0 && !shape.hasLongLists && { items: schemaOf(shape.items) }),
  };
}

/** The allowed strings, if they are few and frequent enough and there are only strings and null. */
function allowedOf({ strings, types, format }: Shape, names: readonly TypeName[]): (string | null)[] | undefined {
  const count = types.get("string") ?? 0;
  const isFew = strings !== null && count >= Math.max(enoughStrings, strings.size * enoughOfEach);
  const isPlain = names.every((it) => it === "string" || it === "null");
  if (!isFew || !isPlain || typeof format === "string") return undefined;
  return [...[...strings].sort(), ...(types.has("null") ? [null] : [])];
}

/** Properties in the order of their names; those that every object has are required. */
function objectSchema({ shapes, objects }: Fields): JsonObject {
  const entries = [...shapes].sort(([a], [b]) => (a < b ? -1 : 1));
  const required = entries.filter(([, { seen }]) => seen === objects).map(([name]) => name);
  return {
    ...(entries.length > 0 && { properties: Object.fromEntries(entries.map(([name, it]) => [name, schemaOf(it)])) }),
    ...(required.length > 0 && { required }),
  };
}

const longest = 2000;

const dateTime = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

function isDateTime(text: string): boolean {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (day === undefined || Number(month) > 12) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return date.getUTCDate() === Number(day);
}

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const email = new RegExp(`^[a-z0-9_+-]{1,64}(?:\\.[a-z0-9_+-]{1,64}){0,4}@(?:${label}\\.){1,8}[a-z]{2,24}$`, "i");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const uri = new RegExp(
  `^https?://(?:${label}\\.){0,8}${label}(?::\\d{1,5})?(?:[/?](?:[\\w.~:/?@!$&()*+,;=-]|%[0-9a-f]{2})*)?(?:#(?:[\\w.~:/?@-]|%[0-9a-f]{2})*)?$`,
  "i",
);

const rows: readonly (readonly [format: string, isIt: (text: string) => boolean])[] = [
  ["date-time", isDateTime],
  ["uuid", (text) => uuid.test(text)],
  ["email", (text) => text.length <= 254 && email.test(text)],
  ["uri", (text) => uri.test(text)],
];

/**
 * The format of a string, if it is one that plans are inferred with. Narrower than the formats themselves: a string
 * with a format found here passes every check of that format.
 */
const formatOf = (text: string): string | undefined =>
  text.length > longest ? undefined : rows.find(([, isIt]) => isIt(text))?.[0];
