import type { IdentifierKind } from "./bucket.ts";
import type { CohortBook } from "./cohorts.ts";
import type { Subject } from "./subject.ts";

/** What a flag came to, as other flags see it. */
export type FlagValue = boolean | string;

/** Told of every hash that an evaluation compares. */
export interface HashUse {
  readonly use: "rollout" | "variant" | "holdout";
  /** What was hashed for whom, without the flag's key and the salt. */
  readonly identifier: string;
  readonly kind: IdentifierKind;
  /** In [0, 1]. */
  readonly bucket: number;
}

/** Listens to an evaluation. Without one nothing is kept. */
export interface Recorder {
  hashed(use: HashUse): void;
  /** A condition set was tried. */
  tried(index: number): void;
}

/** The evaluation of flags for one subject: what is known so far. */
export interface Run {
  readonly subject: Subject;
  readonly cohorts: CohortBook;
  /** Values of the flags that others depend on, by id and by key. Failed flags have none. */
  readonly values: ReadonlyMap<number | string, FlagValue>;
  /** Memberships by cohort id. */
  members: Map<number, boolean> | undefined;
  readonly recorder: Recorder | undefined;
}
