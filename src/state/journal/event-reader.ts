import type { StoredEvent } from "./event.ts";
import { outsideEvents } from "./items.ts";
import type { EventRef } from "./log/line-reader.ts";
import type { TrafficLog } from "./log/traffic-log.ts";
import { showEvent } from "./show.ts";

export interface EventSelection {
  project: number;
  event?: string;
  distinct_id?: string;
  uuid?: string | null;
}

/** Selects kept events by their own times, ms; both bounds are excluded. */
export interface TimedQuery extends EventSelection {
  after: number;
  before: number;
  order: "asc" | "desc";
}

export interface EventReader {
  // All are read lazily, and yield `undefined` so that other work gets a turn.
  newest(query: EventSelection): Iterable<StoredEvent | undefined>;
  byTime(query: TimedQuery): Iterable<StoredEvent | undefined>;
  after(project: number, seq: number): Iterable<StoredEvent | undefined>;
  readonly revision: number;
}

function tableEvent({ line, index }: EventRef): StoredEvent | undefined {
  const event = showEvent(line, index);
  return outsideEvents.has(event.event) ? undefined : event;
}

function* inTable(refs: Iterable<EventRef | undefined>): Generator<StoredEvent | undefined> {
  for (const ref of refs) {
    const event = ref && tableEvent(ref);
    if (event || !ref) yield event;
  }
}

export const eventReader = (log: TrafficLog): EventReader => ({
  *newest(query) {
    yield* inTable(log.scanInSteps({ ...query, outcome: "kept", order: "desc" }));
  },
  *byTime(query) {
    for (const ref of log.byTime({ ...query, outcome: "kept" })) yield ref && tableEvent(ref);
  },
  *after(project, since) {
    yield* inTable(log.scanInSteps({ project, since, outcome: "kept" }));
  },
  get revision() {
    return log.revision;
  },
});
