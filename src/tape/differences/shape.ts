import { isObject, type Json } from "../../kernel/json.ts";

export type JsonType = "null" | "boolean" | "number" | "string" | "list" | "object";

/** What a JSON value is made of; the elements of a list are one shape. */
export interface Shape {
  readonly types: ReadonlySet<JsonType>;
  /** How many objects it was made of. */
  readonly objects: number;
  /** Of its objects: each key's shape, and in how many of them it is. */
  readonly keys: ReadonlyMap<string, { shape: Shape; times: number }>;
  /** Of its lists; undefined: there is no element to tell from. */
  readonly element: Shape | undefined;
}

/** The more elements of a list have told their shape, the less another one adds. */
const mostElements = 1000;

export function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value as Exclude<JsonType, "null" | "list">;
}

/** The shape of several values as one. */
export function shapeOf(values: readonly Json[]): Shape {
  const objects = values.filter(isObject);
  const elements = values.flatMap((it) => (Array.isArray(it) ? it.slice(0, mostElements) : []));
  return {
    types: new Set(values.map(typeOf)),
    objects: objects.length,
    keys: keysOf(objects),
    element: elements.length > 0 ? shapeOf(elements.slice(0, mostElements)) : undefined,
  };
}

function keysOf(objects: readonly { [key: string]: Json }[]): Shape["keys"] {
  const values = new Map<string, Json[]>();
  for (const [key, value] of objects.flatMap((it) => Object.entries(it))) {
    const known = values.get(key);
    if (known) known.push(value);
    else values.set(key, [value]);
  }
  return new Map([...values].map(([key, all]) => [key, { shape: shapeOf(all), times: all.length }]));
}

/** `string or null`. */
export const shownTypes = ({ types }: Pick<Shape, "types">): string =>
  [...types].sort((a, b) => Number(a === "null") - Number(b === "null") || (a < b ? -1 : 1)).join(" or ");
