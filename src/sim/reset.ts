import { setImmediate as turn } from "node:timers/promises";
import type { Loaded } from "../kernel/base/on-first-use.ts";
import { type Bytes, MemoryBytes } from "../kernel/store/bytes.ts";
import { scenarioPersonsOf, storePersons, worldOf } from "../lab/scenario/scenario.ts";
import { type ResetPart, resetParts } from "../lab/scenario/state/ports.ts";
import type { RunningExports } from "../service/batch-exports/open-exports.ts";
import type { Desk } from "../service/capture/desk.ts";
import type { World } from "../state/documents/world.ts";
import { openPersonStore, type PersonStore } from "../state/persons/person-store.ts";
import type { Foundation, SimSettings } from "./foundation.ts";
import type { Substitutes } from "./substitutes.ts";

export type Resetting = ReturnType<typeof createResetting>;

export function createResetting(
  { options, notice }: SimSettings,
  { scenario, store, newProjects, agenda, clockStart, traffic }: Foundation,
  { underway }: Desk,
  { faults, answers, replaying }: Substitutes,
  exports: Loaded<RunningExports>,
) {
  const { worlds, people, log } = store;

  /** Half of a batch must not outlive what it belongs to. */
  async function requestsSettled(): Promise<void> {
    do await turn();
    while (underway.size > 0);
  }

  /** The scenario's world. Where events of test projects stay, no later project gets the number of one of them. */
  function freshWorld(withoutEvents: boolean): World {
    const world = worldOf(scenario.current);
    const { projects = 0 } = withoutEvents ? {} : worlds.current.sequences;
    return { ...world, sequences: { ...world.sequences, projects: Math.max(projects, world.sequences.projects ?? 0) } };
  }

  function freshPersons(addMore: (people: PersonStore) => void): Bytes {
    const fresh = openPersonStore();
    storePersons(fresh, scenarioPersonsOf(scenario.current));
    addMore(fresh);
    const lines = new MemoryBytes();
    fresh.copyInto(lines);
    return lines;
  }

  async function resetNow(parts: ReadonlySet<ResetPart>, addPersons: (people: PersonStore) => void): Promise<void> {
    await requestsSettled();
    store.switchTo([
      ...(parts.has("world")
        ? [worlds.replacing(freshWorld(parts.has("events"))), scenario.applied.replacing(scenario.current, null)]
        : []),
      ...(parts.has("people") ? [people.replacing(freshPersons(addPersons))] : []),
      ...(parts.has("events") ? [log.replacing([], !store.snapshots.isEmpty)] : []),
    ]);
    if (exports.started) await resetExports(await exports.started, parts);
    if (parts.has("clock")) await agenda.change((it) => it.start(clockStart));
    if (parts.has("answers")) {
      answers.clear();
      replaying.rewind();
    }
    if (parts.has("faults")) faults.replace(scenario.current.faults ?? []);
    if (parts.has("events")) await traffic.capture();
  }

  /** Back to the scenario; `parts` restricts what is reset, `addPersons` stores persons beside the scenario's. */
  const reset = (...order: Parameters<typeof resetNow>): Promise<void> => traffic.inTurn(() => resetNow(...order));

  return {
    reset,
    /** Resolves when no request is half handled, no batch is in progress, and no traffic is being captured. */
    async settled(): Promise<void> {
      await traffic.settled();
      await requestsSettled();
    },
    /** Captures the traffic of a new world or new projects, and again what an earlier process did not finish. */
    async captureAtStart(): Promise<void> {
      const { state } = traffic;
      if (options.fresh === true) return reset(new Set(resetParts), () => {});
      if (state === "none") await traffic.captureOf(newProjects);
      if (state === "due") await traffic.capture();
      if (state !== "interrupted") return;
      notice("the scenario's traffic is incomplete: events and persons of the data folder begin anew");
      await reset(new Set(["events", "people"]), () => {});
    },
  };
}

async function resetExports({ files, forgetEvents }: RunningExports, parts: ReadonlySet<ResetPart>): Promise<void> {
  if (parts.has("world")) await files.clear();
  if (parts.has("events")) forgetEvents();
}
