import { isObject, type JsonObject } from "../kernel/json.ts";
import { formatOf } from "./text-formats.ts";

type TypeName = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

/** What has been seen of a value so far. Its size does not grow with the number of values. */
interface Shape {
  seen: number;
  readonly types: Map<TypeName, number>;
  /** The texts, while they are few; null when they are too many, or too long. */
  texts: Set<string> | null;
  /** The one format of all texts; null when there is none, undefined before the first. */
  format: string | null | undefined;
  items: Shape | null;
  /** Were there lists too long to be looked at whole? */
  hasLongLists: boolean;
  fields: Fields | null;
}

/** What has been seen of an object's properties. */
export interface Fields {
  objects: number;
  readonly shapes: Map<string, Shape>;
  /** Were there more names than are kept? */
  isOverfull: boolean;
  /** How many more shapes may be made here and below; one for the whole event. */
  readonly room: { left: number };
}

/** Names of one object, all shapes of an event, letters, and levels, beyond which nothing is told apart. */
const mostFields = 300;
const mostShapes = 2000;
const longestName = 200;
const mostDepth = 4;
/** Items of one list that are looked at. */
const mostItems = 1000;
const mostTexts = 8;
const longestText = 40;
/** So many texts make it likely that there are no others. */
const enoughTexts = 20;
const enoughOfEach = 4;

export const newFields = (room = { left: mostShapes }): Fields => ({
  objects: 0,
  shapes: new Map(),
  isOverfull: false,
  room,
});
const newShape = (): Shape => ({
  seen: 0,
  types: new Map(),
  texts: new Set(),
  format: undefined,
  items: null,
  hasLongLists: false,
  fields: null,
});

/** Adds an object; `isOwn` tells which of its names count. */
export function addObject(fields: Fields, object: object, isOwn: (name: string) => boolean, depth = 0): void {
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

/** A new shape, as long as there is room for one. */
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
  if (typeof value === "string") addText(shape, value);
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

function addText(shape: Shape, text: string): void {
  shape.texts?.add(text);
  if (text.length > longestText || (shape.texts && shape.texts.size > mostTexts)) shape.texts = null;
  if (shape.format === null) return;
  const format = formatOf(text) ?? null;
  shape.format = shape.format === undefined || shape.format === format ? format : null;
}

const order: readonly TypeName[] = ["string", "integer", "number", "boolean", "object", "array", "null"];

/** JSON Schema that every value seen fits. */
function schemaOf(shape: Shape): JsonObject {
  const types = order.filter((it) => shape.types.has(it) && !(it === "integer" && shape.types.has("number")));
  if (types.length === 0) return {};
  const allowed = allowedOf(shape, types);
  return {
    type: types.length === 1 && types[0] ? types[0] : types,
    ...(allowed ? { enum: allowed } : typeof shape.format === "string" && { format: shape.format }),
    ...(shape.fields && objectSchema(shape.fields)),
    // A schema of the items must hold for those that were not looked at, too.
    ...(shape.items && shape.items.seen > 0 && !shape.hasLongLists && { items: schemaOf(shape.items) }),
  };
}

/** The texts that there seem to be, when they are few and have come often enough; nothing but texts and null. */
function allowedOf(
  { texts, types, format }: Shape,
  names: readonly TypeName[],
): (string | null)[] | undefined {
  const count = types.get("string") ?? 0;
  const isFew = texts !== null && count >= Math.max(enoughTexts, texts.size * enoughOfEach);
  const isPlain = names.every((it) => it === "string" || it === "null");
  if (!isFew || !isPlain || typeof format === "string") return undefined;
  return [...[...texts].sort(), ...(types.has("null") ? [null] : [])];
}

/** Properties in the order of their names; required are those that were always there. */
export function objectSchema({ shapes, objects }: Fields): JsonObject {
  const entries = [...shapes].sort(([a], [b]) => (a < b ? -1 : 1));
  const required = entries.filter(([, { seen }]) => seen === objects).map(([name]) => name);
  return {
    ...(entries.length > 0 && {
      properties: Object.fromEntries(entries.map(([name, it]) => [name, schemaOf(it)])),
    }),
    ...(required.length > 0 && { required }),
  };
}
