import { type Signal, signal } from "@preact/signals";
import type { History } from "../../src/state/journal/feed/feed-row.ts";
import type { FilterProblem } from "../../src/state/journal/filter/types.ts";
import { type Gap, type Limits, type RowKind, RowList } from "./row-list.ts";

export interface Trouble {
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface RowListener<Row> {
  onRows(rows: readonly Row[]): void;
  onGap(from: number, to: number): void;
  /** The loaded rows belong to an earlier epoch. */
  onReset(): void;
  onRefused(problems: readonly FilterProblem[]): void;
}

/** Source of rows, and scheduler of drawing. */
export interface RowSource<Row> extends RowKind<Row> {
  history(limit: number, before: number | null): Promise<History<Row>>;
  /** Follows rows after a cursor; returns a function that stops it. */
  subscribe(epoch: string, cursor: number, listener: RowListener<Row>): () => void;
  /** Runs `draw` with the next frame, once for several calls. */
  soon(draw: () => void): () => void;
  /** Runs after each reconnect; returns a function that stops it. */
  onBack(run: () => void): () => void;
  trouble(error: unknown): Trouble;
}

/** State of a list for drawing. */
interface RowSignals {
  /** Increases with each change of the list. */
  readonly version: Signal<number>;
  /** True once the first page was read. */
  readonly isReady: Signal<boolean>;
  /** Rows that arrived while paused. */
  readonly unread: Signal<number>;
  readonly isPaused: Signal<boolean>;
  readonly hasOlder: Signal<boolean>;
  /** True if no more rows can be loaded. */
  readonly isFull: Signal<boolean>;
  readonly isLoading: Signal<boolean>;
  /** Number of requests that the feed skipped and that were not loaded since. */
  readonly missed: Signal<number>;
  readonly problem: Signal<Trouble | undefined>;
  /** Problems of the filter; the rows are those of the previous one. */
  readonly filterProblems: Signal<readonly FilterProblem[]>;
}

/** A list of rows that grows at its newer end, and on demand at its older end. */
export interface LiveRows<Row>
  extends RowSignals,
    Pick<RowList<Row>, "count" | "at" | "indexOf" | "added" | "gaps" | "pause" | "resume"> {
  older(): void;
  /** Loads skipped requests, newest first. */
  loadMissed(): void;
  close(): void;
}

const limits: Limits = { held: 100_000, read: 300_000 };

const firstPage = 500;
const olderPage = 2_000;
/** With few matches, the search continues until a screen is full. */
const screen = 100;

const missing = (gaps: readonly Gap[]): number => gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);

/** Opens a list of a source's rows and keeps it up to date. */
export function followRows<Row>(source: RowSource<Row>, most: Limits = limits): LiveRows<Row> {
  const list = new RowList<Row>(source, most);
  const signals: RowSignals = {
    version: signal(0),
    isReady: signal(false),
    unread: signal(0),
    isPaused: signal(false),
    hasOlder: signal(false),
    isFull: signal(false),
    isLoading: signal(true),
    missed: signal(0),
    problem: signal<Trouble | undefined>(undefined),
    filterProblems: signal<readonly FilterProblem[]>([]),
  };
  const changed = source.soon(publish);
  /** Increases with each restart, which makes earlier calls obsolete. */
  let turn = 0;
  let leave = () => {};

  /** Copies the state of the list to the signals. */
  function publish(): void {
    signals.unread.value = list.unread();
    signals.hasOlder.value = list.more();
    signals.isFull.value = list.isFull();
    signals.missed.value = missing(list.gaps());
    signals.version.value++;
  }

  /** Reads a page of history; ignores the response after a restart. */
  async function ask(limit: number, before: number | null, use: (page: History<Row>) => void): Promise<void> {
    const mine = turn;
    signals.isLoading.value = true;
    try {
      const page = await source.history(limit, before);
      if (mine !== turn) return;
      signals.problem.value = undefined;
      signals.isLoading.value = false;
      use(page);
      changed();
    } catch (error) {
      if (mine !== turn) return;
      signals.problem.value = source.trouble(error);
      signals.isLoading.value = false;
    }
  }

  const listener: RowListener<Row> = {
    onRows(rows) {
      list.append(rows);
      changed();
    },
    onGap(from, to) {
      list.miss(from, to);
      changed();
    },
    onReset: begin,
    onRefused(problems) {
      signals.filterProblems.value = problems;
    },
  };

  function begin(): void {
    leave();
    leave = () => {};
    turn++;
    void ask(firstPage, null, (page) => {
      list.replace(page);
      leave = source.subscribe(page.epoch, page.cursor, listener);
      if (!signals.isReady.value) publish();
      signals.isReady.value = true;
      fillScreen();
    });
  }

  function older(): void {
    const before = list.before();
    if (signals.isLoading.value || !list.more() || before === null || list.isFull()) return;
    void ask(olderPage, before, (page) => {
      list.extend(page, before);
      fillScreen();
    });
  }

  function fillScreen(): void {
    if (list.count() < screen) older();
  }

  function loadMissed(): void {
    const gap = list.gaps().at(-1);
    if (!gap || signals.isLoading.value || list.isFull()) return;
    void ask(olderPage, gap.before, (page) => {
      list.fill(gap, page);
      loadMissed();
    });
  }

  function setPaused(isPaused: boolean): void {
    if (isPaused) list.pause();
    else list.resume();
    signals.isPaused.value = isPaused;
    changed();
  }

  const endBack = source.onBack(() => {
    if (signals.problem.value !== undefined) begin();
  });
  begin();
  const { count, at, indexOf, added, gaps } = list;
  return {
    ...signals,
    ...{ count, at, indexOf, added, gaps, older, loadMissed },
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    close() {
      turn++;
      endBack();
      leave();
    },
  };
}
