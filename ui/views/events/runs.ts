import { eventKind } from "../../../src/state/journal/event-kinds.ts";
import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import type { RowsByIndex } from "./seen.ts";

/** Neighbouring rows of one session, or of one person without a session. */
export interface Run {
  readonly key: string;
  readonly session: string | null;
  /** Of its newest row: the person is identified by then. */
  distinctId: string;
  /** Seq and arrival of its newest row, and arrival of its oldest. */
  top: number;
  last: number;
  readonly first: number;
  count: number;
  exceptions: number;
  /** Runs of one row that follow each other, down from this one. */
  readonly singles: number;
}

/** A row of the list, or the divider above a run, or above single rows. */
export type Item = { readonly row: EventRow } | { readonly run: Run };

const keyOf = ({ session, distinct_id }: EventRow): string => session ?? `person ${distinct_id}`;

/**
 * Divides a list into runs. Rows that are added at the top are taken in one by one; after other changes all are read
 * again. A divider stands above each run of two rows or more, and above single rows that follow below one.
 */
export class Runs {
  /** Oldest first. */
  #runs: Run[] = [];
  /** Runs with a divider, oldest first. */
  #divided: Run[] = [];
  #count = 0;
  #top = 0;
  #bottom = 0;
  #added = 0;

  /** Dividers; none in a list of one run. */
  #dividers = (): readonly Run[] => (this.#runs.length < 2 ? [] : this.#divided);

  #append(row: EventRow): void {
    const last = this.#runs.at(-1);
    const key = keyOf(row);
    const exceptions = eventKind(row.event) === "exception" ? 1 : 0;
    if (last?.key !== key) {
      const { session, distinct_id: distinctId, seq, at } = row;
      const singles = last?.count === 1 ? last.singles + 1 : 1;
      this.#runs.push({
        ...{ key, session, distinctId, exceptions, singles },
        ...{ top: seq, first: at, last: at, count: 1 },
      });
      return;
    }
    last.count++;
    last.exceptions += exceptions;
    last.top = row.seq;
    last.last = row.at;
    last.distinctId = row.distinct_id;
    if (last.count > 2) return;
    const below = this.#runs.at(-2);
    if (below?.count === 1) this.#divided.push(below);
    this.#divided.push(last);
  }

  /** Number of dividers at or above a row. */
  #above(seq: number): number {
    const dividers = this.#dividers();
    let [low, high] = [0, dividers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((dividers[middle]?.top ?? 0) >= seq) high = middle;
      else low = middle + 1;
    }
    return dividers.length - low;
  }

  /** Reads what changed in the list. */
  update(rows: RowsByIndex): void {
    const count = rows.count();
    const seqAt = (index: number) => rows.at(index)?.seq ?? 0;
    let fresh = 0;
    while (fresh < count && seqAt(fresh) > this.#top) fresh++;
    const isGrown = this.#count + fresh === count && seqAt(count - 1) === this.#bottom;
    const before = this.#above(this.#top);
    const { length: known } = this.#runs;
    if (!isGrown) {
      this.#runs = [];
      this.#divided = [];
    }
    for (let i = (isGrown ? fresh : count) - 1; i >= 0; i--) {
      const row = rows.at(i);
      if (row) this.#append(row);
    }
    // how far the former top row moved down
    if (isGrown && known > 0) this.#added += fresh + this.#above(this.#top) - before;
    else if (known > 0) this.#added += fresh;
    [this.#count, this.#top, this.#bottom] = [count, seqAt(0), seqAt(count - 1)];
  }

  /** Number of rows and dividers. */
  count = (): number => this.#count + this.#dividers().length;
  /** Rows and dividers ever added at the top. */
  added = (): number => this.#added;

  /** Place of a row by its index and seq. */
  placeOf = (index: number, seq: number): number => index + this.#above(seq);

  /** What stands at a place. @param indexOf Index of the row with a seq */
  at(place: number, rows: RowsByIndex, indexOf: (seq: number) => number): Item | undefined {
    const dividers = this.#dividers();
    const placeOf = (k: number) => indexOf(dividers[dividers.length - 1 - k]?.top ?? 0) + k;
    // dividers at or above the place
    let [low, high] = [0, dividers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (placeOf(middle) > place) high = middle;
      else low = middle + 1;
    }
    const run = low > 0 && placeOf(low - 1) === place ? dividers[dividers.length - low] : undefined;
    if (run) return { run };
    const row = rows.at(place - low);
    return row && { row };
  }
}
