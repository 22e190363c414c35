/**
 * How far an actor gets in a funnel. Upstream PostHog/posthog funnel-udf/src/steps.rs, unordered_steps.rs; the cases
 * are those of its tests.
 */

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

type FunnelOrder = "ordered" | "unordered" | "strict";

export interface FunnelRules {
  readonly stepCount: number;
  /** Conversion window, ms: from the first step to the last. */
  readonly window: number;
  readonly order: FunnelOrder;
  /** Steps from 1 that may be left out. */
  readonly optional: ReadonlySet<number>;
  /** The step, from 0, whose event decides the value of the breakdown. */
  readonly attributedStep: number | undefined;
}

/** What an actor has done, for one value of the breakdown. */
export interface FunnelPath {
  /** Bit i is set if the actor did step i. */
  readonly done: number;
  /** Index of the last step that was reached, without optional ones. */
  readonly reached: number;
  /** Times between the steps, s; optional steps are left out. */
  readonly durations: readonly number[];
}

/** The event of a step, after those of the steps before it. */
interface Taken {
  readonly time: number;
  readonly row: number;
  readonly before: Taken | undefined;
}

interface Entered {
  /** Time of the first step, ms; 0: not entered. */
  readonly start: number;
  excluded: boolean;
  readonly taken: Taken | undefined;
  readonly done: number;
}

const notEntered = (): Entered => ({ start: 0, excluded: false, taken: undefined, done: 0 });

function uses(taken: Taken | undefined, row: number): boolean {
  for (let it = taken; it; it = it.before) if (it.row === row) return true;
  return false;
}

function durationsOf(taken: Taken | undefined): number[] {
  const durations: number[] = [];
  for (let it = taken; it?.before; it = it.before) durations.unshift((it.time - it.before.time) / 1000);
  return durations;
}

const isEqualList = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((it, i) => it === b[i]);

/** Ordered and strict funnels. @returns undefined if the actor is excluded */
function orderedPath(events: readonly FunnelEvent[], key: number, rules: FunnelRules): FunnelPath | undefined {
  const { stepCount, window, optional, attributedStep } = rules;
  const entered: Entered[] = Array.from({ length: stepCount + 1 }, notEntered);
  let furthest = 0;
  let best: Entered = notEntered();

  function take(event: FunnelEvent, steps: readonly number[], isOneOfMany: boolean): void {
    for (let i = steps.length - 1; i >= 0; i--) {
      const signed = steps[i] ?? 0;
      const step = Math.abs(signed);
      const isIn = (it: Entered | undefined) => it !== undefined && it.start !== 0 && event.time - it.start <= window;
      let from = step - 1;
      while (from > 0 && !isIn(entered[from]) && optional.has(from)) from--;
      const previous = entered[from];
      if (!previous || !isIn(previous) || entered[step]?.start === previous.start) continue;
      if (signed < 0) {
        if (previous.excluded) continue;
        previous.excluded = true;
        if (furthest === from && event.time - best.start <= window) best = { ...best, excluded: true };
        continue;
      }
      if (attributedStep === from && event.key !== key) continue;
      if (isOneOfMany && uses(previous.taken, event.row)) continue;
      const next: Entered = {
        start: previous.start,
        excluded: previous.excluded,
        taken: optional.has(step) ? previous.taken : { time: event.time, row: event.row, before: previous.taken },
        done: previous.done | (1 << (step - 1)),
      };
      if (!previous.excluded) entered[step] = { ...next };
      if (step > furthest || (step === furthest && best.excluded)) [furthest, best] = [step, next];
    }
    if (!isOneOfMany && rules.order === "strict") {
      for (let step = 1; step <= stepCount; step++) if (!steps.includes(step)) entered[step] = notEntered();
    }
  }

  for (let at = 0; at < events.length; ) {
    const first = events[at];
    if (!first) break;
    let end = at + 1;
    while (events[end]?.time === first.time) end++;
    entered[0] = { start: first.time, excluded: false, taken: undefined, done: 0 };
    const together = end - at === 1 ? undefined : events.slice(at, end);
    if (!together) take(first, first.steps, false);
    else if (together.every((it) => isEqualList(it.steps, first.steps))) {
      for (const event of together) take(event, event.steps, false);
    } else {
      // Events of the same time come in the order of the steps; exclusions do not count then.
      const single = together.flatMap((event) =>
        event.steps.filter((step) => step > 0).map((step) => ({ event, step })),
      );
      for (const { event, step } of single.sort((a, b) => a.step - b.step)) take(event, [step], true);
    }
    at = end;
    if ((entered[stepCount]?.start ?? 0) > 0) break;
  }

  if (best.excluded) return undefined;
  let left = 0;
  for (const step of optional) if (step <= furthest) left++;
  return { done: best.done, reached: furthest - 1 - left, durations: durationsOf(best.taken) };
}

/** Unordered funnels. */
function unorderedPath(events: readonly FunnelEvent[], key: number, rules: FunnelRules): FunnelPath {
  const { stepCount, window, attributedStep } = rules;
  let queues: FunnelEvent[][] = Array.from({ length: stepCount }, () => []);
  let open = 0;
  let most = 0;
  let times: number[] = [];

  function keepBest(): void {
    if (open <= most) return;
    most = open;
    times = queues.flatMap(([first]) => (first ? [first.time] : [])).sort((a, b) => a - b);
  }

  for (const [at, event] of events.entries()) {
    for (;;) {
      const oldest = oldestQueue(queues);
      if (!oldest) break;
      if (open < stepCount && (oldest[0]?.time ?? 0) + window >= event.time) break;
      keepBest();
      oldest.shift();
      if (oldest.length === 0) open--;
    }
    if (event.steps.every((step) => step < 0)) {
      queues = Array.from({ length: stepCount }, () => []);
      open = 0;
    } else if (attributedStep === undefined || open !== attributedStep || event.key === key) {
      const queue = emptiestQueue(queues, event.steps);
      if (queue.length === 0) open++;
      queue.push(event);
    }
    if (most === stepCount) break;
    if (at === events.length - 1) keepBest();
  }
  return {
    done: 2 ** most - 1,
    reached: most - 1,
    durations: times.slice(1).map((time, i) => (time - (times[i] ?? 0)) / 1000),
  };
}

export function oldestQueue<T extends { readonly time: number }>(queues: readonly T[][]): T[] | undefined {
  let oldest: T[] | undefined;
  for (const queue of queues) {
    const [first] = queue;
    if (first && first.time < (oldest?.[0]?.time ?? Infinity)) oldest = queue;
  }
  return oldest;
}

/** Of the steps that an event may be: the one whose last event is the oldest, or that has none. */
export function emptiestQueue<T extends { readonly time: number }>(
  queues: readonly T[][],
  steps: readonly number[],
): T[] {
  let found: T[] = [];
  let oldest = Infinity;
  for (const step of steps) {
    const queue = queues[step - 1];
    const time = queue?.[queue.length - 1]?.time ?? 0;
    if (queue && time < oldest) [found, oldest] = [queue, time];
  }
  return found;
}

/**
 * The path of an actor for a value of the breakdown.
 * @param events Ordered by time; only those that count for the value.
 * @returns undefined if an exclusion keeps the actor out of the funnel
 */
export const funnelPath = (events: readonly FunnelEvent[], key: number, rules: FunnelRules): FunnelPath | undefined =>
  rules.order === "unordered" ? unorderedPath(events, key, rules) : orderedPath(events, key, rules);
