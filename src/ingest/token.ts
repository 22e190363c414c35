import { SimError } from "../kernel/errors.ts";
import { isObject, type Json } from "../kernel/json.ts";

const longestToken = 64;

const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
};

/** What can be wrong with a key's spelling, in the order it is looked for. Upstream capture, token.rs. */
const faults: readonly { reason: string; found: (token: string) => boolean }[] = [
  { reason: "empty", found: (token) => token === "" },
  { reason: "too_long", found: (token) => token.length > longestToken },
  { reason: "not_ascii", found: (token) => !isAscii(token) },
  { reason: "personal_api_key", found: (token) => token.startsWith("phx_") },
  { reason: "null_byte", found: (token) => token.includes("\0") },
];

/** Why the service would refuse the key at sight; undefined when it is well formed. */
export const tokenFault = (token: string): string | undefined =>
  faults.find(({ found }) => found(token))?.reason;

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The key that an item carries itself, at its top or in its properties. */
function itemToken(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  const own = textOf(item.token) ?? textOf(item.$token) ?? textOf(item.api_key);
  if (own !== undefined) return own;
  return isObject(item.properties) ? textOf(item.properties.token) : undefined;
}

/**
 * The project key that all items agree on. Items without one go with the others.
 * @throws SimError missing_token, inconsistent_tokens
 */
export function commonToken(items: readonly Json[]): string {
  let token: string | undefined;
  for (const item of items) {
    const next = itemToken(item);
    if (next === undefined) continue;
    if (token !== undefined && token !== next) {
      throw new SimError("inconsistent_tokens", "batch submitted with inconsistent api_key values");
    }
    token = next;
  }
  if (token === undefined) {
    throw new SimError("missing_token", "event submitted without an api_key", {
      hint: "send the project key as `api_key` beside the event or the batch",
    });
  }
  return token;
}
