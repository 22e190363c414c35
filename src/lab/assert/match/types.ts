import type { Complaint, Count } from "./report-shapes.ts";

/**
 * Describes a value. A literal is equal; an object is a recursive subset; an array has the same length and fits item by
 * item; in an object whose keys start with `@`, the keys are operators, all of which must hold (`@@x` is the key `@x`).
 * In process also: a RegExp (for strings), a Date (the same time), and every object with an `asymmetricMatch` method,
 * such as `expect.any(Number)` of vitest, jest and sinon.
 */
export type Pattern = unknown;

/** Events that are expected, or not (`max: 0`). */
export interface Expectation<P = Pattern> {
  match: P;
  /** Default `{ min: 1 }`. */
  count?: Count;
}

export interface Terms {
  expect: readonly Expectation[];
  /** If true, the events of each expectation (as many as its minimum) come after those of the one before. */
  ordered?: boolean;
  /** If true, all other events are errors. Events whose names start with `$` are ignored unless an expectation names them. */
  nothingElse?: boolean;
  /** If true, a request of the test with the key of an ended test's project, or with one that no project has, is an error. */
  noEndedKeys?: boolean;
}

export interface Verdict {
  passed: boolean;
  complaints: Complaint[];
  /** For each expectation the seqs of the events that fit it, oldest first. */
  matched: number[][];
}
