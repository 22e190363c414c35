import type { FunnelEvent } from "./funnel-steps.ts";
import { emptiestQueue, type FunnelRules, oldestQueue } from "./funnel-steps.ts";

/**
 * In which intervals an actor enters a funnel, and whether it gets through from there. Upstream PostHog/posthog
 * funnel-udf/src/trends.rs, unordered_trends.rs.
 */

export interface TrendEvent extends FunnelEvent {
  /** Index of the interval of the event's time. */
  readonly interval: number;
}

export interface TrendRules extends FunnelRules {
  /** Steps from 1: an entry is counted from here … */
  readonly fromStep: number;
  /** … and has succeeded here. */
  readonly toStep: number;
}

/** By interval: true if the actor has reached the last step. */
export type Entries = Map<number, boolean>;

/** `partly`: an exclusion came after the step; `fully`: and the next step after that. */
type Exclusion = "no" | "partly" | "fully";

interface Open {
  furthest: number;
  /** Time of the furthest step. */
  time: number;
  exclusion: Exclusion;
  /** Start of each step, ms; 0: not entered. */
  readonly starts: number[];
  readonly excluded: boolean[];
}

function orderedEntries(events: readonly TrendEvent[], key: number, rules: TrendRules): Entries {
  const { stepCount, window, attributedStep, fromStep, toStep } = rules;
  const open = new Map<number, Open>();
  const entries: Entries = new Map();

  function enter({ interval, time }: TrendEvent): void {
    if (entries.has(interval)) return;
    const known = open.get(interval);
    if (known && !(known.furthest === 1 && known.exclusion !== "no")) {
      known.starts[1] = time;
      known.excluded[1] = false;
      return;
    }
    const starts = new Array<number>(stepCount + 1).fill(0);
    starts[1] = time;
    open.set(interval, { furthest: 1, time, exclusion: "no", starts, excluded: [] });
  }

  function advance(event: TrendEvent, step: number, isExclusion: boolean, isAttributed: boolean): void {
    for (const [interval, it] of open) {
      const start = it.starts[step - 1] ?? 0;
      if (start === 0 || event.time - start > window || it.starts[step] === start) continue;
      const isExcluded = it.excluded[step - 1] === true;
      if (isExclusion) {
        if (isExcluded) continue;
        it.excluded[step - 1] = true;
        if (it.furthest === step - 1 && event.time - it.time <= window) it.exclusion = "partly";
        continue;
      }
      if (!isAttributed) continue;
      if (!isExcluded) {
        it.starts[step] = start;
        it.excluded[step] = false;
      }
      if ((it.starts[toStep] ?? 0) !== 0) {
        entries.set(interval, true);
        open.delete(interval);
      } else if (step > it.furthest || (step === it.furthest && it.exclusion === "partly")) {
        it.furthest = step;
        it.time = event.time;
        it.exclusion = isExcluded ? "fully" : "no";
      }
    }
  }

  for (const event of events) {
    for (let i = event.steps.length - 1; i >= 0; i--) {
      const signed = event.steps[i] ?? 0;
      const step = Math.abs(signed);
      const isAttributed = attributedStep !== step - 1 || event.key === key;
      if (step > 1) advance(event, step, signed < 0, isAttributed);
      else if (isAttributed) enter(event);
    }
    if (rules.order !== "strict") continue;
    for (const { starts } of open.values()) {
      for (let step = 1; step <= stepCount; step++) if (!event.steps.includes(step)) starts[step] = 0;
    }
  }

  const left = [...open].filter(([interval]) => !entries.has(interval));
  if (!left.some(([, it]) => it.exclusion === "fully")) {
    for (const [interval, it] of left) {
      if (it.furthest >= fromStep && it.exclusion !== "partly") entries.set(interval, false);
    }
  }
  return entries;
}

function unorderedEntries(events: readonly TrendEvent[], key: number, rules: TrendRules): Entries {
  const { stepCount, window, attributedStep, fromStep, toStep } = rules;
  let queues: TrendEvent[][] = Array.from({ length: stepCount }, () => []);
  let open = 0;
  const most = new Map<number, number>();

  function close(latest: number, isLast: boolean): void {
    for (let oldest = oldestQueue(queues); oldest; oldest = oldestQueue(queues)) {
      const [first] = oldest;
      if (!first || !(isLast || open >= stepCount || first.time + window < latest)) return;
      if (open > (most.get(first.interval) ?? 0)) most.set(first.interval, open);
      oldest.shift();
      if (oldest.length === 0) open--;
    }
  }

  for (const event of events) {
    close(event.time, false);
    if (event.steps.every((step) => step < 0)) {
      queues = Array.from({ length: stepCount }, () => []);
      open = 0;
    } else if (attributedStep === undefined || open !== attributedStep || event.key === key) {
      const queue = emptiestQueue(queues, event.steps);
      if (queue.length === 0) open++;
      queue.push(event);
    }
  }
  close(Infinity, true);

  const entries: Entries = new Map();
  for (const [interval, steps] of most) if (steps >= fromStep) entries.set(interval, steps >= toStep);
  return entries;
}

/** @param events Ordered by time; only those that count for the value of the breakdown. */
export const funnelEntries = (events: readonly TrendEvent[], key: number, rules: TrendRules): Entries =>
  rules.order === "unordered" ? unorderedEntries(events, key, rules) : orderedEntries(events, key, rules);
