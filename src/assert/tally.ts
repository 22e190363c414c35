import type { StoredEvent } from "../journal/event.ts";
import { countOf, fitsEvent } from "./match/judge.ts";
import type { Terms } from "./match/types.ts";

/** Keeps count of events as they come, so that each is compared once. */
export interface Tally {
  take(event: StoredEvent): void;
  /** The events that the terms are about, in order of arrival. */
  readonly events: readonly StoredEvent[];
  /** Is every minimum reached, in the order that is asked? */
  isMet(): boolean;
  /** Is there too much of something, whatever may come? */
  isExceeded(): boolean;
}

/** @param terms As `judge` has them: it says the same of the events, and why. */
export function createTally(terms: Terms): Tally {
  const limits = terms.expect.map((expectation) => {
    const { min = 0, max = Number.POSITIVE_INFINITY } = countOf(expectation);
    return { match: expectation.match, min, max };
  });
  const counts = limits.map(() => 0);
  const events: StoredEvent[] = [];
  /** Expectations with a minimum; how many of them are served in order, and how far the next one is. */
  const steps = limits.filter(({ min }) => min > 0);
  let served = 0;
  let ofNext = 0;

  function serve(event: StoredEvent): void {
    const step = steps[served];
    if (!step || !fitsEvent(step.match, event)) return;
    if (++ofNext < step.min) return;
    served++;
    ofNext = 0;
  }

  return {
    events,
    take(event) {
      let isWanted = terms.nothingElse === true;
      for (const [i, { match }] of limits.entries()) {
        if (!fitsEvent(match, event)) continue;
        counts[i] = (counts[i] ?? 0) + 1;
        isWanted = true;
      }
      if (isWanted) events.push(event);
      if (terms.ordered) serve(event);
    },
    isMet: () =>
      limits.every(({ min }, i) => (counts[i] ?? 0) >= min) && (!terms.ordered || served === steps.length),
    isExceeded: () => limits.some(({ max }, i) => (counts[i] ?? 0) > max),
  };
}
