import type { Json } from "../kernel/json.ts";

/** A group of the subject. */
export interface SubjectGroup {
  readonly key: string;
  /** undefined when the group has no such property. */
  property(name: string): Json | undefined;
}

/** Whom flags are evaluated for. Properties are looked up one by one: most flags need few of them. */
export interface Subject {
  readonly distinctId: string;
  /** undefined when the request names none. */
  readonly deviceId: string | undefined;
  /** The request's `$anon_distinct_id`, if any: what the holdouts of continuity flags hash. */
  readonly anonymousId: string | undefined;
  /** ms since the epoch; relative dates count from here. */
  readonly now: number;
  /**
   * What a continuity flag hashes: the hash key stored for the person and this flag, else the request's
   * anonymous id, else the distinct id; undefined when it is not known, which fails the flag.
   */
  continuityKey(flagKey: string): string | undefined;
  /**
   * undefined when the person has no such property.
   * @throws FlagFailure when the person might have it, but the sim cannot tell.
   */
  property(name: string): Json | undefined;
  /** A field of the person's own, such as `created_at` (ISO 8601); undefined without a person. */
  metadata(name: string): Json | undefined;
  /** The person's uuid, by which static cohorts list them; undefined without a person. */
  personId(): string | undefined;
  /** The group of a type index; undefined when the request names none. */
  group(type: number): SubjectGroup | undefined;
}
