import type { Faults } from "../faults/rules.ts";
import type { Store } from "../sim/folder/open-store.ts";
import type { WorldStore } from "../world/world-store.ts";
import { changesInWords, type ScenarioChange, scenarioChanges } from "./changes.ts";
import { readScenario, type ScenarioSource } from "./load.ts";
import { problemNotice, type ScenarioProblem, warningNotice } from "./problems.ts";
import { type OnChange, reloadedWorld } from "./reload.ts";
import { peopleOf, type Scenario, worldOf } from "./scenario.ts";
import { watchScenario } from "./watch.ts";

/** The scenario that a sim runs on, and how its files are. */
export interface ScenarioState {
  current: Scenario;
  /** What is wrong with the files now; the scenario before stays. */
  problems: readonly ScenarioProblem[];
  /** What of the current scenario cannot work. */
  warnings: readonly ScenarioProblem[];
  /** The last edit that is in force. */
  edit: ScenarioEdit | null;
}

interface ScenarioEdit {
  /** The machine's time, ms. */
  readonly at: number;
  /** In words, in one line. */
  readonly summary: string;
  /** The first ones. */
  readonly changes: readonly ScenarioChange[];
  /** How many there are. */
  readonly count: number;
}

/** What a running sim makes of an edit of its scenario. */
export interface FollowOptions {
  source: ScenarioSource;
  mode: Exclude<OnChange, "ignore">;
  /** Changed with each edit. */
  scenario: ScenarioState;
  worlds: WorldStore;
  switchTo: Store["switchTo"];
  faults: Faults;
  /** Told when another scenario is in force. */
  onApplied(): void;
  notice(text: string): void;
}

/** As many changes as `info` lists. */
const changesKept = 100;

function editOf(before: Scenario, after: Scenario): ScenarioEdit {
  const changes = scenarioChanges(before, after);
  const summary = changesInWords(changes) || "nothing that counts changed";
  return { at: Date.now(), summary, changes: changes.slice(0, changesKept), count: changes.length };
}

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
  scenario.edit = editOf(scenario.current, next);
  scenario.current = next;
  notice(`the scenario was edited and is in force: ${scenario.edit.summary}`);
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
  const { source, scenario, notice } = options;
  const { files } = await readScenario(source);
  if (files.length === 0) return { close: async () => {} };
  return watchScenario({
    source,
    first: { scenario: scenario.current, problems: [], files },
    onScenario(next, warnings) {
      scenario.problems = [];
      scenario.warnings = warnings;
      apply(options, next);
      if (warnings.length > 0) notice(warningNotice(warnings));
      options.onApplied();
    },
    onInvalid({ problems }) {
      scenario.problems = problems;
      notice(problemNotice("the edited scenario is not valid, the last good one stays:", problems));
    },
    onError: (error) => notice(`the scenario's files cannot be followed: ${String(error)}`),
  });
}
