import type { Json, JsonObject } from "../../../kernel/base/json.ts";

/** Below this a number is written with an exponent; JavaScript starts later. */
const smallest = 1e-5;

/** What no 64-bit integer holds is a double to upstream, and written with an exponent; JavaScript starts later. */
const isBeyondIntegers = (value: number): boolean => value >= 2 ** 64 || value < -(2 ** 63);

/** A number as upstream's JSON writer has it. What a parser has already lost (`5.0` is 5) stays lost. */
function numberText(value: number): string {
  const isTiny = value !== 0 && Math.abs(value) < smallest;
  const text = isTiny || isBeyondIntegers(value) ? value.toExponential() : String(value);
  return text.replace("e+", "e");
}

const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Upstream's maps are sorted (Rust's `serde_json`). */
const objectText = (object: JsonObject): string =>
  `{${Object.keys(object)
    .sort(byCodePoints)
    .map((key) => `${JSON.stringify(key)}:${jsonText(object[key] ?? null)}`)
    .join(",")}}`;

function jsonText(value: Json): string {
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  return typeof value === "object" && value !== null ? objectText(value) : JSON.stringify(value);
}

export const textOf = (value: Json): string => (typeof value === "string" ? value : jsonText(value));

/** Lower case for A–Z only. Most text has none: looking is four times as fast as replacing nothing. */
export function lowerAscii(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x41 && code <= 0x5a) return text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
  }
  return text;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^([+-]?)inf(?:inity)?$/i;
const notANumber = /^[+-]?nan$/i;

/**
 * A number, or text that is exactly one; undefined for everything else. "nan" is a number here: it is NaN.
 * Upstream: Rust's `f64::from_str`.
 */
export function numberOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return undefined;
  if (decimal.test(value)) return Number(value);
  const found = infinite.exec(value);
  if (found) return found[1] === "-" ? -Infinity : Infinity;
  return notANumber.test(value) ? Number.NaN : undefined;
}

/** true, "true" in any case, or a list of only such (also the empty one). */
export const isTruthy = (value: Json): boolean =>
  value === true ||
  (typeof value === "string" && value.toLowerCase() === "true") ||
  (Array.isArray(value) && value.every(isTruthy));

/** A boolean, "true" or "false" in any case, or a list of only such (also the empty one). */
export const isBooleanLike = (value: Json): boolean =>
  typeof value === "boolean" ||
  (typeof value === "string" && /^(?:true|false)$/i.test(value)) ||
  (Array.isArray(value) && value.every(isBooleanLike));

/** A reference to a cohort or a flag: its number, also as a string; undefined for anything else. */
export function referenceIn(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
