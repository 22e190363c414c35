import { rowsPerStep, type Steps } from "../table.ts";

/** The events of a funnel, by actor. */

/** An event as the steps see it. */
export interface FunnelEvent {
  readonly row: number;
  /** ms since the epoch. */
  readonly time: number;
  /** Steps that it is, from 1, in order; negative: an exclusion before that step. None: another event. */
  readonly steps: readonly number[];
  /** Key of the breakdown. */
  readonly key: number;
}

/** Positions of an actor's rows, ordered by time; those of the same time as they arrived. */
export interface ActorRows {
  readonly actor: number;
  readonly rows: Uint32Array;
}

/** The rows of each actor. */
export function* rowsByActor(
  rows: Uint32Array,
  actors: { readonly codes: Uint32Array; readonly values: readonly unknown[] },
  times: Float64Array,
): Steps<ActorRows[]> {
  const starts = new Uint32Array(actors.values.length + 1);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const actor = actors.codes[rows[at] ?? 0] ?? 0;
    starts[actor + 1] = (starts[actor + 1] ?? 0) + 1;
  }
  for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
  const next = starts.slice();
  const sorted = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const row = rows[at] ?? 0;
    const actor = actors.codes[row] ?? 0;
    const place = next[actor] ?? 0;
    next[actor] = place + 1;
    sorted[place] = row;
  }
  const all: ActorRows[] = [];
  let work = 0;
  for (let actor = 0; actor < actors.values.length; actor++) {
    const [start = 0, end = 0] = [starts[actor], starts[actor + 1]];
    if (start === end) continue;
    work += end - start;
    if (work > rowsPerStep) {
      work = 0;
      yield;
    }
    all.push({ actor, rows: inTime(sorted.subarray(start, end), times) });
  }
  return all;
}

/** Events mostly arrive in the order of their times. */
function inTime(rows: Uint32Array, times: Float64Array): Uint32Array {
  for (let i = 1; i < rows.length; i++) {
    if ((times[rows[i] ?? 0] ?? 0) < (times[rows[i - 1] ?? 0] ?? 0)) {
      return rows.sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
    }
  }
  return rows;
}

const isSame = (a: FunnelEvent, b: FunnelEvent): boolean =>
  a.key === b.key && a.steps.length === b.steps.length && a.steps.every((it, i) => it === b.steps[i]);

/**
 * Without events that stand between two of the same kind. Which of them a step takes, and thereby how long a conversion
 * takes, depends on it. Upstream: `_udf_event_array_filter`.
 */
export function withoutRepeats(events: readonly FunnelEvent[]): readonly FunnelEvent[] {
  if (events.length < 3) return events;
  return events.filter((event, i) => {
    const [before, after] = [events[i - 1], events[i + 1]];
    if (!before || !after || event.steps.length > 1) return true;
    return !(isSame(event, before) && isSame(event, after) && event.time > before.time && event.time < after.time);
  });
}
