import type { Progress } from "./totals-answer.ts";

/** What GET /__sim/problems answers. The page reads it, too. */

/** Events that were dropped for one reason, or have one warning. */
export interface EventProblem {
  /** The reason, or the warning. */
  readonly code: string;
  readonly count: number;
  readonly dropped: number;
  /** Seq of the last one. */
  readonly last: number;
}

/** Requests that were rejected for one reason in the same words; of those without a route, for one path. */
export interface RequestProblem {
  readonly reason: string;
  readonly detail: string;
  /** What to do about it, where the request itself says so. */
  readonly hint?: string;
  readonly status: number;
  /** Method and path of the last one. */
  readonly what: string;
  readonly count: number;
  /** Number of the last one. */
  readonly last: number;
}

export interface Problems extends Progress {
  /** The most frequent ones first. */
  readonly events: readonly EventProblem[];
  /** The latest ones first. */
  readonly requests: readonly RequestProblem[];
  /** Rejected requests of further reasons and paths. */
  readonly other_requests: number;
}
