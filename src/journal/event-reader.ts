import type { StoredEvent } from "./event.ts";
import type { TrafficLog } from "./log/traffic-log.ts";
import { showEvent } from "./show.ts";

/** Selects kept events. Absent keys do not restrict. */
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

/** The log of events as the management API reads it. */
export interface EventReader {
  /** Kept events of a project, the last to arrive first; read lazily. */
  newest(query: EventSelection): Iterable<StoredEvent>;
  /** Kept events in order of their times; read lazily. Yields `undefined` so that other work gets a turn. */
  byTime(query: TimedQuery): Iterable<StoredEvent | undefined>;
  /** Kept events of a project after a seq, in order of arrival; read lazily. */
  after(project: number, seq: number): Iterable<StoredEvent>;
  /** Changes when events that were there went, or came back. */
  readonly revision: number;
}

export const eventReader = (log: TrafficLog): EventReader => ({
  *newest(query) {
    for (const { line, index } of log.scan({ ...query, outcome: "kept", order: "desc" })) {
      yield showEvent(line, index);
    }
  },
  *byTime(query) {
    for (const ref of log.byTime({ ...query, outcome: "kept" })) yield ref && showEvent(ref.line, ref.index);
  },
  *after(project, since) {
    for (const { line, index } of log.scan({ project, since, outcome: "kept" })) yield showEvent(line, index);
  },
  get revision() {
    return log.revision;
  },
});
