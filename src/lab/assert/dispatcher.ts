import { isObject, type Json } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventFilter, TrafficLog, Written } from "../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../state/journal/show.ts";
import { namePatterns } from "./match/evaluate.ts";
import type { Pattern } from "./match/types.ts";

/** Which events a listener needs, as far as the log's index knows it. Absent keys do not restrict. */
export interface Interest {
  names?: ReadonlySet<string> | undefined;
  distinct_id?: string | undefined;
  project?: number | undefined;
  outcome?: "kept" | "dropped" | undefined;
}

interface Listener extends Interest {
  onEvent(event: StoredEvent): void;
}

const nameIn = (pattern: Pattern): string | undefined =>
  namePatterns(pattern).find((it): it is string => typeof it === "string");

const idIn = (pattern: Pattern): Json | undefined => (isObject(pattern) ? pattern.distinct_id : undefined);

/** The names and the distinct id of all events that fit one of the patterns; absent if they can have any. */
export function interestIn(...patterns: readonly Pattern[]): Pick<Interest, "names" | "distinct_id"> {
  const names = patterns.flatMap((it) => nameIn(it) ?? []);
  const ids = new Set(patterns.map(idIn));
  const [id] = ids;
  return {
    names: names.length === patterns.length ? new Set(names) : undefined,
    distinct_id: ids.size === 1 && typeof id === "string" ? id : undefined,
  };
}

export function indexFilter(match: Pattern): EventFilter {
  const { names = new Set(), distinct_id } = interestIn(match);
  const [event] = names;
  return { event, distinct_id };
}

function reader(log: TrafficLog, n: number, index: number): () => StoredEvent | undefined {
  let event: StoredEvent | undefined;
  return () => {
    if (event) return event;
    const line = log.line(n);
    event = line && showEvent(line, index);
    return event;
  };
}

const matches = (
  { distinct_id, project, outcome }: Interest,
  key: { distinct_id: string },
  of: { project: number | null; outcome: string },
): boolean =>
  (project === undefined || project === of.project) &&
  (outcome === undefined || outcome === of.outcome) &&
  (distinct_id === undefined || distinct_id === key.distinct_id);

/**
 * One subscription to the log for all listeners. A listener for events of certain names costs nothing when others come;
 * a line is read only for a listener that may need it.
 */
export function createDispatcher(log: TrafficLog) {
  const byName = new Map<string, Set<Listener>>();
  const anyName = new Set<Listener>();
  let size = 0;
  let unsubscribe = () => {};

  function dispatch(listeners: ReadonlySet<Listener> | undefined, { n, entry }: Written, index: number) {
    if (!listeners || listeners.size === 0) return;
    const { keys = [], events = [] } = entry.record;
    const key = keys[index] ?? { distinct_id: "" };
    const outcome = events[index]?.dropped === undefined ? "kept" : "dropped";
    const of = { project: entry.project, outcome };
    const read = reader(log, n, index);
    for (const listener of [...listeners]) {
      const event = matches(listener, key, of) ? read() : undefined;
      if (event) listener.onEvent(event);
    }
  }

  function publish(written: Written): void {
    for (let index = 0; index < written.count; index++) {
      dispatch(byName.get(written.entry.record.keys?.[index]?.event ?? ""), written, index);
      dispatch(anyName, written, index);
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

  function remove(listener: Listener): void {
    anyName.delete(listener);
    for (const name of listener.names ?? []) {
      const listeners = byName.get(name);
      listeners?.delete(listener);
      if (listeners?.size === 0) byName.delete(name);
    }
    if (--size === 0) unsubscribe();
  }

  return {
    listen(listener: Listener) {
      for (const listeners of setsOf(listener)) listeners.add(listener);
      if (size++ === 0) unsubscribe = log.subscribe(publish);
      let isOver = false;
      return () => {
        if (!isOver) remove(listener);
        isOver = true;
      };
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
