import { type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { numberOf } from "../../../../src/state/journal/event-texts.ts";

/** A property that is a text and not empty. */
export function textIn(properties: JsonObject, name: string): string | undefined {
  const value = own(properties, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export const numberIn = (properties: JsonObject, name: string): number | undefined => numberOf(own(properties, name));

/** Names of flags and groups are not longer; an address with a longer one is refused. */
const longestName = 400;

/** True if the sim can be asked for what has this name. */
export const isAskable = (...names: readonly string[]): boolean =>
  names.every((it) => it !== "" && it.length <= longestName);
