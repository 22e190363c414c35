import type { JsonObject } from "../../kernel/base/json.ts";

/** Campaign parameters of the page's address. posthog-js sends each of them with every event, most of them null. */
export const campaignParameters: readonly string[] = [
  "utm_source utm_medium utm_campaign utm_content utm_term utm_name gclid gad_source gclsrc dclid gbraid wbraid",
  "fbclid msclkid twclid li_fat_id mc_cid igshid ttclid rdt_cid epik qclid sccid irclid _kx",
].flatMap((line) => line.split(" "));

/** The service does not copy these to the person. */
const notCopied = ["bfcid", "oppref"];

const campaign: ReadonlySet<string> = new Set([...campaignParameters, ...notCopied]);

const envelope: ReadonlySet<string> = new Set(["token", "distinct_id"]);

export const isCampaignParameter = (name: string): boolean => campaign.has(name);

/** True for a property that an SDK adds by itself: names with `$`, campaign parameters, `token` and `distinct_id`. */
export const isSdkProperty = (name: string): boolean =>
  name.startsWith("$") || campaign.has(name) || envelope.has(name);

/**
 * True if the SDK left most properties out of a `$feature_flag_called`: no experiment uses the flag, and the project has
 * `minimal_flag_called_events`. A whole one has `$feature/…` for each flag of the person.
 */
export const isMinimalFlagCall = (event: string, properties: JsonObject): boolean =>
  event === "$feature_flag_called" &&
  properties.$feature_flag_has_experiment === false &&
  !Object.keys(properties).some((name) => name.startsWith("$feature/"));

/** True for an event that an SDK sends by itself, such as `$pageview` or `$identify`. */
export const isSdkEvent = (name: string): boolean => name.startsWith("$");

/** Fields that differ between two runs of the same program. Measured with posthog-js 1.449.2 and posthog-node 5.70.0. */
const volatileNames: ReadonlySet<string> = new Set([
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

const volatilePrefixes: readonly string[] = ["$sdk_debug_"];

export const isVolatileProperty = (name: string): boolean =>
  volatileNames.has(name) || volatilePrefixes.some((prefix) => name.startsWith(prefix));
