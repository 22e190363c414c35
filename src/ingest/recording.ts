import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { noProperties } from "./item.ts";

/** The name of the one record that the snapshots of a request become. */
export const recordingEvent = "$snapshot_items";

/** An item's properties; none for what is no item. */
export const propertiesOf = (item: Json | undefined): JsonObject =>
  isObject(item) && isObject(item.properties) ? item.properties : noProperties;

/** `posthog-js/1.2` → `posthog-js`; other senders are browsers. */
function libraryOf(userAgent: string | undefined): string {
  if (userAgent === undefined) return "unknown";
  const name = userAgent.split("/")[0] ?? "";
  return name.includes("posthog") ? name : "web";
}

const snapshotsOf = (item: Json): Json[] => {
  const data = propertiesOf(item).$snapshot_data;
  if (Array.isArray(data)) return data;
  return isObject(data) ? [data] : [];
};

/** The record's properties: the first item's labels, everybody's snapshots. Upstream events/recordings.rs. */
export function recordingProperties(
  items: readonly Json[],
  distinctId: string,
  userAgent: string | undefined,
): JsonObject {
  const { $session_id, $window_id, $snapshot_source, $lib } = propertiesOf(items[0]);
  return {
    distinct_id: distinctId,
    $session_id: $session_id ?? null,
    $window_id: $window_id ?? $session_id ?? null,
    $snapshot_source: $snapshot_source ?? "web",
    $snapshot_items: items.flatMap(snapshotsOf),
    $lib: typeof $lib === "string" ? $lib : libraryOf(userAgent),
  };
}
