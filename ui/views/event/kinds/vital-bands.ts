import { isObject, type JsonObject, own } from "../../../../src/base/json.ts";
import { type WebVital, webVitals } from "../../../../src/journal/event-texts.ts";
import { numberText } from "../../../parts/text.ts";
import { numberIn, textIn } from "./read-values.ts";

export const bandOf = (value: number, { good, poor }: WebVital): "good" | "middle" | "poor" =>
  value <= good ? "good" : value <= poor ? "middle" : "poor";

/** Place on three bands of equal width, in percent; a value of twice the limit and above is at the end. */
export function placeOf(value: number, { good, poor }: WebVital): number {
  const place =
    value <= good ? value / good : value <= poor ? 1 + (value - good) / (poor - good) : value / poor + 1;
  return Math.max(0, Math.min(99, (place * 100) / 3));
}

export function vitalText(value: number, { name }: WebVital): string {
  if (name === "CLS") return value.toFixed(2);
  return value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${numberText(Math.round(value))} ms`;
}

/** The values of an event that are numbers. */
export const vitalsIn = (properties: JsonObject): { vital: WebVital; value: number }[] =>
  webVitals.flatMap((vital) => {
    const value = numberIn(properties, `$web_vitals_${vital.name}_value`);
    return value === undefined ? [] : [{ vital, value }];
  });

/** Selector of the largest element, as the SDK reports it. */
export function largestIn(properties: JsonObject): string | undefined {
  const measured = own(properties, "$web_vitals_LCP_event");
  const cause = isObject(measured) ? own(measured, "attribution") : undefined;
  return isObject(cause) ? (textIn(cause, "element") ?? textIn(cause, "target")) : undefined;
}
