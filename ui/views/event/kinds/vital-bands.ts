import { isObject, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import type { WebVital } from "../../../../src/state/journal/event-texts.ts";
import { textIn } from "./read-values.ts";

export const bandOf = (value: number, { good, poor }: WebVital): "good" | "middle" | "poor" =>
  value <= good ? "good" : value <= poor ? "middle" : "poor";

/** Place on three bands of equal width, in percent; a value of twice the limit and above is at the end. */
export function placeOf(value: number, { good, poor }: WebVital): number {
  const place = value <= good ? value / good : value <= poor ? 1 + (value - good) / (poor - good) : value / poor + 1;
  return Math.max(0, Math.min(99, (place * 100) / 3));
}

/** Selector of the largest element, as the SDK reports it. */
export function largestIn(properties: JsonObject): string | undefined {
  const measured = own(properties, "$web_vitals_LCP_event");
  const cause = isObject(measured) ? own(measured, "attribution") : undefined;
  return isObject(cause) ? (textIn(cause, "element") ?? textIn(cause, "target")) : undefined;
}
