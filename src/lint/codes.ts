import type { Severity } from "./types.ts";

interface LintRow {
  severity: Severity;
  /** What is the case, as a sentence without the final stop. */
  sentence: string;
  /** What to do about it. */
  fix: string;
}

/** Everything that the linter can say. Each code is one row; the README's table is made of them. */
export const lintCodes = {
  feature_flag_mismatch: {
    severity: "warning",
    sentence: "the event carries a flag's value that was never served to this distinct_id",
    fix: "take the value from the SDK, for the same distinct_id, instead of writing it down",
  },
  feature_flag_called_missing: {
    severity: "hint",
    sentence:
      "a flag was asked for by name and served, and later events of the distinct_id came without its $feature_flag_called",
    fix: "read the flag with the SDK's own call and leave its flag events on; experiments count nobody without them",
  },
  duplicate_uuid: {
    severity: "warning",
    sentence: "two different events have the same uuid; the second was dropped",
    fix: "give each event its own uuid, or leave it to the SDK",
  },
  retried_event: {
    severity: "hint",
    sentence: "the same event was sent again after it had been kept; it was dropped",
    fix: "nothing, if its first answer got lost; otherwise look for what sends it twice",
  },
  timestamp_not_iso: {
    severity: "warning",
    sentence: "the timestamp is not in ISO 8601",
    fix: "send e.g. 2026-01-31T12:00:00.000Z",
  },
  timestamp_skew: {
    severity: "warning",
    sentence: "the event's time is more than a day away from its arrival",
    fix: "check the sender's clock and what sets `timestamp`; for old events send `historical_migration: true` beside the batch",
  },
  historical_migration_missing: {
    severity: "warning",
    sentence: "many old events were sent as if they were new",
    fix: "send `historical_migration: true` beside the batch",
  },
  pii_property: {
    severity: "warning",
    sentence: "a property holds what looks like personal data or a credential",
    fix: "leave it out or hash it; an e-mail address belongs to the person ($set)",
  },
  property_type_flip: {
    severity: "warning",
    sentence: "a property has different types in events of one name",
    fix: "send one type; filters and sums take the other for something else",
  },
  similar_event_names: {
    severity: "warning",
    sentence: "two event names differ in case or separators only",
    fix: "decide on one spelling",
  },
  group_without_identify: {
    severity: "hint",
    sentence: "an event belongs to a group that nobody has described",
    fix: "send $groupidentify once for each group, e.g. posthog.group(type, key, properties)",
  },
  large_body: {
    severity: "warning",
    sentence: "the request's body is near the largest that is taken",
    fix: "send smaller batches, or smaller properties",
  },
} as const satisfies Record<string, LintRow>;

export type LintCode = keyof typeof lintCodes;
