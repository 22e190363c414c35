import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import type { Opened } from "../../state/journal/items.ts";
import { parseTime } from "./timestamp.ts";

/** The service's error for an object that is neither a batch nor has a name. */
export const namelessText = "failed to hydrate events from request: non-engage request missing event name attribute";

/** A batch must carry its key: without it the service reads the object as an event without a name. */
export function batchToken(envelope: JsonObject): string {
  const token = envelope.api_key ?? envelope.token;
  if (typeof token === "string") return token;
  throw new SimError("missing_batch_token", namelessText, { hint: "send the project key as `api_key` beside `batch`" });
}

/** 2021-01-01: a smaller number is seconds, and ignored, as upstream. */
const firstSentAt = Date.UTC(2021, 0, 1);
const lastSentAt = Date.UTC(9999, 11, 31);

/** The sender's clock: `sent_at` beside the batch, else `sent_at` or `_` of the query (ms). */
export function sentAtOf(opened: Opened, query: URLSearchParams): number | undefined {
  const text = opened.envelope?.sent_at;
  if (typeof text === "string") {
    const time = parseTime(text);
    if (!Number.isNaN(time)) return time;
  }
  if (query.size === 0) return undefined;
  const number = Number(query.get("sent_at") ?? query.get("_") ?? Number.NaN);
  return Number.isInteger(number) && number >= firstSentAt && number <= lastSentAt ? number : undefined;
}

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

export const tokenFault = (token: string): string | undefined => faults.find(({ found }) => found(token))?.reason;

const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

function itemToken(item: Json | undefined): string | undefined {
  if (!isObject(item)) return undefined;
  const own = textOf(item.token) ?? textOf(item.$token) ?? textOf(item.api_key);
  if (own !== undefined) return own;
  return isObject(item.properties) ? textOf(item.properties.token) : undefined;
}

/** The key that all items agree on; some may lack it. @throws SimError missing_token, inconsistent_tokens */
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
