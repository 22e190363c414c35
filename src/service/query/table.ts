import type { Json } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";

export type EventColumn = (row: number) => Json | undefined;

/** The kept events of a project, by row in order of arrival. It does not change once a query has it. */
export interface EventTable {
  readonly length: number;
  /** ms since the epoch */
  time(row: number): number;
  seq(row: number): number;
  name(row: number): string;
  distinctId(row: number): string;
  /** Uuid of the person that has the event's distinct id now; of the one when it arrived, if there is none. */
  person(row: number): string;
  property(name: string): EventColumn;
  personProperty(name: string): EventColumn;
  /** Key of the event's group of a type. */
  group(type: number): EventColumn;
  groupProperty(type: number, name: string): EventColumn;
  /** The whole event of a row; undefined if there is no such row. */
  event(row: number): StoredEvent | undefined;
}

/** A computation in steps: after each yield other work may get a turn. A step takes at most a few milliseconds. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Rows between two yields of a loop that does little for each row. */
export const rowsPerStep = 4_096;
