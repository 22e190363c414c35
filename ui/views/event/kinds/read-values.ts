import { type Json, type JsonObject, own } from "../../../../src/base/json.ts";

/** A property that is a text and not empty. */
export function textIn(properties: JsonObject, name: string): string | undefined {
  const value = own(properties, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number, also one that came as text. */
export function numberOf(value: Json | undefined): number | undefined {
  const number =
    typeof value === "string" && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i.test(value)
      ? Number(value)
      : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export const numberIn = (properties: JsonObject, name: string): number | undefined =>
  numberOf(own(properties, name));

/** Names of flags and groups are not longer; an address with a longer one is refused. */
const longestName = 400;

/** True if the sim can be asked for what has this name. */
export const isAskable = (...names: readonly string[]): boolean =>
  names.every((it) => it !== "" && it.length <= longestName);
