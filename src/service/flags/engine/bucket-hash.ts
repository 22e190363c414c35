import { hash } from "node:crypto";
import { FlagFailure } from "./reasons.ts";
import type { BucketOf, IdentifierKind, Subject } from "./run.ts";

/** 0xFFFFFFFFFFFFFFF as a double. */
const scale = 2 ** 60;

/**
 * The first 15 hex digits of a text's SHA-1 as a fraction in [0, 1]. The 60 bits are put together from
 * two words so that they round once, exactly as upstream's integer-to-double conversion does.
 */
function fraction(text: string): number {
  const digest = hash("sha1", text, "binary");
  const high =
    digest.charCodeAt(0) * 0x1000000 +
    ((digest.charCodeAt(1) << 16) | (digest.charCodeAt(2) << 8) | digest.charCodeAt(3));
  const low =
    digest.charCodeAt(4) * 0x1000000 +
    ((digest.charCodeAt(5) << 16) | (digest.charCodeAt(6) << 8) | digest.charCodeAt(7));
  return (high * 2 ** 28 + (low >>> 4)) / scale;
}

/**
 * Where an identifier falls for a flag, in [0, 1]. An empty identifier is 0: it passes every rollout and
 * gets the first variant. Upstream PostHog rust/feature-flags, flag_matching_utils.
 */
export const bucketOf: BucketOf = (flagKey, identifier, salt) =>
  identifier === "" ? 0 : fraction(bucketInput(flagKey, identifier, salt));

/** How many buckets are remembered: those of a thousand users and two hundred flags, in some 7 MB. */
const mostBuckets = 400_000;
/** An identifier alone takes as much memory as this many buckets. */
const rowWeight = 30;

/**
 * Makes a `bucketOf` that remembers: the same users ask again, and a hash costs as much as the rest of a decision. A
 * bucket never changes, so what is remembered is always right; when there is too much of it, it begins anew.
 */
export function createBucketMemory(): BucketOf {
  /** Where a flag's buckets are in a row: the rollout's, and behind it the variant's. */
  const places = new Map<string, number>();
  const rows = new Map<string, number[]>();
  let weight = 0;
  /** The flags of a request mostly hash one identifier. */
  let last: { readonly identifier: string; readonly row: number[] } | undefined;

  function rowOf(identifier: string): number[] {
    let row = rows.get(identifier);
    if (!row) {
      row = [];
      rows.set(identifier, row);
      weight += rowWeight;
    }
    last = { identifier, row };
    return row;
  }

  function placeOf(flagKey: string): number {
    const known = places.get(flagKey);
    if (known !== undefined) return known;
    const place = places.size * 2;
    places.set(flagKey, place);
    return place;
  }

  return (flagKey, identifier, salt) => {
    const row = last?.identifier === identifier ? last.row : rowOf(identifier);
    const place = placeOf(flagKey) + (salt === "" ? 0 : 1);
    const known = row[place];
    if (known !== undefined) return known;
    const bucket = bucketOf(flagKey, identifier, salt);
    row[place] = bucket;
    if (++weight > mostBuckets) {
      places.clear();
      rows.clear();
      last = undefined;
      weight = 0;
    }
    return bucket;
  };
}

/**
 * Where an identifier falls for holdouts, in [0, 1]: independent of the flag, so that all flags of a
 * holdout agree. An empty identifier is hashed like any other. Upstream as above.
 */
export const holdoutBucketOf = (identifier: string): number => fraction(holdoutInput(identifier));

/** Where an identifier falls for the holdout of a rule, in [0, 1]. Upstream as above. */
export const seededHoldoutBucketOf = (seed: string, identifier: string): number =>
  fraction(seededHoldoutInput(seed, identifier));

/** True if a bucket is inside a rollout in percent. 0 % admits exactly the bucket 0. */
export const isWithin = (bucket: number, percentage: number): boolean => bucket <= percentage / 100;

/** The text whose SHA-1 is a flag's bucket, for people to check. */
export const bucketInput = (flagKey: string, identifier: string, salt: "" | "variant"): string =>
  `${flagKey}.${identifier}${salt}`;

export const holdoutInput = (identifier: string): string => `holdout-${identifier}`;

/** The text whose SHA-1 is the bucket of a rule's holdout. Its rollout and its variant are a flag's, with its seed as key. */
export const seededHoldoutInput = (seed: string, identifier: string): string => `${seed}${identifier}`;

interface Bucketing {
  readonly byDevice: boolean;
  readonly isContinuous: boolean;
}

/** The kind of identifier that a flag hashes for a subject. Holdouts do not see stored hash keys. Upstream as `identifierOf`. */
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
 * The text that is hashed; "" if the subject has none. Upstream PostHog rust/feature-flags,
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
