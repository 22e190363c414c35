import type { Signal } from "@preact/signals";
import type { LiveRows } from "../feed/live-rows.ts";
import { Button } from "../parts/basics.tsx";
import { stepped } from "../parts/list-positions.ts";
import { counted } from "../parts/text.ts";
import { useKeys } from "./keyboard.ts";
import type { Key, KeyPress } from "./shortcuts.ts";

interface ListKeys<Row> {
  title: string;
  noun: string;
  rows: LiveRows<Row> | undefined;
  numberOf(row: Row): number;
  opened: number | undefined;
  /** Number of the row under the cursor. */
  cursor: Signal<number | undefined>;
  /** Selector of the list, which receives the focus. */
  list: string;
  open(number: number, isReplacing: boolean): void;
  close(): void;
  more: readonly Key[];
}

/** Shortcuts of a live list: j, k and the arrows move, Enter opens, Escape closes, p pauses. */
export function useListKeys<Row>(keys: ListKeys<Row>): void {
  const { title, noun, rows, numberOf, opened, cursor, list, open, close, more } = keys;
  function move(step: number): void {
    const at = cursor.value === undefined ? -1 : (rows?.indexOf(cursor.value) ?? -1);
    const target = rows?.at(stepped(at, step, rows.count()));
    if (!target) return;
    if (opened === undefined) cursor.value = numberOf(target);
    else open(numberOf(target), true);
    document.querySelector<HTMLElement>(list)?.focus({ preventScroll: true });
  }
  // in the details, these keys scroll
  const isInDetails = ({ target }: KeyPress) => target instanceof Element && target.closest(".split-details") !== null;
  const inList = (key: string, does: string, step: number): Key => ({
    keys: key,
    does,
    run: (event) => (isInDetails(event) ? undefined : move(step)),
  });
  const far = Number.MAX_SAFE_INTEGER;
  useKeys(title, [
    { keys: "j", does: `Next ${noun} down`, run: () => move(1) },
    { keys: "k", does: `Next ${noun} up`, run: () => move(-1) },
    inList("ArrowDown", `Next ${noun} down`, 1),
    inList("ArrowUp", `Next ${noun} up`, -1),
    inList("Home", "Newest", -far),
    inList("End", "Oldest loaded", far),
    {
      keys: "Enter",
      does: `Open the ${noun}`,
      run() {
        if (cursor.value !== undefined) open(cursor.value, opened !== undefined);
      },
    },
    {
      keys: "Escape",
      does: "Close the details",
      run() {
        if (opened !== undefined) close();
        else cursor.value = undefined;
      },
    },
    { keys: "p", does: "Pause or resume", run: () => (rows?.isPaused.value ? rows.resume() : rows?.pause()) },
    ...more,
  ]);
}

/** A notice about requests that the live feed skipped, with a button that loads them. */
export function MissedRows({ rows, class: name }: { rows: LiveRows<unknown>; class: string }) {
  const missed = rows.missed.value;
  if (missed === 0) return null;
  return (
    <p class={name} role="status">
      <span>{`${counted(missed, "request")} arrived faster than the page could display them.`}</span>
      <Button onClick={rows.loadMissed} disabled={rows.isLoading.value}>
        Load
      </Button>
    </p>
  );
}
