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
  /** ms since the epoch; relative dates count from here. */
  readonly now: number;
  /** What continuity flags hash; undefined when it is not known. */
  continuityKey(): string | undefined;
  /**
   * undefined when the person has no such property.
   * @throws FlagFailure when the person might have it, but the sim cannot tell.
   */
  property(name: string): Json | undefined;
  /** The group of a type index; undefined when the request names none. */
  group(type: number): SubjectGroup | undefined;
}
