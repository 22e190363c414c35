import { SimError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Opened } from "./open.ts";
import { parseTime } from "./timestamp.ts";

/** What the service says to an object that is neither a batch nor has a name. */
export const namelessText =
  "failed to hydrate events from request: non-engage request missing event name attribute";

/** A batch must carry its key: without it the service reads the object as an event without a name. */
export function batchToken(envelope: JsonObject): string {
  const token = envelope.api_key ?? envelope.token;
  if (typeof token === "string") return token;
  throw new SimError("missing_batch_token", namelessText, {
    hint: "send the project key as `api_key` beside `batch`",
  });
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
