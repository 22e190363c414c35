import type { SimClock } from "../kernel/base/clock.ts";
import type { Gauge } from "../kernel/http/gauge.ts";
import type { FaultRules } from "../lab/faults/rules.ts";
import type { ScenarioState } from "../lab/scenario/applied.ts";
import type { Recordings, TapePlayer } from "../lab/tapes/ports.ts";
import { type CollectionName, collections } from "../state/documents/world.ts";
import type { WorldStore } from "../state/documents/world-store.ts";
import type { FeedFacts } from "../state/journal/feed/open-feed.ts";
import type { PeopleStore } from "../state/persons/people-store.ts";

interface StatParts {
  readonly clock: SimClock;
  readonly faults: FaultRules;
  readonly gauge: Gauge;
  readonly people: PeopleStore;
  readonly tapes: TapePlayer;
  readonly recordings: Recordings;
  readonly worlds: WorldStore;
  readonly scenario: Pick<ScenarioState, "problems" | "edit">;
  /** Entries of the data folder that cannot be read. */
  readonly damage: { readonly count: number };
}

function recordingOf({ recordings }: StatParts): FeedFacts["recording"] {
  const { state, mode, upstream } = recordings.facts();
  return state === "recording" && mode !== null ? { mode, upstream } : null;
}

/** Grows with each change of a document. */
const worldVersion = ({ worlds }: StatParts): number =>
  collections.reduce((sum: number, name: CollectionName) => sum + worlds.versionOf(name), 0);

/** The facts of the sim that the feed reports. */
export function factsForFeed(parts: StatParts): FeedFacts {
  const { clock, faults, gauge, people, tapes, scenario, damage } = parts;
  const { edit } = scenario;
  return {
    persons: people.counts().persons,
    in_flight: gauge.inFlight,
    clock: { now: clock.now(), frozen: clock.isFrozen, real: clock.isReal },
    faults: faults.list().flatMap(({ state, name }) => (state === "active" ? [name] : [])),
    tape: tapes.tally(),
    recording: recordingOf(parts),
    scenario_problems: scenario.problems.length,
    scenario_edit: edit && { at: edit.at, summary: edit.summary },
    damage: damage.count,
    world: worldVersion(parts),
  };
}
