import type { Signal } from "@preact/signals";
import type { EventRow } from "../../../src/model/row.ts";
import { useKeys } from "../../app/keys.ts";
import { go, link, route } from "../../app/location.ts";
import type { Key, KeyPress } from "../../app/presses.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { stepped } from "./cursor.ts";

interface KeysOf {
  rows: LiveRows<EventRow> | undefined;
  /** The event that is open. */
  seq: number | undefined;
  /** The event that the keys are at. */
  cursor: Signal<number | undefined>;
  marked: Signal<number | undefined>;
  open(seq: number, isReplacing: boolean): void;
  close(): void;
}

/** The person, by the sender's id: it stays with the person when that is merged into another. */
const personHref = ({ person, distinct_id, project }: EventRow): string =>
  person === null
    ? link("people", [], { q: distinct_id })
    : link("people", [distinct_id], { in: project ?? undefined });

const far = Number.MAX_SAFE_INTEGER;

/** Moves in the list and does things to the event that is chosen. */
export function useEventKeys({ rows, seq, cursor, marked, open, close }: KeysOf): void {
  const { f } = route.value.params;
  const index = () => (cursor.value === undefined ? -1 : (rows?.indexOf(cursor.value) ?? -1));
  const row = () => rows?.at(index());
  const withRow = (use: (row: EventRow) => void) => () => {
    const it = row();
    if (it) use(it);
  };
  function move(step: number): void {
    const target = rows?.at(stepped(index(), step, rows.count()));
    if (!target) return;
    if (seq === undefined) cursor.value = target.seq;
    else open(target.seq, true);
    document.querySelector<HTMLElement>(".events-list [role=grid]")?.focus({ preventScroll: true });
  }
  function mark({ seq: it }: EventRow): void {
    const first = marked.value;
    if (first === it) marked.value = undefined;
    else if (first === undefined) marked.value = it;
    else {
      marked.value = undefined;
      go(link("events", [first, "compare", it], { f }));
    }
  }
  const isIn = (selector: string, { target }: KeyPress) =>
    target instanceof Element && target.closest(selector) !== null;
  const arrows = (key: string, does: string, step: number): Key => ({
    keys: key,
    does,
    run(event) {
      if (!isIn(".split-details", event)) move(step);
    },
  });
  useKeys("Events", [
    { keys: "j", does: "The next event down", run: () => move(1) },
    { keys: "k", does: "The next event up", run: () => move(-1) },
    arrows("ArrowDown", "The next event down", 1),
    arrows("ArrowUp", "The next event up", -1),
    arrows("Home", "The newest", -far),
    arrows("End", "The oldest that is held", far),
    { keys: "Enter", does: "Open the event", run: withRow((it) => open(it.seq, seq !== undefined)) },
    {
      keys: "Escape",
      does: "Close the details",
      run() {
        if (seq !== undefined) close();
        else cursor.value = undefined;
      },
    },
    { keys: "p", does: "Pause, or go on", run: () => (rows?.isPaused.value ? rows.resume() : rows?.pause()) },
    { keys: "c", does: "Copy as …", run: withRow((it) => go(link("events", [it.seq], { f, tab: "copy" }))) },
    { keys: "d", does: "Mark the event; of two, show the differences", run: withRow(mark) },
    { keys: "t", does: "The person of the event", run: withRow((it) => go(personHref(it))) },
  ]);
}
