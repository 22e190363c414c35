/** `warning`: something is wrong; `hint`: it may be intended. */
type Severity = "warning" | "hint";

interface LintRow {
  severity: Severity;
  /** Without the full stop. */
  sentence: string;
  fix: string;
}

/** The findings of the linter, one row for each code. docs/reference/lint.md is made from these rows. */
export const lintCodes = {
  feature_flag_mismatch: {
    severity: "warning",
    sentence: "the event carries a flag's value that was never served to this distinct_id",
    fix: "take the value from the SDK, for the same distinct_id, instead of hard-coding it",
  },
  feature_flag_called_missing: {
    severity: "hint",
    sentence:
      "a flag was requested by name and served, and later events of the distinct_id arrived without its $feature_flag_called",
    fix: "read the flag with the SDK's own call and leave its flag events on; experiments count no users without them",
  },
  two_variants_one_person: {
    severity: "hint",
    sentence: "one person was exposed to two variants of a flag; experiments leave such persons out",
    fix: "evaluate the flag with one distinct_id before and after the login, or persist it across authentication (ensure_experience_continuity)",
  },
  flag_value_without_exposure: {
    severity: "hint",
    sentence: "the app put a flag's value into an event, and the person has no $feature_flag_called of it",
    fix: "read the flag with the SDK's own call and leave its flag events on, or send $feature_flag_called; experiments count no users without them",
  },
  metric_before_exposure: {
    severity: "warning",
    sentence:
      "a person sent an event of an experiment's metric before the first exposure to its flag; the experiment does not count it",
    fix: "read the flag before what it changes can happen, on the page or in the request that shows it",
  },
  sample_ratio_mismatch: {
    severity: "warning",
    sentence:
      "the persons that were exposed to a flag's variants do not have the shares of its rollout (chi-square, p < 0.001)",
    fix: "find what loses or adds persons of one variant: exposures that are sent in one branch only, crashes, redirects, bots, several distinct_ids for one person",
  },
  duplicate_uuid: {
    severity: "warning",
    sentence: "two different events have the same uuid; the second was dropped",
    fix: "give each event its own uuid, or leave it to the SDK",
  },
  retried_event: {
    severity: "hint",
    sentence: "the same event was sent again after it was kept; it was dropped",
    fix: "nothing, if the first response was lost; otherwise find the code that sends it twice",
  },
  timestamp_not_iso: {
    severity: "warning",
    sentence: "the timestamp is not in ISO 8601",
    fix: "send e.g. 2026-01-31T12:00:00.000Z",
  },
  timestamp_skew: {
    severity: "warning",
    sentence: "the event's time is more than a day away from its arrival",
    fix: "check the sender's clock and what sets `timestamp`; for old events send `historical_migration: true` next to the batch",
  },
  historical_migration_missing: {
    severity: "warning",
    sentence: "many old events were sent as if they were new",
    fix: "send `historical_migration: true` next to the batch",
  },
  pii_property: {
    severity: "warning",
    sentence: "a property looks like personal data or a credential",
    fix: "leave it out or hash it; an e-mail address belongs in the person ($set)",
  },
  pii_in_recording: {
    severity: "warning",
    sentence: "a session recording holds what looks like personal data or a credential",
    fix: "mask it: maskAllInputs, maskTextSelector, blockSelector, maskCapturedNetworkRequestFn of session_recording",
  },
  recording_not_read: {
    severity: "warning",
    sentence: "a part of a session recording cannot be searched for personal data; nothing is known about it",
    fix: "block what may hold personal data (blockSelector; maskAllImages and screenshot: false in mobile apps): what is blocked is not recorded",
  },
  property_type_flip: {
    severity: "warning",
    sentence: "a property has different types in events of one name",
    fix: "send one type; filters and sums handle each type differently",
  },
  similar_event_names: {
    severity: "warning",
    sentence: "two event names differ in case or separators only",
    fix: "use one spelling",
  },
  group_without_identify: {
    severity: "hint",
    sentence: "an event belongs to a group without a $groupidentify",
    fix: "send $groupidentify once for each group, e.g. posthog.group(type, key, properties)",
  },
  large_body: {
    severity: "warning",
    sentence: "the request's body is close to the size limit",
    fix: "send smaller batches, or smaller properties",
  },
} as const satisfies Record<string, LintRow>;

export type LintCode = keyof typeof lintCodes;
