import type { Agenda } from "../../kernel/base/agenda.ts";
import { type ClockStart, isoOf, type SimClock } from "../../kernel/base/clock.ts";
import type { ClockFacts } from "./shapes.ts";

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
