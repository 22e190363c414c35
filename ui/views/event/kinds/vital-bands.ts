import { isObject, type JsonObject, own } from "../../../../src/base/json.ts";
import { numberText } from "../../../parts/text.ts";
import { numberIn, textIn } from "./read-values.ts";

/** Limits of the Web Vitals programme: good up to the first, poor above the second. CLS has no unit, the others ms. */
export const vitals = [
  { name: "LCP", good: 2500, poor: 4000 },
  { name: "INP", good: 200, poor: 500 },
  { name: "CLS", good: 0.1, poor: 0.25 },
  { name: "FCP", good: 1800, poor: 3000 },
] as const;
export type Vital = (typeof vitals)[number];

export const bandOf = (value: number, { good, poor }: Vital): "good" | "middle" | "poor" =>
  value <= good ? "good" : value <= poor ? "middle" : "poor";

/** Place on three bands of equal width, in percent; a value of twice the limit and above is at the end. */
export function placeOf(value: number, { good, poor }: Vital): number {
  const place =
    value <= good ? value / good : value <= poor ? 1 + (value - good) / (poor - good) : value / poor + 1;
  return Math.max(0, Math.min(99, (place * 100) / 3));
}

export function vitalText(value: number, { name }: Vital): string {
  if (name === "CLS") return value.toFixed(2);
  return value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${numberText(Math.round(value))} ms`;
}

/** The values of an event that are numbers. */
export const vitalsIn = (properties: JsonObject): { vital: Vital; value: number }[] =>
  vitals.flatMap((vital) => {
    const value = numberIn(properties, `$web_vitals_${vital.name}_value`);
    return value === undefined ? [] : [{ vital, value }];
  });

/** Selector of the largest element, as the SDK reports it. */
export function largestIn(properties: JsonObject): string | undefined {
  const measured = own(properties, "$web_vitals_LCP_event");
  const cause = isObject(measured) ? own(measured, "attribution") : undefined;
  return isObject(cause) ? (textIn(cause, "element") ?? textIn(cause, "target")) : undefined;
}
