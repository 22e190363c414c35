import type { Json } from "../../src/kernel/json.ts";
import { isCampaignParameter, isSdkProperty } from "../../src/kernel/sdk-properties.ts";

/** Fields that differ from run to run by their nature. Measured with posthog-js and posthog-node. */
const volatile: ReadonlySet<string> = new Set(
  [
    "uuid timestamp sent_at offset received_at person_id request seq $insert_id $time $ip $device_id $anon_distinct_id",
    "$session_id $window_id $session_entry_url $pageview_id $prev_pageview_id $prev_pageview_duration",
    "$prev_pageview_last_scroll $prev_pageview_last_scroll_percentage $prev_pageview_max_scroll",
    "$prev_pageview_max_scroll_percentage $prev_pageview_last_content $prev_pageview_last_content_percentage",
    "$prev_pageview_max_content $prev_pageview_max_content_percentage $initialization_time",
    "$lib_rate_limit_remaining_tokens $feature_flag_evaluated_at $feature_flag_definitions_loaded_at",
    "$feature_flag_request_id $lib_custom_api_host $lib_version $lib_version__major $lib_version__minor",
    "$lib_version__patch $config_defaults $configured_session_timeout_ms $viewport_height $viewport_width",
    "$screen_height $screen_width $raw_user_agent $browser_version $os_version $timezone_offset token",
  ].flatMap((line) => line.split(" ")),
);

const volatilePrefixes: readonly string[] = ["$sdk_debug_", "$geoip_", "$initial_geoip_", "$session_entry_"];

/** Is it a field that differs from run to run by its nature? */
export const isVolatile = (name: string): boolean =>
  volatile.has(name) || volatilePrefixes.some((prefix) => name.startsWith(prefix));

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** Does a text look like something made anew each time: a uuid, a moment? */
export const isMadeAnew = (value: Json): boolean =>
  typeof value === "string" && (uuid.test(value) || moment.test(value));

/** `$` properties that somebody sent on purpose; the others are the SDK's surroundings. */
const meant: ReadonlySet<string> = new Set(
  [
    "$set $set_once $unset $group_type $group_key $group_set $groups $feature_flag $feature_flag_response",
    "$screen_name $event_type $survey_id $survey_response $process_person_profile $current_url $pathname",
  ].flatMap((line) => line.split(" ")),
);

/**
 * True for a property that a test may be about: the app's own, the few of the SDK's that describe what happened, and
 * campaign parameters that have a value.
 */
export const isMeant = (name: string, value: Json): boolean =>
  !isVolatile(name) &&
  (!isSdkProperty(name) || meant.has(name) || (isCampaignParameter(name) && value !== null));
