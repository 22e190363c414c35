import { effect } from "@preact/signals";
import type { History } from "../../src/feed/frames.ts";
import type { EventRow, RequestRow } from "../../src/model/row.ts";
import { call, problemOf, query } from "../api/call.ts";
import { followRows, type LiveRows, type RowSource } from "./follow.ts";
import { onceAFrame } from "./frame.ts";
import { connection, subscribe } from "./socket.ts";

export type { LiveRows } from "./follow.ts";

/** Which rows: of one kind, in one project or all, that pass a filter. */
export interface RowsWanted {
  readonly kind: "events" | "requests";
  readonly filter: string;
  readonly project: number | undefined;
}

const numberOf = { events: (row: EventRow) => row.seq, requests: (row: RequestRow) => row.n } as const;

function onBack(run: () => void): () => void {
  let wasLive = connection.peek() === "live";
  return effect(() => {
    const isLive = connection.value === "live";
    if (isLive && !wasLive) queueMicrotask(run);
    wasLive = isLive;
  });
}

function sourceOf<Row extends EventRow | RequestRow>({ kind, filter, project }: RowsWanted): RowSource<Row> {
  const isEvents = kind === "events";
  return {
    number: numberOf[kind] as (row: Row) => number,
    request: (row) => row.n,
    history: (limit, before) =>
      call<History<Row>>(
        "GET",
        `feed/${kind}${query({ filter, project, limit, before: before ?? undefined })}`,
      ),
    subscribe: (epoch, cursor, { onRows, onGap, onReset, onRefused }) =>
      subscribe({
        events: isEvents ? filter : null,
        requests: isEvents ? null : filter,
        project,
        epoch,
        cursor,
        onRows: (events, requests) =>
          onRows((isEvents ? events : requests) as readonly unknown[] as readonly Row[]),
        onGap,
        onReset,
        onRefused,
      }),
    soon: onceAFrame,
    onBack,
    trouble: problemOf,
  };
}

/** Opens a list and keeps it up to date. */
export const openLiveRows = <Row extends EventRow | RequestRow>(wanted: RowsWanted): LiveRows<Row> =>
  followRows<Row>(sourceOf<Row>(wanted));
