import type { Json } from "../../../kernel/base/json.ts";

export type PropertyType = "String" | "Numeric" | "Boolean" | "DateTime";

const dateWords = ["time", "date", "_at", "-at", "createdat", "updatedat"];
const datePrefix = /^(?:\d{4}[/-][0-2]\d[/-][0-3]\d|[0-2]\d[/-][0-3]\d[/-]\d{4})(?:[ T][0-2]\d:[0-6]\d:[0-6]\d.*)?$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;
const rfc2822 = /^(?:[a-z]{3},\s+)?\d{1,2}\s+[a-z]{3}\s+\d{4}\s+\d{2}:\d{2}(?::\d{2})?\s+(?:[+-]\d{4}|GMT|UT|[A-Z])$/i;

const isDateText = (text: string): boolean => datePrefix.test(text) || rfc3339.test(text) || rfc2822.test(text);

const sixMonths = 15_768_000;

/**
 * The type that the service detects for a property from its first value; undefined if the value shows none.
 * Upstream rust/property-defs-rs/src/types.rs.
 * @param now ms since the epoch
 */
export function detectedType(name: string, value: Json, now: number): PropertyType | undefined {
  const key = name.toLowerCase();
  const isText = ["utm_", "$initial_utm_", "$feature/", "$survey_response"].some((it) => key.startsWith(it));
  if (isText || key === "$feature_flag_response") return "String";
  const isDateName = dateWords.some((it) => key.includes(it));
  if (typeof value === "number") {
    const isUnixTime = Number.isInteger(value) && value >= Math.floor(now / 1000) - sixMonths;
    return isDateName && isUnixTime ? "DateTime" : "Numeric";
  }
  if (typeof value === "boolean") return "Boolean";
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (["true", "false", "TRUE", "FALSE"].includes(text)) return "Boolean";
  return isDateText(text) || (isDateName && isDateText(value)) ? "DateTime" : "String";
}
