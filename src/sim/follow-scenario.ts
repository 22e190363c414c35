import type { Faults } from "../faults/faults.ts";
import { readScenario, type ScenarioSource } from "../scenario/load.ts";
import { linesOf, type ScenarioProblem } from "../scenario/problems.ts";
import { type OnChange, reloadedWorld } from "../scenario/reload.ts";
import { peopleOf, type Scenario, worldOf } from "../scenario/scenario.ts";
import { watchScenario } from "../scenario/watch.ts";
import type { Store } from "../store/store.ts";
import type { WorldStore } from "../store/world.ts";

/** What a running sim makes of an edit of its scenario. */
export interface FollowOptions {
  source: ScenarioSource;
  mode: Exclude<OnChange, "ignore">;
  /** The scenario that the sim runs on; set when another takes its place. */
  scenario: { current: Scenario };
  worlds: WorldStore;
  switchTo: Store["switchTo"];
  faults: Faults;
  /** Told what is wrong with the files now; an empty list: nothing. */
  onProblems(problems: readonly ScenarioProblem[]): void;
  /** Told when another scenario is in force. */
  onApplied(): void;
  notice(text: string): void;
}

/** The rest is in `info`. */
const problemsTold = 5;

const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

/** Puts the edited scenario in the place of the old one: whole, or not at all. */
function apply({ mode, scenario, worlds, switchTo, faults, notice }: FollowOptions, next: Scenario): void {
  const before = worldOf(scenario.current);
  const after = worldOf(next);
  const { world, taken } =
    mode === "reset" ? { world: after, taken: [] } : reloadedWorld(before, after, worlds.current);
  switchTo([worlds.replacing(world)]);
  if (differ(scenario.current.faults, next.faults)) faults.replace(next.faults ?? []);
  const stays = differ(scenario.current.dialect, next.dialect);
  const lateChanges = [
    ...(differ(peopleOf(scenario.current), peopleOf(next)) ? ["persons and groups"] : []),
    ...(differ(scenario.current.clock, next.clock) ? ["the clock"] : []),
  ];
  scenario.current = next;
  notice("the scenario was edited and is in force");
  for (const { collection, id } of taken) {
    notice(
      `${collection} ${id} was made while the sim ran and keeps its number; a reset takes the scenario's`,
    );
  }
  if (stays) notice("the dialect of the scenario counts from the next start on");
  if (lateChanges.length > 0)
    notice(`${lateChanges.join(" and ")} of the scenario count from the next reset on`);
}

/** Follows the scenario's files until it is closed. A scenario without files needs nobody to follow it. */
export async function followScenario(options: FollowOptions): Promise<{ close(): Promise<void> }> {
  const { source, scenario, onProblems, notice } = options;
  const { files } = await readScenario(source);
  if (files.length === 0) return { close: async () => {} };
  return watchScenario({
    source,
    first: { scenario: scenario.current, problems: [], files },
    onScenario(next) {
      onProblems([]);
      apply(options, next);
      options.onApplied();
    },
    onInvalid({ problems }) {
      onProblems(problems);
      const lines = linesOf(problems.slice(0, problemsTold));
      notice(["the edited scenario is not valid, the last good one stays:", ...lines].join("\n  "));
    },
    onError: (error) => notice(`the scenario's files cannot be followed: ${String(error)}`),
  });
}
