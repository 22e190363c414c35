import { clearTimeout, setTimeout } from "../../kernel/base/real-time.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventFilter, TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { searchEvents } from "../../state/journal/search.ts";
import type { Surroundings } from "./match/report-shapes.ts";

export const mostSearched = 1_000;

/** The newest events of a filter that satisfy the condition, oldest first; only recent events are searched. */
export async function newest(
  log: TrafficLog,
  filter: EventFilter,
  isWanted: (event: StoredEvent) => boolean,
  most: number,
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  let searched = 0;
  for await (const event of searchEvents(log, { ...filter, order: "desc" })) {
    if (isWanted(event)) found.push(event);
    if (found.length >= most || ++searched >= mostSearched) break;
  }
  return found.reverse();
}

export interface RequestsSeen
  extends Pick<Surroundings, "rejected" | "unmatched" | "senders" | "requests" | "ended" | "wrong_keys"> {
  readonly touched: ReadonlyMap<string, number>;
}

/** How long it is kept where nothing is written, ms. */
const keptMs = 1_000;

/** Keeps what was read until something is written or removed. */
export function createRecentRequests(log: TrafficLog) {
  const events = new Map<string, Promise<readonly StoredEvent[]>>();
  const requests = new Map<string, Promise<RequestsSeen>>();
  let stop: (() => void) | undefined;

  function forget(): void {
    events.clear();
    requests.clear();
    stop?.();
    stop = undefined;
  }

  /** The log does less work without listeners. */
  function listen(): void {
    if (stop) return;
    const ends = [log.subscribe(forget), log.onVeiled(forget)];
    const timer = setTimeout(forget, keptMs).unref();
    stop = () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }

  function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
    const before = known.get(key);
    if (before) return before;
    listen();
    const reading = read();
    known.set(key, reading);
    return reading;
  }

  return {
    events: (filter: EventFilter) =>
      once(events, JSON.stringify(filter), () => newest(log, filter, () => true, mostSearched)),
    /** What `read` found for this scope. */
    requests: (scope: string, read: () => Promise<RequestsSeen>) => once(requests, scope, read),
  };
}

/** What reports read from the log. Assertions fail together when an app is broken: it is read once for all of them. */
export type RecentRequests = ReturnType<typeof createRecentRequests>;
