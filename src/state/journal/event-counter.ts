import type { TimeSource } from "../../kernel/base/clock.ts";
import { type Counter, oneByOne, type RowCount } from "./counting.ts";
import { eventSubject } from "./feed/make-rows.ts";
import type { EventSubject, Filter } from "./filter/types.ts";
import { indexedPart } from "./filter-parameter.ts";
import type { IndexedEvent, TrafficLog } from "./log/traffic-log.ts";

/** True if filter and parameter both name a project: they may differ, so the filter must be tested. */
export const isTwice = (filter: Filter<unknown>, project: number | undefined): boolean =>
  filter.indexed.project !== undefined && project !== undefined;

interface EventCounterParts<C extends RowCount> {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly filter: Filter<EventSubject>;
  readonly project: number | undefined;
  /** Takes an event in; the pass reuses the object. */
  add(count: C, it: IndexedEvent): void;
  /** Called after each part of the index. */
  settle?(count: C): void;
}

/** Counts events by the index alone if it can evaluate the filter, otherwise line by line. */
export function eventCounter<C extends RowCount>(parts: EventCounterParts<C>): Counter<C> {
  const { log, clock, filter, project, add, settle = () => {} } = parts;
  const within = indexedPart(filter, project);
  const isIndexed = filter.isIndexed && !isTwice(filter, project);
  const now = clock.now();
  function* range(count: C, from: number, to: number, isDown: boolean) {
    if (isIndexed) {
      log.eachEvent(from, to, within, (it) => add(count, it));
      settle(count);
      return;
    }
    for (const it of oneByOne<IndexedEvent>((use) => log.eachEvent(from, to, within, use), isDown)) {
      const line = yield* log.reading(it.n);
      const index = it.seq - (line?.seq ?? it.seq);
      if (!line?.events?.[index]) count.isPart = true;
      else if (filter.test(eventSubject(line, index), now)) add(count, it);
      settle(count);
      yield it.seq;
    }
  }
  return { first: () => log.firstSeq, last: () => log.lastSeq, range };
}
