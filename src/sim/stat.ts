import { type CollectionName, collections } from "../state/documents/world.ts";
import type { FeedFacts } from "../state/journal/feed/open-feed.ts";
import type { Store } from "./folder/open-store.ts";
import type { Foundation } from "./foundation.ts";
import type { Substitutes } from "./substitutes.ts";

function recordingOf({ recordings }: Substitutes): FeedFacts["recording"] {
  const { state, mode, upstream } = recordings.facts();
  return state === "recording" && mode !== null ? { mode, upstream } : null;
}

const worldVersion = ({ worlds }: Store): number =>
  collections.reduce((sum: number, name: CollectionName) => sum + worlds.versionOf(name), 0);

export function factsForFeed({ clock, gauge, scenario, store }: Foundation, substitutes: Substitutes): FeedFacts {
  const { edit } = scenario;
  return {
    persons: store.people.counts().persons,
    in_flight: gauge.inFlight,
    clock: { now: clock.now(), frozen: clock.isFrozen, real: clock.isReal },
    faults: substitutes.faults.names(),
    tape: substitutes.replaying.tally(),
    recording: recordingOf(substitutes),
    scenario_problems: scenario.problems.length,
    scenario_edit: edit && { at: edit.at, summary: edit.summary },
    damage: store.damage.count,
    world: worldVersion(store),
  };
}
