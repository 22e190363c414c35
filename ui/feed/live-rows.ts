import { type Signal, signal } from "@preact/signals";
import type { History } from "../../src/feed/frames.ts";
import type { FilterProblem } from "../../src/filter/types.ts";
import type { EventRow, RequestRow } from "../../src/model/row.ts";
import { call, query, SimProblem } from "../api/call.ts";
import { subscribe } from "./socket.ts";

/** Which rows: of one kind, in one project or all, that pass a filter. */
export interface RowsWanted {
  readonly kind: "events" | "requests";
  readonly filter: string;
  readonly project: number | undefined;
}

/** A list of rows that grows at its newer end, and at its older end when asked. */
export interface LiveRows<Row> {
  /** Goes up with each change of the list; read it to be drawn again. */
  readonly version: Signal<number>;
  /** How many rows there are to show. While paused, what came since is not among them. */
  count(): number;
  /** The newest is 0. */
  at(index: number): Row | undefined;
  /** How many came since the pause. */
  readonly unread: Signal<number>;
  readonly isPaused: Signal<boolean>;
  pause(): void;
  resume(): void;
  /** How many rows were ever added at the newer end: lists keep their place by it. */
  added(): number;
  /** Is there more at the older end? */
  readonly hasOlder: Signal<boolean>;
  readonly isLoading: Signal<boolean>;
  /** Reads more at the older end. */
  older(): void;
  /** Requests that the connection did not bring, and that were not read since. */
  readonly missed: Signal<number>;
  readonly problem: Signal<SimProblem | undefined>;
  /** What is wrong with the filter; the rows are those of the one before. */
  readonly filterProblems: Signal<readonly FilterProblem[]>;
  close(): void;
}

/** Rows that a page holds; the oldest go. */
const most = 100_000;
const firstPage = 500;
const olderPage = 2_000;

const numberOf = { events: (row: EventRow) => row.seq, requests: (row: RequestRow) => row.n } as const;

/** Opens a list and keeps it up to date. */
export function openLiveRows<Row extends EventRow | RequestRow>(wanted: RowsWanted): LiveRows<Row> {
  const { kind, filter, project } = wanted;
  const version = signal(0);
  const unread = signal(0);
  const isPaused = signal(false);
  const hasOlder = signal(false);
  const isLoading = signal(true);
  const missed = signal(0);
  const problem = signal<SimProblem | undefined>(undefined);
  const filterProblems = signal<readonly FilterProblem[]>([]);
  /** Oldest first; what is shown ends at `shown`. */
  let rows: Row[] = [];
  let shown = 0;
  let added = 0;
  let before: number | null = null;
  let leave = () => {};
  let isClosed = false;
  let isDue = false;
  const numbered = numberOf[kind] as (row: Row) => number;

  /** Once a frame, however much comes. */
  function changed(): void {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      version.value++;
      unread.value = rows.length - shown;
    });
  }

  function append(more: readonly Row[]): void {
    if (more.length === 0) return;
    for (const row of more) rows.push(row);
    if (!isPaused.value) {
      added += rows.length - shown;
      shown = rows.length;
    }
    if (rows.length > most * 1.1) {
      const cut = rows.length - most;
      rows = rows.slice(cut);
      shown = Math.max(0, shown - cut);
      before = rows[0] ? numbered(rows[0]) : null;
      hasOlder.value = true;
    }
    changed();
  }

  const page = (limit: number, from: number | null) =>
    call<History<Row>>("GET", `feed/${kind}${query({ filter, project, limit, before: from ?? undefined })}`);

  function failed(error: unknown): void {
    isLoading.value = false;
    if (isClosed) return;
    problem.value = error instanceof SimProblem ? error : new SimProblem(0, { detail: String(error) });
    changed();
  }

  async function begin(): Promise<void> {
    leave();
    isLoading.value = true;
    const first = await page(firstPage, null);
    if (isClosed) return;
    problem.value = undefined;
    rows = [...first.rows].reverse();
    shown = rows.length;
    before = first.before;
    hasOlder.value = first.more;
    missed.value = 0;
    isLoading.value = false;
    changed();
    leave = subscribe({
      events: kind === "events" ? filter : null,
      requests: kind === "requests" ? filter : null,
      project,
      epoch: first.epoch,
      cursor: first.cursor,
      onRows: (events, requests) => append((kind === "events" ? events : requests) as readonly Row[]),
      onGap: (from, to) => {
        missed.value += to - from + 1;
        changed();
      },
      onReset: () => void begin().catch(failed),
      onRefused: (problems) => {
        filterProblems.value = problems;
      },
    });
  }

  async function loadOlder(): Promise<void> {
    if (isLoading.value || !hasOlder.value) return;
    isLoading.value = true;
    const next = await page(olderPage, before);
    isLoading.value = false;
    if (isClosed) return;
    rows = [...[...next.rows].reverse(), ...rows];
    shown += next.rows.length;
    before = next.before;
    hasOlder.value = next.more;
    changed();
  }

  void begin().catch(failed);
  return {
    version,
    unread,
    isPaused,
    hasOlder,
    isLoading,
    missed,
    problem,
    filterProblems,
    count: () => shown,
    at: (index) => rows[shown - 1 - index],
    added: () => added,
    pause() {
      isPaused.value = true;
    },
    resume() {
      isPaused.value = false;
      added += rows.length - shown;
      shown = rows.length;
      changed();
    },
    older: () => void loadOlder().catch(failed),
    close() {
      isClosed = true;
      leave();
    },
  };
}
