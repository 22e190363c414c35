import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inOrder, type PlacedProblem, ScenarioError, type ScenarioProblem, shownProblem } from "./problems.ts";
import type { Scenario, ScenarioLayer } from "./schema.ts";
import { shippedFolder, shippedScenarios } from "./shipped.ts";
import type { ScenarioSource } from "./source.ts";

export { ScenarioError } from "./problems.ts";

/** A scenario that was read; without a scenario, the problems are the reason. */
export interface LoadedScenario {
  readonly scenario?: Scenario;
  readonly problems: readonly ScenarioProblem[];
  /** Parts that are allowed and cannot work, such as flags that depend on each other; empty if there are problems. */
  readonly warnings: readonly ScenarioProblem[];
  /** Absolute paths of the files that it came from, and of missing ones. */
  readonly files: readonly string[];
}

const isList = (source: ScenarioSource): source is readonly (string | ScenarioLayer)[] => Array.isArray(source);

/**
 * Reads and checks a scenario with everything that it extends, and returns all problems at once. It may be called
 * again at any time, and does not throw for the content of a file or a missing file.
 */
export async function readScenario(source: ScenarioSource): Promise<LoadedScenario> {
  if (source === "default") return shippedDefault();
  const { readLayers } = await import("./layers.ts");
  const { whole, problems, files } = await readLayers(isList(source) ? source : [source]);
  const checked = whole && (await import("./check-scenario.ts")).checkScenario(whole);
  const shown = (its: readonly PlacedProblem[]) => inOrder(its, files).map(shownProblem);
  const all = shown([...problems, ...(checked?.problems.filter(isElsewhere(problems)) ?? [])]);
  if (all.length > 0 || !checked?.scenario) return { problems: all, warnings: [], files };
  return { scenario: checked.scenario, problems: [], warnings: shown(checked.warnings), files };
}

/** True at places without a problem: the replacement of an unreadable value is wrong too, and reported once. */
function isElsewhere(problems: readonly PlacedProblem[]): (problem: PlacedProblem) => boolean {
  const known = new Map<unknown, Set<number>>();
  for (const { place } of problems) {
    const offsets = known.get(place.source) ?? new Set();
    known.set(place.source, offsets.add(place.offset));
  }
  return ({ place }) => known.get(place.source)?.has(place.offset) !== true;
}

/** A test checks it against the schema, so that a start needs neither the checker nor a parser. */
function shippedDefault(): LoadedScenario {
  const file = join(shippedFolder(), "default.json");
  return { scenario: JSON.parse(readFileSync(file, "utf8")), problems: [], files: [file], warnings: [] };
}

/** Loads a scenario (see `readScenario`). @throws ScenarioError with all problems */
export async function loadScenario(
  source: ScenarioSource,
  onWarnings?: (warnings: readonly ScenarioProblem[]) => void,
): Promise<Scenario> {
  const { scenario, problems, warnings, files } = await readScenario(source);
  if (!scenario) throw new ScenarioError(problems, files);
  if (warnings.length > 0) onWarnings?.(warnings);
  return scenario;
}

export interface ShippedScenario {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  readonly description: string;
}

/** The scenarios that come with phx-sim, `default` first. */
export const shippedList = (): Promise<ShippedScenario[]> =>
  Promise.all(
    [...shippedScenarios()].map(async ([name, file]) => {
      const { scenario } = await readScenario(name);
      return { name, file, description: scenario?.description ?? "" };
    }),
  );
