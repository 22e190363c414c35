import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import { readMoment } from "../../kernel/time-text.ts";

/** The fields that lists of events come in. */
const lists = ["batch", "data"];

/** A capture body with its events changed, as SDKs send them: a list, a batch, or one alone. */
export function withEvents(body: Json, change: (event: JsonObject) => JsonObject): Json {
  const each = (it: Json): Json => (isObject(it) ? change(it) : it);
  if (Array.isArray(body)) return body.map(each);
  if (!isObject(body)) return body;
  const list = lists.find((name) => typeof own(body, name) === "object" && own(body, name) !== null);
  if (list === undefined) return change(body);
  return Object.fromEntries(
    Object.entries(body).map(([key, it]) => {
      if (key !== list) return [key, it];
      return [key, Array.isArray(it) ? it.map(each) : each(it)];
    }),
  );
}

/** When an event happened, ms since the epoch. `at`: when it arrived. */
export function timeOf(event: JsonObject, at: number): number {
  const offset = own(event, "offset");
  if (typeof offset === "number") return at - offset;
  const timestamp = own(event, "timestamp");
  return (typeof timestamp === "string" ? readMoment(timestamp) : undefined) ?? at;
}

export interface Times {
  /** When the request arrived, and when it is sent again, ms since the epoch. */
  at: number;
  now: number;
  /** Added to the times of events. */
  shiftMs: number;
}

/** JSON's way to write it; years that no calendar has stay out. */
const isoOf = (time: number): string | undefined =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : undefined;

/**
 * The event at its own time, though it is sent later: an `offset` counts from the sending, and an event without a
 * time would get the time of sending. A timestamp that cannot be read stays as it is.
 */
export function timed(event: JsonObject, { at, now, shiftMs }: Times): JsonObject {
  if (typeof own(event, "offset") === "number") {
    return { ...event, offset: Math.round(now - (timeOf(event, at) + shiftMs)) };
  }
  const timestamp = own(event, "timestamp");
  const isMissing = timestamp === undefined || timestamp === null;
  const canMove = typeof timestamp === "string" && shiftMs !== 0 && readMoment(timestamp) !== undefined;
  const moved = isMissing || canMove ? isoOf(timeOf(event, at) + shiftMs) : undefined;
  return moved === undefined ? event : { ...event, timestamp: moved };
}

/** What the service tells copies of an event by. */
export function renamed(event: JsonObject, newUuid: (uuid: string) => string): JsonObject {
  const uuid = own(event, "uuid");
  const properties = own(event, "properties");
  const insert = isObject(properties) ? own(properties, "$insert_id") : undefined;
  return {
    ...event,
    ...(typeof uuid === "string" && { uuid: newUuid(uuid) }),
    ...(isObject(properties) &&
      typeof insert === "string" && { properties: { ...properties, $insert_id: newUuid(insert) } }),
  };
}
