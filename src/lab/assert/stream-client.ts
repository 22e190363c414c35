import { type HandleScope, type Query, queryText } from "../../kernel/call/call.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventPage } from "../../state/journal/stored-event.ts";
import type { EventQuery } from "./events-api.ts";
import { fitsEvent } from "./match/evaluate.ts";
import { toWire } from "./match/wire.ts";

export const largestPage = 10_000;

/** Longer patterns do not fit into an address; the client then filters the events itself. */
const longestWhere = 4_000;

/** A query; if it is not exact, the client filters its result. */
interface Listing {
  query: Query;
  exact: boolean;
}

export function listingOf({ project }: HandleScope, { where, ...asked }: EventQuery): Listing {
  const query: Query = { ...asked, project: project ?? asked.project };
  if (where === undefined) return { query, exact: true };
  const { wire, exact } = toWire(where);
  const text = JSON.stringify(wire);
  if (text.length > longestWhere) return { query, exact: false };
  return { query: { ...query, where: text }, exact };
}

/** Requests a page. @param waitMs How long the sim may wait for an event that fits, if there is none yet */
export const pageOf = (
  { call }: HandleScope,
  query: Query,
  { waitMs, signal }: { waitMs?: number; signal?: AbortSignal } = {},
): Promise<EventPage> => call<EventPage>("GET", `events${queryText({ ...query, wait_ms: waitMs })}`, undefined, signal);

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
