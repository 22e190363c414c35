import type { Json } from "../../../kernel/base/json.ts";
import type { CompiledCohorts } from "./cohort-tree.ts";

export interface SubjectGroup {
  readonly key: string;
  property(name: string): Json | undefined;
}

/** The subject of an evaluation. Properties are looked up one by one: most flags need few of them. */
export interface Subject {
  readonly distinctId: string;
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
  /** undefined if the person has no such property. @throws FlagFailure when the person might have it, but the sim cannot tell. */
  property(name: string): Json | undefined;
  /** A field of the person's own, such as `created_at` (ISO 8601); undefined without a person. */
  metadata(name: string): Json | undefined;
  /** The person's uuid, by which static cohorts list them; undefined without a person. */
  personId(): string | undefined;
  /** The group of a type index; undefined if the request has none. */
  group(type: number): SubjectGroup | undefined;
}

export type FlagValue = boolean | string;

export type IdentifierKind = "distinct_id" | "device_id" | "hash_key_override" | "anonymous_id" | "group_key";

/** Computes where an identifier falls for a flag, in [0, 1]. */
export type BucketOf = (flagKey: string, identifier: string, salt: "" | "variant") => number;

export interface HashUse {
  readonly use: "rollout" | "variant" | "holdout";
  /** The hashed text, without the flag's key and the salt. */
  readonly identifier: string;
  readonly kind: IdentifierKind;
  /** In [0, 1]. */
  readonly bucket: number;
}

export interface EvaluationRecorder {
  hashed(use: HashUse): void;
  tried(index: number): void;
}

export interface EvaluationRun {
  /** Distinguishes it from others; tests hold it instead of the run, and with it the request. */
  readonly id: object;
  readonly subject: Subject;
  readonly cohorts: CompiledCohorts;
  readonly bucketOf: BucketOf;
  /** Values of the flags that others depend on, by id and by key. Failed flags have none. */
  readonly values: ReadonlyMap<number | string, FlagValue>;
  /** Memberships by cohort id. */
  members: Map<number, boolean> | undefined;
  readonly recorder: EvaluationRecorder | undefined;
}
