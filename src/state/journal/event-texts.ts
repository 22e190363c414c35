import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";

/** Limits of the Web Vitals programme: good up to the first, poor above the second. CLS has no unit, the others ms. */
export const webVitals = [
  { name: "LCP", good: 2500, poor: 4000 },
  { name: "INP", good: 200, poor: 500 },
  { name: "CLS", good: 0.1, poor: 0.25 },
  { name: "FCP", good: 1800, poor: 3000 },
] as const;
export type WebVital = (typeof webVitals)[number];

export function numberOf(value: Json | undefined): number | undefined {
  const number =
    typeof value === "string" && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i.test(value)
      ? Number(value)
      : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export const vitalsIn = (properties: Readonly<JsonObject>): { vital: WebVital; value: number }[] =>
  webVitals.flatMap((vital) => {
    const value = numberOf(own(properties, `$web_vitals_${vital.name}_value`));
    return value === undefined ? [] : [{ vital, value }];
  });

/** 2.84 s, 148 ms; CLS has no unit: 0.27. */
export function vitalText(value: number, { name }: WebVital): string {
  if (name === "CLS") return value.toFixed(2);
  return value >= 1_000 ? `${(value / 1_000).toFixed(2)} s` : `${Math.round(value)} ms`;
}

const searched = 5_000;

/** The text of the element that was used: its own property, the first of `$elements`, or of the chain; "" if none has one. */
export function clickedText(properties: Readonly<JsonObject>): string {
  const elements = own(properties, "$elements");
  const [first] = Array.isArray(elements) ? elements : [];
  const chain = own(properties, "$elements_chain");
  const inChain = typeof chain === "string" ? /text="((?:[^"\\]|\\.){0,200})"/.exec(chain.slice(0, searched)) : null;
  const found = [own(properties, "$el_text"), isObject(first) ? own(first, "$el_text") : null, inChain?.[1]];
  return found.find((it) => typeof it === "string" && it !== "")?.toString() ?? "";
}
