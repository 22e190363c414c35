export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Own property or undefined: keys come from users, and `constructor` must be absent. */
export const own = <T>(object: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The value of the first key that has one other than null. */
export function firstOf(object: JsonObject, ...keys: readonly string[]): Json | undefined {
  for (const key of keys) {
    const value = own(object, key);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The object at a key; an empty one if there is none. */
export function objectIn(object: JsonObject, key: string): JsonObject {
  const value = own(object, key);
  return isObject(value) ? value : {};
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const textIn = (object: JsonObject, key: string): string => textOf(own(object, key));

export function numberIn(object: JsonObject, key: string): number | undefined {
  const value = own(object, key);
  return typeof value === "number" ? value : undefined;
}

export const objectsIn = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

export const textsIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((it) => typeof it === "string") : [];

export const textOrNumber = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;

/** The JSON text of a value, the keys of its objects in order, as the service's parser keeps them. */
export function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(value[name] ?? null)}`).join()}}`;
}

export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The service's JSON parser refuses deeper nesting (serde_json's recursion limit). */
export const maxDepth = 128;

/** True if nested deeper than `limit`: brackets parse without recursion, but code that walks the value would run out of stack. */
export function isTooDeep(value: Json, limit: number = maxDepth): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((it) => typeof it === "object" && isTooDeep(it, limit - 1));
  for (const key in value) {
    const child = value[key];
    if (typeof child === "object" && isTooDeep(child, limit - 1)) return true;
  }
  return false;
}

/** Steps from the root of a document to a place in it. */
export type Path = readonly (string | number)[];

/** `batch[0].uuid` */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");

/** The object with other members; itself if none differs. */
export function mapMembers(
  object: JsonObject,
  memberOf: (key: string, value: Json) => readonly [key: string, value: Json],
): JsonObject {
  const members: (readonly [string, Json])[] = [];
  let isSame = true;
  for (const [key, value] of Object.entries(object)) {
    const member = memberOf(key, value);
    isSame &&= member[0] === key && member[1] === value;
    members.push(member);
  }
  return isSame ? object : Object.fromEntries(members);
}

export function valueAt(value: Json | undefined, at: Path): Json | undefined {
  let here = value;
  for (const step of at) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, Json>)[step];
  }
  return here;
}

/** One step as RFC 6901 writes it, its slash included. */
export const pointerStep = (step: PropertyKey): string =>
  `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** RFC 6901; the root is the empty text. */
export const pointerTo = (path: Path): string => path.map(pointerStep).join("");

export const stepsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
