/** What GET /__sim/totals answers. The page reads it, too. */

/** How far a count is. */
export interface Progress {
  /** False while a part was not counted yet, or cannot be read any more: then there are at least as many. */
  readonly complete: boolean;
  /** True while a part was not counted yet: the next call continues. */
  readonly counting: boolean;
}

/** How many events there are of a name. */
export interface NameTotal {
  readonly event: string;
  readonly count: number;
  /** How many of them were dropped. */
  readonly dropped: number;
  /** Seq of the last one, and its arrival; null where memory let go of it. */
  readonly last: number;
  readonly last_at: string | null;
}

/** How many events have a reason for their drop, or a warning. */
export interface CodeTotal {
  readonly code: string;
  readonly count: number;
  readonly dropped: number;
  /** Seq of the last one. */
  readonly last: number;
}

export interface EventTotals extends Progress {
  readonly total: number;
  readonly kept: number;
  readonly dropped: number;
  /** Events with warnings. */
  readonly warned: number;
  /** The most frequent ones first. */
  readonly names: readonly NameTotal[];
  /** How many more names there are. */
  readonly more_names: number;
  /** False where there are more names than are counted separately. */
  readonly names_complete: boolean;
  /** The most frequent ones first. */
  readonly codes: readonly CodeTotal[];
}

export interface RequestTotals extends Progress {
  readonly total: number;
  readonly answered: number;
  readonly rejected: number;
}

export interface Totals {
  readonly events: EventTotals;
  readonly requests: RequestTotals;
  readonly persons: number;
}
