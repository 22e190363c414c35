import { isObject, type Json } from "../../kernel/json.ts";
import { type Placeholder, replacePlaceholders } from "../redact/placeholders.ts";

/** The sim's keys by the tape's placeholders (or keys, where it has them in plain). */
export type Keys = ReadonlyMap<string, string>;

/** A secret that nobody asks for gets a readable stand-in. */
const keyFor =
  (keys: Keys) =>
  ({ text, kind, number }: Placeholder): string =>
    keys.get(text) ?? `redacted-${kind.replaceAll("_", "-")}-${number}`;

/** A text, or a path and query, with keys in the place of placeholders. */
export const withKeys = (text: string, keys: Keys): string => replacePlaceholders(text, keyFor(keys));

/** A body with keys in the place of placeholders. */
export function jsonWithKeys(value: Json, keys: Keys): Json {
  if (typeof value === "string") return withKeys(value, keys);
  if (Array.isArray(value)) return value.map((it) => jsonWithKeys(it, keys));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, jsonWithKeys(it, keys)]));
}

/** An `Authorization` header with the sim's key; a whole value that was taken away had its scheme before. */
export function credentialWithKeys(value: string, keys: Keys): string {
  const secret = value.replace(/^bearer\s+/i, "").trim();
  const key = keys.get(secret);
  if (key !== undefined) return `Bearer ${key}`;
  const restored = withKeys(value, keys);
  return /^\S+$/.test(restored) ? `Bearer ${restored}` : restored;
}
