import { types } from "node:util";
import { isInRange } from "../../../kernel/base/clock.ts";
import { isObject, type Json } from "../../../kernel/base/json.ts";
import { readMoment } from "../../../kernel/base/time-text.ts";

/** Deeply equal; objects have the same keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/** The time of an ISO 8601 string or a Date, ms since the epoch. */
export function momentOf(value: unknown): number | undefined {
  if (typeof value === "string") return readMoment(value);
  if (!types.isDate(value)) return undefined;
  const time = value.getTime();
  return isInRange(time) ? time : undefined;
}

/** The types of `@type`. */
export const kinds: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  array: (value) => Array.isArray(value),
  object: (value) => isObject(value),
  null: (value) => value === null,
  date: (value) => typeof value === "string" && readMoment(value) !== undefined,
};

/** True for null, booleans, finite numbers, strings, and lists and plain objects of these. */
export function isJson(value: unknown, depth = 100): value is Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth === 0) return false;
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth - 1));
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1));
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === null || Object.getPrototypeOf(prototype) === null) &&
    !("toJSON" in value && typeof value.toJSON === "function") &&
    Object.getOwnPropertySymbols(value).length === 0
  );
};
