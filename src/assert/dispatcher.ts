import type { StoredEvent } from "../journal/event.ts";
import type { TrafficLog, Written } from "../journal/log/traffic-log.ts";
import { showEvent } from "../journal/show.ts";

/** Which events somebody is to be told of, as far as the log's index knows it. Absent keys do not restrict. */
export interface Interest {
  names?: ReadonlySet<string> | undefined;
  distinct_id?: string | undefined;
  project?: number | undefined;
  outcome?: "kept" | "dropped" | undefined;
}

interface Listener extends Interest {
  tell(event: StoredEvent): void;
}

/** Tells listeners of events as they are written. */
export interface Dispatcher {
  /** Returns the function that ends it. */
  listen(listener: Listener): () => void;
}

/** Reads one of a request's events, once for all who want it; undefined when it is gone already. */
function reader(log: TrafficLog, n: number, index: number): () => StoredEvent | undefined {
  let event: StoredEvent | undefined;
  return () => {
    if (event) return event;
    const line = log.line(n);
    event = line && showEvent(line, index);
    return event;
  };
}

const suits = (
  { distinct_id, project, outcome }: Interest,
  key: { distinct_id: string },
  of: { project: number | null; outcome: string },
): boolean =>
  (project === undefined || project === of.project) &&
  (outcome === undefined || outcome === of.outcome) &&
  (distinct_id === undefined || distinct_id === key.distinct_id);

/**
 * One subscription to the log for all who wait, and none while nobody does. Who waits for events of certain names
 * costs nothing when others come; the line is read only once somebody may want it.
 */
export function createDispatcher(log: TrafficLog): Dispatcher {
  const byName = new Map<string, Set<Listener>>();
  const anyName = new Set<Listener>();
  let size = 0;
  let unsubscribe = () => {};

  function tellAll(listeners: ReadonlySet<Listener> | undefined, { n, entry }: Written, index: number) {
    if (!listeners || listeners.size === 0) return;
    const { keys = [], events = [] } = entry.record;
    const key = keys[index] ?? { distinct_id: "" };
    const outcome = events[index]?.dropped === undefined ? "kept" : "dropped";
    const of = { project: entry.project, outcome };
    const read = reader(log, n, index);
    for (const listener of [...listeners]) {
      const event = suits(listener, key, of) ? read() : undefined;
      if (event) listener.tell(event);
    }
  }

  function publish(written: Written): void {
    for (let index = 0; index < written.count; index++) {
      tellAll(byName.get(written.entry.record.keys?.[index]?.event ?? ""), written, index);
      tellAll(anyName, written, index);
    }
  }

  function setsOf({ names }: Interest): Set<Listener>[] {
    if (names === undefined) return [anyName];
    return [...names].map((name) => {
      const listeners = byName.get(name) ?? new Set();
      byName.set(name, listeners);
      return listeners;
    });
  }

  function leave(listener: Listener): void {
    anyName.delete(listener);
    for (const name of listener.names ?? []) {
      const listeners = byName.get(name);
      listeners?.delete(listener);
      if (listeners?.size === 0) byName.delete(name);
    }
    if (--size === 0) unsubscribe();
  }

  return {
    listen(listener) {
      for (const listeners of setsOf(listener)) listeners.add(listener);
      if (size++ === 0) unsubscribe = log.subscribe(publish);
      let isOver = false;
      return () => {
        if (!isOver) leave(listener);
        isOver = true;
      };
    },
  };
}
