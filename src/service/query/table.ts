import type { Json } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";

/**
 * Values by row: each distinct value is kept once, a row holds its code. Code 0 is a missing value, so that
 * `values[0]` is undefined; a test of a value runs once for each code, not for each row.
 */
export interface ValueColumn {
  /** One code for each row; may be longer than the table. */
  readonly codes: Uint32Array;
  readonly values: readonly (Json | undefined)[];
}

/** The same, for values that are always strings; code 0 is "". */
export interface NameColumn {
  readonly codes: Uint32Array;
  readonly values: readonly string[];
}

/** The kept events of a project as columns, in order of arrival. It does not change once a query has it. */
export interface EventTable {
  /** Number of rows. */
  readonly length: number;
  /** Time of each event, ms since the epoch. */
  readonly times: Float64Array;
  /** Order of arrival; names an event for `event`. */
  readonly seqs: Float64Array;
  readonly names: NameColumn;
  readonly distinctIds: NameColumn;
  /** Uuid of the person that has the event's distinct id now; of one when it arrived, if there is none. */
  readonly persons: NameColumn;
  /** A property of the events. */
  property(name: string): ValueColumn;
  /** A current property of the event's person. */
  personProperty(name: string): ValueColumn;
  /** Key of the event's group of a type. */
  group(type: number): ValueColumn;
  /** A current property of the event's group. */
  groupProperty(type: number, name: string): ValueColumn;
  /** The whole event of a row; undefined if there is no such row. */
  event(row: number): StoredEvent | undefined;
}

/** A computation in steps: after each yield other work may get a turn. A step takes at most a few milliseconds. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Rows between two yields of a loop that does little for each row. */
export const rowsPerStep = 4_096;
