import { type Held, hasRows, holdEntry } from "./held.ts";
import { limits } from "./limits.ts";
import type { Journal, Kinds } from "./ports.ts";
import { createRing } from "./ring.ts";

/** The journal's newer end, as the feed tells of it. */
export interface Tail {
  readonly journal: Journal;
  /** The oldest request that can be told, and the newest. */
  readonly oldest: number;
  readonly last: number;
  /** A request with the rows that are needed: as it was held, else read again; undefined where it is gone. */
  at(n: number, needs: Kinds): Held | undefined;
  /** From now on rows of these kinds are made and held; of no kind: nothing is listened to. */
  attend(needs: Kinds): void;
  /** Lets go of everything up to now. */
  begin(): void;
}

/** @param onNew Called with each request that is listened to. */
export function createTail(journal: Journal, onNew: () => void): Tail {
  const ring = createRing(limits.ring, journal.last);
  /** It is looked at with each request. */
  const kinds = { events: false, requests: false };
  let stop: (() => void) | undefined;

  const begin = () => ring.begin(journal.last);

  function listen(): () => void {
    begin();
    return journal.onEntry(kinds, (entry) => {
      // it was read again for whoever asked
      if (entry.n <= ring.last) return;
      ring.push(holdEntry(entry));
      onNew();
    });
  }

  function readAgain(n: number): Held | undefined {
    const entry = journal.read(n);
    return entry && holdEntry(entry);
  }

  return {
    journal,
    get last() {
      return stop ? ring.last : journal.last;
    },
    get oldest() {
      return ring.first > ring.begun ? ring.first : Math.max(1, ring.begun - limits.readBack);
    },
    at(n, needs) {
      if (n < ring.begun) return readAgain(n);
      const held = ring.at(n);
      return held === undefined || hasRows(held, needs) ? held : readAgain(n);
    },
    attend({ events, requests }) {
      Object.assign(kinds, { events, requests });
      if (events || requests) {
        stop ??= listen();
        return;
      }
      stop?.();
      stop = undefined;
      begin();
    },
    begin,
  };
}
