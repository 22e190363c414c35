import { isObject, type JsonObject, own } from "../base/json.ts";

/** Limits of the Web Vitals programme: good up to the first, poor above the second. CLS has no unit, the others ms. */
export const webVitals = [
  { name: "LCP", good: 2500, poor: 4000 },
  { name: "INP", good: 200, poor: 500 },
  { name: "CLS", good: 0.1, poor: 0.25 },
  { name: "FCP", good: 1800, poor: 3000 },
] as const;
export type WebVital = (typeof webVitals)[number];

/** The values of a `$web_vitals` event that are numbers. */
export const vitalsIn = (properties: Readonly<JsonObject>): { vital: WebVital; value: number }[] =>
  webVitals.flatMap((vital) => {
    const value = own(properties, `$web_vitals_${vital.name}_value`);
    return typeof value === "number" ? [{ vital, value }] : [];
  });

/** Characters of an element chain that are searched. */
const searched = 5_000;

/** The text of the element that was used: its own property, the first of `$elements`, or of the chain; "" if none has one. */
export function clickedText(properties: Readonly<JsonObject>): string {
  const elements = own(properties, "$elements");
  const [first] = Array.isArray(elements) ? elements : [];
  const chain = own(properties, "$elements_chain");
  const inChain =
    typeof chain === "string" ? /text="((?:[^"\\]|\\.){0,200})"/.exec(chain.slice(0, searched)) : null;
  const found = [own(properties, "$el_text"), isObject(first) ? own(first, "$el_text") : null, inChain?.[1]];
  return found.find((it) => typeof it === "string" && it !== "")?.toString() ?? "";
}
