import type { StoredEvent } from "../journal/event.ts";
import type { EventFilter, TrafficLog } from "../journal/log/traffic-log.ts";
import { searchEvents } from "../journal/search.ts";
import type { Dispatcher, Interest } from "./dispatcher.ts";

/** What is watched: events after a cursor. */
export interface Watched extends Interest {
  since: number;
}

export interface Watch {
  /** Has everything been given that was there when the watch began? */
  readonly isCaughtUp: boolean;
  /**
   * Resolves with true as soon as the condition holds, which is asked after each event; with false when it does not
   * after `ms`, as soon as the signal ends, or the watch is closed. What is already there is always looked at first.
   * One call at a time.
   */
  until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

const filterOf = ({ distinct_id, project, outcome, since }: Watched): EventFilter => ({
  since,
  ...(distinct_id !== undefined && { distinct_id }),
  ...(project !== undefined && { project }),
  ...(outcome !== undefined && { outcome }),
});

/** Events of the names in order; each name is found by the index. */
async function* eventsOf(log: TrafficLog, watched: Watched, until: number): AsyncGenerator<StoredEvent> {
  const filter = { ...filterOf(watched), until };
  const names = [...(watched.names ?? [])];
  if (watched.names === undefined || names.length === 0) {
    if (watched.names === undefined) yield* searchEvents(log, filter);
    return;
  }
  if (names.length === 1) {
    yield* searchEvents(log, { ...filter, event: names[0] ?? "" });
    return;
  }
  const found: StoredEvent[] = [];
  for (const event of names) for await (const it of searchEvents(log, { ...filter, event })) found.push(it);
  yield* found.sort((a, b) => a.seq - b.seq);
}

/**
 * Gives events in order of arrival, those that are there and those that come. Listening starts before the look
 * back, so that nothing that arrives in between is missed.
 */
export function watchEvents(
  { log, dispatcher }: { log: TrafficLog; dispatcher: Dispatcher },
  watched: Watched,
  take: (event: StoredEvent) => void,
): Watch {
  const start = log.lastSeq;
  const queue: StoredEvent[] = [];
  let isCaughtUp = false;
  let isClosed = false;
  let look = () => {};
  let leave = () => {};

  const give = (event: StoredEvent) => {
    take(event);
    look();
  };
  const stop = dispatcher.listen({
    ...watched,
    tell(event) {
      if (event.seq <= Math.max(start, watched.since)) return;
      if (isCaughtUp) give(event);
      else queue.push(event);
    },
  });

  async function lookBack(): Promise<void> {
    for await (const event of eventsOf(log, watched, start)) {
      if (isClosed) return;
      give(event);
    }
    for (const event of queue) {
      if (isClosed) return;
      give(event);
    }
    isCaughtUp = true;
    look();
  }
  const caughtUp = lookBack();
  // who waits for it is told
  caughtUp.catch(() => {});

  return {
    get isCaughtUp() {
      return isCaughtUp;
    },
    until: (holds, ms, signal) =>
      new Promise((resolve, reject) => {
        const end = (held: boolean) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          look = () => {};
          leave = () => {};
          resolve(held);
        };
        const giveUp = () => end(false);
        const timer = setTimeout(() => {
          caughtUp.then(
            () => end(holds()),
            () => {},
          );
        }, ms);
        look = () => {
          if (holds()) end(true);
        };
        leave = giveUp;
        caughtUp.catch((error: unknown) => {
          reject(error);
          end(false);
        });
        signal.addEventListener("abort", giveUp);
        if (signal.aborted || isClosed) giveUp();
        else look();
      }),
    close() {
      isClosed = true;
      stop();
      leave();
    },
  };
}
