import type { HandleScope } from "../../kernel/call/call.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventQuery } from "./events-api.ts";
import { fitsEvent } from "./match/evaluate.ts";
import { listingOf, pageOf } from "./pages.ts";

/** An empty answer is delayed by up to this time, ms. */
const longPoll = 20_000;
const pageSize = 1_000;

interface StreamOptions {
  query: EventQuery;
  signal?: AbortSignal | undefined;
  mark(): Promise<number>;
}

/** The next event; undefined at the end. */
type Read = () => Promise<StoredEvent | undefined>;

function readerOf(place: HandleScope, query: EventQuery, from: Promise<number>, signal: AbortSignal): Read {
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

/** An iterator without a generator: a generator would end only once its pending wait is over. */
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
      // overlapping calls get their results in order
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

/** Events as they arrive. Leaving the loop, or the signal, ends the pending request at once. */
export function streamOf(place: HandleScope, { query, signal, mark }: StreamOptions): AsyncIterable<StoredEvent> {
  const from = query.since === undefined ? mark() : Promise.resolve(query.since);
  // a stream that is never read reports no failure
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
