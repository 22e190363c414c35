import { isObject, type Json, type JsonObject } from "../kernel/json.ts";

/** A body cut into its items. */
export interface Opened {
  items: readonly Json[];
  /** Is it an object with a `batch` array? Its keys `token`, `api_key` and `sent_at` are for all items. */
  envelope: JsonObject | undefined;
}

/** A path under which an object without `event` is an `$identify`. */
export const isEngage = (path: string): boolean => path.startsWith("/engage");

/** The item of `/engage`, which may leave its name out. */
const engaged = (item: JsonObject): JsonObject =>
  item.event === undefined ? { ...item, event: "$identify" } : item;

/** With its own key or without a name it is a batch; else an event that happens to have a field `batch`. */
const isBatch = (body: JsonObject): boolean =>
  typeof body.event !== "string" || typeof (body.api_key ?? body.token) === "string";

/**
 * The items of a legacy body: an array, an object with `batch`, or one event.
 * Upstream capture, v0_request.rs (RawRequest), which tries the shapes in this order.
 */
export function openLegacy(body: Json, engage: boolean): Opened {
  if (Array.isArray(body)) return { items: body, envelope: undefined };
  if (!isObject(body)) return { items: [body], envelope: undefined };
  if (Array.isArray(body.batch) && isBatch(body)) return { items: body.batch, envelope: body };
  return { items: [engage ? engaged(body) : body], envelope: undefined };
}

/** The items of a v1 body. */
export function openV1(body: Json): Opened {
  const batch = isObject(body) ? body.batch : undefined;
  return { items: Array.isArray(batch) ? batch : [], envelope: isObject(body) ? body : undefined };
}
