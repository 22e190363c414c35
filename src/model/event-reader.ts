import type { StoredEvent } from "./event.ts";

/** Which kept events are read. Absent keys do not restrict. */
export interface EventQuery {
  project: number;
  event?: string;
  distinct_id?: string;
}

/** The log of events as the management API reads it; wired in sim.ts. */
export interface EventReader {
  /** Kept events of a project, the last to arrive first; read lazily. */
  newest(query: EventQuery): Iterable<StoredEvent>;
}
