/** The reasons for drops and warnings. Each code has a sentence and a fix; codes of the service have its names. */
export interface ReasonText {
  /** A sentence without the final stop. */
  sentence: string;
  fix: string;
}

export const dropReasons = {
  missing_event_name: { sentence: "the event has no name", fix: "send a string `event`" },
  empty_event_name: { sentence: "the event's name is empty", fix: "send a non-empty `event`" },
  missing_distinct_id: {
    sentence: "the event has no distinct_id, or an empty one",
    fix: "send `distinct_id` at the top level or in `properties`",
  },
  invalid_item: { sentence: "the batch item is not an object", fix: "send an array of event objects" },
  unknown_project_key: {
    sentence: "the project key is well formed but no project has it",
    fix: "use a key from `phx-sim env`, or start with --adopt-tokens",
  },
  duplicate_event_uuid: {
    sentence: "the project already has an event with this uuid",
    fix: "give each event its own uuid, unless this was a retry",
  },
  over_quota: {
    sentence: "a fault says that the project has used up its quota",
    fix: "`phx-sim faults clear`, unless you test it",
  },
  scripted_result: { sentence: "a fault gave this result", fix: "`phx-sim faults clear`, unless you test it" },
  dropped_performance_event: {
    sentence: "$performance_event is filtered out by the service",
    fix: "use session replay's network timings instead",
  },
  invalid_event_when_process_person_profile_is_false: {
    sentence: "person events cannot be sent with $process_person_profile: false",
    fix: "leave the property out of events that identify or merge",
  },
  invalid_alias: { sentence: "`alias` is not a string", fix: "send a string in `properties.alias`" },
  invalid_anon_distinct_id: {
    sentence: "`$anon_distinct_id` is not a string",
    fix: "send a string in `properties.$anon_distinct_id`",
  },
  group_key_too_long: { sentence: "`$group_key` is longer than 400 characters", fix: "use a shorter group key" },
  event_name_too_long: { sentence: "the event's name is longer than 200 characters", fix: "shorten it" },
  distinct_id_too_large: { sentence: "the distinct_id is longer than 200 characters", fix: "shorten it" },
  invalid_event_timestamp: { sentence: "the timestamp cannot be read", fix: "send RFC 3339" },
  malformed_event_properties: { sentence: "`properties` is not an object", fix: "send an object" },
  misrouted_event: {
    sentence: "only `$ai_…` events are taken on this path",
    fix: "send other events to /i/v1/analytics/events",
  },
  not_an_ai_span: {
    sentence: "the OTLP span has no attribute of an AI library",
    fix: "set `gen_ai.…` attributes, or export AI spans only (PostHogSpanProcessor)",
  },
  cookieless_team_disabled: {
    sentence: "$cookieless_mode is off in the project",
    fix: "set the project's `cookieless_server_hash_mode` to 1 or 2",
  },
  cookieless_disallowed_event: {
    sentence: "$create_alias and $merge_dangerously cannot be sent with $cookieless_mode",
    fix: "identify after consent, without `$cookieless_mode`",
  },
  cookieless_stateless_disallowed_identify: {
    sentence: "$identify cannot be sent in the project's $cookieless_mode",
    fix: "set `cookieless_server_hash_mode` to 2, or identify after consent",
  },
  cookieless_missing_ua: { sentence: "$cookieless_mode needs `$raw_user_agent`", fix: "send it" },
  cookieless_missing_ip: { sentence: "$cookieless_mode needs `$ip`", fix: "leave `$ip` out" },
  cookieless_missing_host: { sentence: "$cookieless_mode needs `$host`", fix: "send it" },
  invalid_options: { sentence: "`options` cannot be read", fix: "send booleans in `options`" },
} as const satisfies Record<string, ReasonText>;

export type DropReason = keyof typeof dropReasons;

export const warnings = {
  cannot_merge_with_illegal_distinct_id: {
    sentence: "the service refuses to merge placeholders such as this id",
    fix: "pass the user's real id, not 'anonymous', 'null', 'undefined' …",
  },
  cannot_merge_already_identified: {
    sentence: "the person to be merged away is already identified",
    fix: "call reset() on logout, or use $merge_dangerously",
  },
  invalid_process_person_profile: {
    sentence: "$process_person_profile is no boolean: read as true",
    fix: "send a boolean",
  },
  ignored_invalid_timestamp: {
    sentence: "the timestamp cannot be read; the time of arrival was used",
    fix: "send ISO 8601",
  },
  timestamp_in_the_future: {
    sentence: "the timestamp is more than 23 hours ahead; the time of arrival was used",
    fix: "check the sender's clock, or send `sent_at`",
  },
  event_name_truncated: { sentence: "the event's name was cut to 200 characters", fix: "shorten it" },
  distinct_id_truncated: { sentence: "the distinct_id was cut to 200 characters", fix: "shorten it" },
  group_type_limit_reached: { sentence: "the project already has five group types", fix: "reuse a group type" },
  malformed_groups: { sentence: "`$groups` is no object: it is ignored", fix: "send an object" },
  missing_group_identity: {
    sentence: "$groupidentify without $group_type or $group_key changes no group",
    fix: "send both",
  },
  person_processing_disabled: {
    sentence: "the distinct_id is a placeholder; no person was made",
    fix: "pass the user's real id",
  },
} as const satisfies Record<string, ReasonText>;

export type Warning = keyof typeof warnings;

export const explain = (code: DropReason | Warning): ReasonText =>
  code in dropReasons ? dropReasons[code as DropReason] : warnings[code as Warning];
