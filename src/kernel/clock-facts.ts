import type { Agenda } from "./agenda.ts";
import type { ClockStart, SimClock } from "./clock.ts";

/** A clock as it is shown; `starts` is what a reset makes of it. */
export interface ClockFacts {
  now: string;
  frozen: boolean;
  /** Does it show the machine's time? */
  real: boolean;
  next_due: string | null;
  starts: { now: string; frozen: boolean };
}

const isoOf = (time: number): string => new Date(time).toISOString();

export function clockFacts(clock: SimClock, agenda: Pick<Agenda, "nextDue">, start: ClockStart): ClockFacts {
  const next = agenda.nextDue();
  return {
    now: isoOf(clock.now()),
    frozen: clock.isFrozen,
    real: clock.isReal,
    next_due: next === undefined ? null : isoOf(next),
    starts: { now: start.at === "real" ? start.at : isoOf(start.at), frozen: start.frozen },
  };
}
