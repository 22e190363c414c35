import type { JsonObject } from "../kernel/json.ts";

/** Parameters of a control call; undefined ones are left out. */
export type Query = Record<string, string | number | JsonObject | undefined>;

/** `?a=1&b=2`, or "" for none; objects are written as JSON. */
export function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined)
      search.set(key, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}
