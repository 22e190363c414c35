import { type Signal, signal } from "@preact/signals";
import type { History } from "../../src/feed/frames.ts";
import type { FilterProblem } from "../../src/filter/types.ts";
import { type Gap, type Limits, type RowKind, type RowList, rowList } from "./row-list.ts";

/** What went wrong, in the sim's words. */
export interface Trouble {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What is told of rows that come. */
export interface Told<Row> {
  onRows(rows: readonly Row[]): void;
  onGap(from: number, to: number): void;
  /** What is held is of another past. */
  onReset(): void;
  onRefused(problems: readonly FilterProblem[]): void;
}

/** Where rows come from, and when they are drawn. */
export interface RowSource<Row> extends RowKind<Row> {
  history(limit: number, before: number | null): Promise<History<Row>>;
  /** What comes after that cursor; returns the function that ends it. */
  subscribe(epoch: string, cursor: number, told: Told<Row>): () => void;
  /** Runs it with the next frame; asked again before, it runs once. */
  soon(draw: () => void): () => void;
  /** Runs it each time that the connection is there again; returns the function that ends it. */
  onBack(run: () => void): () => void;
  trouble(error: unknown): Trouble;
}

/** A list of rows that grows at its newer end, and at its older end when asked. */
export interface LiveRows<Row> {
  /** Goes up with each change of the list; read it to be drawn again. */
  readonly version: Signal<number>;
  /** Were any rows, or none, read yet? */
  readonly isReady: Signal<boolean>;
  /** How many rows there are to show. While paused, what came since is not among them. */
  count(): number;
  /** The newest is 0. */
  at(index: number): Row | undefined;
  /** Where the row with this number (seq or n) is; -1: it is not among those that are held. */
  indexOf(number: number): number;
  /** How many came since the pause. */
  readonly unread: Signal<number>;
  readonly isPaused: Signal<boolean>;
  pause(): void;
  resume(): void;
  /** How many rows were ever added at the newer end: lists keep their place by it. */
  added(): number;
  /** Is there more at the older end? */
  readonly hasOlder: Signal<boolean>;
  /** There may be more, but no more is held at once. */
  readonly isFull: Signal<boolean>;
  readonly isLoading: Signal<boolean>;
  /** Reads more at the older end. */
  older(): void;
  /** Requests that the connection did not bring, and that were not read since. */
  readonly missed: Signal<number>;
  /** Where they are. */
  gaps(): readonly Gap[];
  /** Reads them. */
  loadMissed(): void;
  readonly problem: Signal<Trouble | undefined>;
  /** What is wrong with the filter; the rows are those of the one before. */
  readonly filterProblems: Signal<readonly FilterProblem[]>;
  /** Reads all of it again. */
  reload(): void;
  close(): void;
}

const limits: Limits = { held: 100_000, read: 300_000 };

const firstPage = 500;
const olderPage = 2_000;
/** Where a filter finds few, more is searched until a screen is full. */
const screen = 100;

type Signals = Pick<
  LiveRows<unknown>,
  | "version"
  | "isReady"
  | "unread"
  | "isPaused"
  | "hasOlder"
  | "isFull"
  | "isLoading"
  | "missed"
  | "problem"
  | "filterProblems"
>;

const freshSignals = (): Signals => ({
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
});

const missing = (gaps: readonly Gap[]): number => gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);

/** Tells the page what has become of the list. */
function publish<Row>(list: RowList<Row>, to: Signals): void {
  to.unread.value = list.unread();
  to.isPaused.value = list.isPaused();
  to.hasOlder.value = list.more();
  to.isFull.value = list.isFull();
  to.missed.value = missing(list.gaps());
  to.version.value++;
}

/** What a list does while it lives: it begins, is told of rows, and reads more. */
function follower<Row>(source: RowSource<Row>, list: RowList<Row>, signals: Signals) {
  const changed = source.soon(() => publish(list, signals));
  /** Goes up with each beginning: what was asked for before is of no use then. */
  let turn = 0;
  let leave = () => {};

  function failed(error: unknown): void {
    signals.problem.value = source.trouble(error);
    signals.isLoading.value = false;
  }

  /** Asks the history, and hands the answer on if nothing has begun anew meanwhile. */
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
      if (mine === turn) failed(error);
    }
  }

  const told: Told<Row> = {
    onRows(rows) {
      list.append(rows);
      changed();
    },
    onGap(from, to) {
      list.miss(from, to);
      changed();
    },
    onReset: () => begin(),
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
      leave = source.subscribe(page.epoch, page.cursor, told);
      if (!signals.isReady.value) publish(list, signals);
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

  const fillScreen = () => {
    if (list.count() < screen) older();
  };

  /** One gap after the other, the newest first. */
  function loadMissed(): void {
    const gap = list.gaps().at(-1);
    if (!gap || signals.isLoading.value || list.isFull()) return;
    void ask(olderPage, gap.before, (page) => {
      list.fill(gap, page);
      loadMissed();
    });
  }

  const endBack = source.onBack(() => {
    if (signals.problem.value !== undefined) begin();
  });

  function close(): void {
    turn++;
    endBack();
    leave();
  }
  return { begin, older, loadMissed, close, changed };
}

/** Opens a list of what the source has, and keeps it up to date. */
export function followRows<Row>(source: RowSource<Row>, most: Limits = limits): LiveRows<Row> {
  const list = rowList<Row>(source, most);
  const signals = freshSignals();
  const { begin, older, loadMissed, close, changed } = follower(source, list, signals);
  begin();
  return {
    ...signals,
    count: list.count,
    at: list.at,
    indexOf: list.indexOf,
    added: list.added,
    gaps: list.gaps,
    older,
    loadMissed,
    pause() {
      list.pause();
      signals.isPaused.value = true;
      changed();
    },
    resume() {
      list.resume();
      signals.isPaused.value = false;
      changed();
    },
    reload: begin,
    close,
  };
}
