import type { ControlDesk } from "../../sim/control-desk.ts";
import { type CollectionName, collections } from "../../world/world.ts";
import type { RunningCounts } from "./counts.ts";
import type { Stat } from "./frames.ts";

type StatDesk = Pick<
  ControlDesk,
  "clock" | "faults" | "gauge" | "people" | "recordings" | "tapes" | "worlds" | "scenario" | "damageCount"
>;

function recordingOf({ recordings }: StatDesk): Stat["recording"] {
  const { state, mode, upstream } = recordings.facts();
  return state === "recording" && mode !== null ? { mode, upstream } : null;
}

/** Each change of a document makes one of these grow. */
const worldVersion = ({ worlds }: StatDesk): number =>
  collections.reduce((sum: number, name: CollectionName) => sum + worlds.versionOf(name), 0);

/** How the sim is. */
export function statOf(desk: StatDesk, counts: RunningCounts): Omit<Stat, "pages"> {
  const { clock, faults, gauge, people, tapes } = desk;
  const { requests, rejected, events, kept, dropped } = counts.now();
  const { problems, edit } = desk.scenario();
  return {
    at: Date.now(),
    requests,
    rejected,
    events,
    kept,
    dropped,
    persons: people.counts().persons,
    in_flight: gauge.inFlight,
    clock: { now: clock.now(), frozen: clock.isFrozen, real: clock.isReal },
    faults: faults.list().flatMap(({ state, name }) => (state === "active" ? [name] : [])),
    tape: tapes.tally(),
    recording: recordingOf(desk),
    scenario_problems: problems,
    scenario_edit: edit && { at: edit.at, summary: edit.summary },
    damage: desk.damageCount(),
    world: worldVersion(desk),
  };
}
