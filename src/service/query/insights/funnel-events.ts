/** The events of a funnel, by actor. */

export interface FunnelEvent {
  readonly row: number;
  /** ms since the epoch. */
  readonly time: number;
  /** Steps that it is, from 1, in order; negative: an exclusion before that step. None: another event. */
  readonly steps: readonly number[];
  /** Key of the breakdown. */
  readonly key: number;
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
