/**
 * Fields of events and of what SDKs send that differ between two runs of the same program. Measured with posthog-js
 * 1.449.2 and posthog-node 5.70.0.
 */
const names: ReadonlySet<string> = new Set([
  "uuid",
  "timestamp",
  "sent_at",
  "offset",
  "$insert_id",
  "$time",
  "$initialization_time",
  "$session_id",
  "$window_id",
  "$pageview_id",
  "$prev_pageview_id",
  "$prev_pageview_duration",
  "$lib_rate_limit_remaining_tokens",
  "$device_id",
  "$anon_distinct_id",
  "$feature_flag_evaluated_at",
  "$feature_flag_definitions_loaded_at",
  // Where the SDK sends to: the sim itself, on whatever port.
  "$lib_custom_api_host",
]);

const prefixes: readonly string[] = ["$sdk_debug_"];

/** Query parameters that mean nothing: cache busters, versions, how the body is packed. */
const parameters: ReadonlySet<string> = new Set(["_", "sent_at", "ver", "ip", "compression"]);

/** Is it a field that differs from run to run by its nature? */
export const isVolatileField = (name: string): boolean =>
  names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));

/** Is it a query parameter without meaning for the answer? */
export const isVolatileParameter = (name: string): boolean => parameters.has(name);
