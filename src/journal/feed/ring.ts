import type { Held } from "./held.ts";

export interface RingLimits {
  readonly events: number;
  readonly bytes: number;
}

/** The newest requests, numbered without a gap; the oldest are let go where it would hold too much. */
export interface Ring {
  /** Number of the first request that it was given since it was begun. */
  readonly begun: number;
  /** Number of the oldest request that it holds, and of the newest; `first` is `last + 1` when it is empty. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  readonly bytes: number;
  /** Numbers that were left out make it begin anew. */
  push(held: Held): void;
  at(n: number): Held | undefined;
  /** Lets go of everything; the next request is `last + 1`. */
  begin(last: number): void;
}

const eventsIn = ({ events }: Held): number => events?.length ?? 0;

/** How many slots may stand empty before the list is cut. */
const slack = 1024;

/** A request that is larger than the limits is held alone. */
export function createRing(limits: RingLimits, last: number): Ring {
  let slots: (Held | undefined)[] = [];
  /** Slots at the front that are empty. */
  let gone = 0;
  let begun = last + 1;
  let first = last + 1;
  let events = 0;
  let bytes = 0;

  function begin(newest: number): void {
    slots = [];
    gone = 0;
    events = 0;
    bytes = 0;
    begun = newest + 1;
    first = begun;
  }

  function dropFirst(): void {
    const dropped = slots[gone];
    if (dropped === undefined) return;
    slots[gone] = undefined;
    gone++;
    first++;
    events -= eventsIn(dropped);
    bytes -= dropped.size;
    if (gone < slack || gone * 2 < slots.length) return;
    slots = slots.slice(gone);
    gone = 0;
  }

  const isTooFull = (): boolean =>
    slots.length - gone > 1 && (events > limits.events || bytes > limits.bytes);

  const ring: Ring = {
    get begun() {
      return begun;
    },
    get first() {
      return first;
    },
    get last() {
      return first + slots.length - gone - 1;
    },
    get events() {
      return events;
    },
    get bytes() {
      return bytes;
    },
    push(held) {
      if (held.n !== ring.last + 1) begin(held.n - 1);
      slots.push(held);
      events += eventsIn(held);
      bytes += held.size;
      while (isTooFull()) dropFirst();
    },
    at: (n) => (n < first ? undefined : slots[gone + n - first]),
    begin,
  };
  return ring;
}
