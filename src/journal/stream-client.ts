import { fitsEvent } from "../assert/match/judge.ts";
import type { EventQuery } from "../client/api.ts";
import type { Place } from "../client/call.ts";
import { listingOf, pageOf } from "../client/pages.ts";
import type { StoredEvent } from "./event.ts";

/** One request stays open so long while nothing comes, ms. */
const longPoll = 20_000;
const pageSize = 1_000;

interface StreamOptions {
  query: EventQuery;
  signal?: AbortSignal | undefined;
  /** Where the log ends now. */
  mark(): Promise<number>;
}

/** Reads on from a cursor; undefined when there will be no more. */
type Read = () => Promise<StoredEvent | undefined>;

function readerOf(place: Place, query: EventQuery, from: Promise<number>, signal: AbortSignal): Read {
  const { limit = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY, where } = query;
  const { query: asked, exact } = listingOf(place, { ...query, order: "asc" });
  let buffer: StoredEvent[] = [];
  let given = 0;
  let cursor = 0;
  const fill = async () => {
    const page = { ...asked, since: cursor, limit: pageSize };
    const { events, cursor: next } = await pageOf(place, page, { waitMs: longPoll, signal });
    buffer = exact ? events : events.filter((event) => fitsEvent(where, event));
    cursor = next;
  };
  return async () => {
    cursor ||= await from;
    while (buffer.length === 0 && given < limit && cursor < until && !signal.aborted) await fill();
    if (given >= limit || signal.aborted) return undefined;
    given++;
    return buffer.shift();
  };
}

const over: IteratorResult<StoredEvent> = { done: true, value: undefined };

/** An iterator by hand: one made by a generator is left only when what it waits for has come. */
function iteratorOf(read: Read, end: AbortController): AsyncIterator<StoredEvent> {
  let last: Promise<unknown> = Promise.resolve();
  const next = async (): Promise<IteratorResult<StoredEvent>> => {
    try {
      const value = end.signal.aborted ? undefined : await read();
      if (value !== undefined) return { done: false, value };
    } catch (error) {
      if (!end.signal.aborted) {
        end.abort();
        throw error;
      }
    }
    end.abort();
    return over;
  };
  return {
    next() {
      // calls that overlap are answered in their order
      const result = last.then(next);
      last = result.catch(() => {});
      return result;
    },
    async return() {
      end.abort();
      return over;
    },
  };
}

/** Events page by page as they come. Leaving the loop, or the signal, ends the pending request at once. */
export function streamOf(place: Place, { query, signal, mark }: StreamOptions): AsyncIterable<StoredEvent> {
  const from = query.since === undefined ? mark() : Promise.resolve(query.since);
  // who never begins to read learns of no failure
  from.catch(() => {});
  return {
    [Symbol.asyncIterator]() {
      const end = new AbortController();
      const leave = () => end.abort();
      if (signal?.aborted) leave();
      signal?.addEventListener("abort", leave, { once: true });
      end.signal.addEventListener("abort", () => signal?.removeEventListener("abort", leave));
      return iteratorOf(readerOf(place, query, from, end.signal), end);
    },
  };
}
