import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { EventRow, RequestRow } from "../../src/model/row.ts";
import type { Trouble } from "./follow.ts";
import { type LiveRows, openLiveRows, type RowsWanted } from "./live-rows.ts";

export type { LiveRows };

/** A list that changes what it wants without going blank. */
export interface UsedRows<Row> {
  /** Undefined until the first rows, or none, were read. After a change it is the list before, until the new one is there. */
  readonly rows: LiveRows<Row> | undefined;
  /** Another number for another list: what is kept of the one before is of no use. */
  readonly turn: number;
  /** The new list is on its way. */
  readonly isChanging: boolean;
  /** Why the new list does not come. */
  readonly problem: Trouble | undefined;
}

/** A live list for as long as the component is there. A pause outlives a change of the filter. */
export function useLiveRows<Row extends EventRow | RequestRow>(wanted: RowsWanted): UsedRows<Row> {
  const { kind, filter, project } = wanted;
  const current = useRef<LiveRows<Row>>();
  const next = useRef<LiveRows<Row>>();
  const drawn = useSignal(0);
  const turn = useRef(0);
  useEffect(() => {
    const opened = openLiveRows<Row>({ kind, filter, project });
    next.current = opened;
    drawn.value++;
    const stop = opened.isReady.subscribe((isReady) => {
      if (!isReady) return;
      if (current.current?.isPaused.peek()) opened.pause();
      current.current?.close();
      current.current = opened;
      next.current = undefined;
      turn.current++;
      drawn.value++;
    });
    return () => {
      stop();
      if (current.current === opened) return;
      opened.close();
    };
  }, [kind, filter, project, drawn]);
  useEffect(() => () => current.current?.close(), []);
  void drawn.value;
  return {
    rows: current.current,
    turn: turn.current,
    isChanging: next.current !== undefined,
    problem: next.current?.problem.value,
  };
}
