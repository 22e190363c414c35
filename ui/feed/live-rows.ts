import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EventRow, History, RequestRow } from "../../src/state/journal/feed/feed-row.ts";
import { call, problemOf, query } from "../api/call.ts";
import { followRows, type LiveRows, type RowSource, type Trouble } from "./follow.ts";
import { connection, subscribe } from "./socket.ts";

/** A hidden page draws no frames; rows are then processed at this interval, ms. */
const backstop = 500;

/** Returns a function that runs `draw` with the next frame, once for several calls. */
function onceAFrame(draw: () => void): () => void {
  let isDue = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    if (!isDue) return;
    isDue = false;
    clearTimeout(timer);
    draw();
  };
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(run);
    timer = setTimeout(run, backstop);
  };
}

/** Selects rows by kind, project and filter. */
interface RowsWanted {
  readonly kind: "events" | "requests";
  readonly filter: string;
  readonly project: number | undefined;
  /** Properties of which rows of events have values. */
  readonly columns?: readonly string[];
}

const noColumns: readonly string[] = [];

const numberOf = { events: (row: EventRow) => row.seq, requests: (row: RequestRow) => row.n } as const;

function onBack(run: () => void): () => void {
  let wasLive = connection.peek() === "live";
  return effect(() => {
    const isLive = connection.value === "live";
    if (isLive && !wasLive) queueMicrotask(run);
    wasLive = isLive;
  });
}

function sourceOf<Row extends EventRow | RequestRow>({
  kind,
  filter,
  project,
  columns = noColumns,
}: RowsWanted): RowSource<Row> {
  const isEvents = kind === "events";
  return {
    number: numberOf[kind] as (row: Row) => number,
    request: (row) => row.n,
    history: (limit, before) =>
      call<History<Row>>(
        "GET",
        `feed/${kind}${query({ filter, project, limit, before: before ?? undefined, columns: columns.join(",") || undefined })}`,
      ),
    subscribe: (epoch, cursor, listener) =>
      subscribe({
        ...listener,
        events: isEvents ? filter : null,
        requests: isEvents ? null : filter,
        ...{ project, epoch, cursor, columns },
        onRows: (events, requests) =>
          listener.onRows((isEvents ? events : requests) as readonly unknown[] as readonly Row[]),
      }),
    soon: onceAFrame,
    onBack,
    trouble: problemOf,
  };
}

export type { LiveRows };

/** A list that stays visible while its successor loads. */
interface UsedRows<Row> {
  /** Undefined until the first page was read. After a change, the old list until the new one is ready. */
  readonly rows: LiveRows<Row> | undefined;
  /** Changes with the list: state kept for the old one is obsolete. */
  readonly turn: number;
  readonly isChanging: boolean;
  /** The columns that the rows have values of. */
  readonly columns: readonly string[];
  /** Why the new list cannot be loaded. */
  readonly problem: Trouble | undefined;
}

/** A live list while the component is mounted. A pause survives a change of the filter. */
export function useLiveRows<Row extends EventRow | RequestRow>(wanted: RowsWanted): UsedRows<Row> {
  const { kind, filter, project, columns = noColumns } = wanted;
  const asked = columns.join(",");
  const shown = useRef<readonly string[]>(noColumns);
  const current = useRef<LiveRows<Row>>();
  const next = useRef<LiveRows<Row>>();
  const drawn = useSignal(0);
  const turn = useRef(0);
  useEffect(() => {
    const opened = followRows(sourceOf<Row>({ kind, filter, project, columns }));
    next.current = opened;
    drawn.value++;
    const stop = opened.isReady.subscribe((isReady) => {
      if (!isReady) return;
      if (current.current?.isPaused.peek()) opened.pause();
      current.current?.close();
      current.current = opened;
      shown.current = columns;
      next.current = undefined;
      turn.current++;
      drawn.value++;
    });
    return () => {
      stop();
      if (current.current === opened) return;
      opened.close();
    };
  }, [kind, filter, project, asked, drawn]);
  useEffect(() => () => current.current?.close(), []);
  void drawn.value;
  return {
    rows: current.current,
    turn: turn.current,
    isChanging: next.current !== undefined,
    columns: shown.current,
    problem: next.current?.problem.value,
  };
}
