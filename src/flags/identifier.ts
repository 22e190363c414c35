import type { IdentifierKind } from "./bucket.ts";
import type { CompiledFlag } from "./compile.ts";
import { FlagFailure } from "./reasons.ts";
import type { Subject } from "./subject.ts";

type Bucketing = Pick<CompiledFlag, "byDevice" | "isContinuous">;

/** What a flag hashes for a subject. Holdouts do not see stored hash keys. Upstream as `identifierOf`. */
export function identifierKindOf(
  { byDevice, isContinuous }: Bucketing,
  aggregation: number | null,
  subject: Subject,
  isHoldout: boolean,
): IdentifierKind {
  if (aggregation !== null) return "group_key";
  if (byDevice && subject.deviceId) return "device_id";
  if (!isContinuous) return "distinct_id";
  if (!isHoldout) return "hash_key_override";
  return subject.anonymousId === undefined ? "distinct_id" : "anonymous_id";
}

function continuityKey(flagKey: string, subject: Subject): string {
  const key = subject.continuityKey(flagKey);
  if (key === undefined) throw new FlagFailure("hash_key_override_error");
  return key;
}

/**
 * The text that is hashed; "" where the subject has none. Upstream PostHog rust/feature-flags,
 * flag_matching (hashed_identifier).
 * @throws FlagFailure hash_key_override_error
 */
export function identifierOf(
  kind: IdentifierKind,
  flagKey: string,
  aggregation: number | null,
  subject: Subject,
): string {
  switch (kind) {
    case "group_key":
      return (aggregation === null ? undefined : subject.group(aggregation)?.key) ?? "";
    case "device_id":
      return subject.deviceId ?? "";
    case "hash_key_override":
      return continuityKey(flagKey, subject);
    case "anonymous_id":
      return subject.anonymousId ?? "";
    case "distinct_id":
      return subject.distinctId;
  }
}
