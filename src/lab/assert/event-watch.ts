import type { JsonObject } from "../../kernel/base/json.ts";
import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventFilter, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { searchEvents } from "../../state/journal/search.ts";
import { type Dispatcher, type Interest, interestIn } from "./dispatcher.ts";
import { fitsEvent } from "./match/evaluate.ts";

/**
 * Joins signals, and a limit in ms. `AbortSignal.any` would leave a listener of each wait on signals that live as long
 * as the sim.
 */
export function joinSignals(signals: readonly AbortSignal[], ms?: number) {
  const controller = new AbortController();
  const end = () => controller.abort();
  const timer = ms === undefined ? undefined : setTimeout(end, ms);
  for (const signal of signals) {
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  }
  const signal: AbortSignal = controller.signal;
  return {
    signal,
    end,
    ended: new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve());
    }),
    release() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", end);
    },
  };
}

export interface Watched extends Interest {
  since: number;
}

async function* eventsOf(log: TrafficLog, watched: Watched, until: number): AsyncGenerator<StoredEvent> {
  const { names, ...within } = watched;
  const filter: EventFilter = { ...within, until };
  if (names === undefined) {
    yield* searchEvents(log, filter);
    return;
  }
  const [only = "", ...others] = names;
  if (others.length === 0) {
    if (names.size > 0) yield* searchEvents(log, { ...filter, event: only });
    return;
  }
  const found: StoredEvent[] = [];
  for (const event of names) for await (const it of searchEvents(log, { ...filter, event })) found.push(it);
  yield* found.sort((a, b) => a.seq - b.seq);
}

/**
 * Passes on events in order of arrival, existing and new ones. Listening starts before the search, so that no event in
 * between is missed.
 */
export function watchEvents(
  { log, dispatcher }: { log: TrafficLog; dispatcher: Dispatcher },
  watched: Watched,
  take: (event: StoredEvent) => void,
) {
  const start = log.lastSeq;
  const queue: StoredEvent[] = [];
  let isCaughtUp = false;
  let isClosed = false;
  let test = () => {};
  let cancel = () => {};

  const pass = (event: StoredEvent) => {
    take(event);
    test();
  };
  const stop = dispatcher.listen({
    ...watched,
    onEvent(event) {
      if (event.seq <= Math.max(start, watched.since)) return;
      if (isCaughtUp) pass(event);
      else queue.push(event);
    },
  });

  async function catchUp(): Promise<void> {
    for await (const event of eventsOf(log, watched, start)) {
      if (isClosed) return;
      pass(event);
    }
    for (const event of queue) {
      if (isClosed) return;
      pass(event);
    }
    isCaughtUp = true;
    test();
  }
  const caughtUp = catchUp();
  // `until` reports it
  caughtUp.catch(() => {});

  return {
    get isCaughtUp() {
      return isCaughtUp;
    },
    /**
     * Resolves with true as soon as the condition holds, which is tested after each event; with false if it does not
     * after `ms`, when the signal ends, or when the watch is closed. Existing events always come first. One call at a
     * time.
     */
    until: (holds: () => boolean, ms: number, signal: AbortSignal) =>
      new Promise((resolve, reject) => {
        const end = (held: boolean) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          test = () => {};
          cancel = () => {};
          resolve(held);
        };
        const giveUp = () => end(false);
        const timer = setTimeout(() => {
          caughtUp.then(
            () => end(holds()),
            () => {},
          );
        }, ms);
        test = () => {
          if (holds()) end(true);
        };
        cancel = giveUp;
        caughtUp.catch((error: unknown) => {
          reject(error);
          end(false);
        });
        signal.addEventListener("abort", giveUp);
        if (signal.aborted || isClosed) giveUp();
        else test();
      }),
    close() {
      isClosed = true;
      stop();
      cancel();
    },
  };
}

export type Watch = ReturnType<typeof watchEvents>;

/** Listens for an event that a list would show. @param isWanted Called for events that fit everything else */
export function arrivalOf(
  { dispatcher, closing }: { dispatcher: Dispatcher; closing: AbortSignal },
  { event: name, since = 0, until = Number.POSITIVE_INFINITY, ...filter }: EventFilter,
  where: JsonObject,
  isWanted: (event: StoredEvent) => boolean = () => true,
) {
  let hasCome = false;
  let arrive = () => {};
  const close = dispatcher.listen({
    ...filter,
    names: name === undefined ? interestIn(where).names : new Set([name]),
    onEvent(event) {
      if (event.seq <= since || event.seq > until || !fitsEvent(where, event) || !isWanted(event)) return;
      hasCome = true;
      arrive();
    },
  });
  return {
    /** Resolves with true when an event has come; with false after `ms`, or when the signal ends or the sim closes. */
    async within(ms: number, signal: AbortSignal) {
      if (hasCome) return true;
      const over = joinSignals([signal, closing], ms);
      arrive = over.end;
      await over.ended;
      over.release();
      return hasCome;
    },
    close,
  };
}
