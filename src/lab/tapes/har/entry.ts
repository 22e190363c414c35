import type { JsonObject } from "../../../kernel/base/json.ts";
import { version } from "../../../kernel/base/version.ts";

/**
 * What all HTTP Archives 1.2 that we write have in common (software-is-hard.com/blog/har-12-spec); cookies are in the
 * headers only.
 */

export const creator = { name: "phx-sim", version };

/** "Not known" or "does not apply", in the format. */
export const notKnown = -1;

export const nameValue = ([name, value]: readonly [string, string]): JsonObject => ({ name, value });

export function queryOf(url: string): JsonObject[] {
  const mark = url.indexOf("?");
  return mark === -1 ? [] : Array.from(new URLSearchParams(url.slice(mark + 1)), nameValue);
}
