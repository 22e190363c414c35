import type { Signal } from "@preact/signals";
import type { RequestRow } from "../../../src/model/row.ts";
import { useKeys } from "../../app/keys.ts";
import type { Key, KeyPress } from "../../app/presses.ts";
import type { LiveRows } from "../../feed/use-live-rows.ts";
import { stepFrom } from "./place.ts";

interface KeysOf {
  rows: LiveRows<RequestRow> | undefined;
  /** The request that is open. */
  opened: number | undefined;
  /** The request that the keys are at. */
  cursor: Signal<number | undefined>;
  open(n: number, isReplacing: boolean): void;
  close(): void;
}

const focusOn = (selector: string): void =>
  document.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });

/** Moves in the list and opens what is chosen, with the keys of the list of events. */
export function useRequestKeys({ rows, opened, cursor, open, close }: KeysOf): void {
  function goTo(n: number | undefined): void {
    if (n === undefined) return;
    if (opened === undefined) cursor.value = n;
    else open(n, true);
    focusOn(".requests-list .list-body");
  }
  const move = (by: number) => goTo(rows && stepFrom(rows, cursor.value, by));
  const isInDetails = ({ target }: KeyPress) =>
    target instanceof Element && target.closest(".split-details") !== null;
  const inList = (keys: string, does: string, run: () => void): Key => ({
    keys,
    does,
    run(event) {
      if (!isInDetails(event)) run();
    },
  });
  useKeys("Requests", [
    { keys: "j", does: "The next request down", run: () => move(1) },
    { keys: "k", does: "The next request up", run: () => move(-1) },
    inList("ArrowDown", "The next request down", () => move(1)),
    inList("ArrowUp", "The next request up", () => move(-1)),
    inList("Home", "The newest", () => goTo(rows?.at(0)?.n)),
    inList("End", "The oldest that is held", () => goTo(rows?.at(rows.count() - 1)?.n)),
    {
      keys: "Enter",
      does: "Open the request",
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
    {
      keys: "p",
      does: "Pause, or go on",
      run: () => (rows?.isPaused.value ? rows.resume() : rows?.pause()),
    },
    { keys: "/", does: "Go to the filter", run: () => focusOn(".filter-box-input") },
  ]);
}
