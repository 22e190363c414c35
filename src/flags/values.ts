import type { Json } from "../kernel/json.ts";

/** A property as text: strings as they are, everything else as JSON. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Lower case for A–Z only. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^([+-]?)inf(?:inity)?$/i;

/** A number, or text that is exactly one number; NaN for everything else. Upstream: Rust's `f64::from_str`. */
export function numberOf(value: Json): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  if (decimal.test(value)) return Number(value);
  const found = infinite.exec(value);
  return found ? (found[1] === "-" ? -Infinity : Infinity) : Number.NaN;
}

/** true, "true" in any case, or a list of only such. */
export const isTruthy = (value: Json): boolean =>
  value === true ||
  (typeof value === "string" && value.toLowerCase() === "true") ||
  (Array.isArray(value) && value.every(isTruthy));

/** A boolean, "true" or "false" in any case, or a list of only such (also the empty one). */
export const isBooleanLike = (value: Json): boolean =>
  typeof value === "boolean" ||
  (typeof value === "string" && /^(?:true|false)$/i.test(value)) ||
  (Array.isArray(value) && value.every(isBooleanLike));
