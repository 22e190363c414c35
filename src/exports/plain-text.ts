import type { Json } from "../kernel/json.ts";

/** A property as a query sees it: text as it is, anything else as JSON; undefined for null and what is absent. */
export function plainText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
