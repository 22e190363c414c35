import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  inOrder,
  type PlacedProblem,
  ScenarioError,
  type ScenarioProblem,
  shownProblem,
} from "./problems.ts";
import type { AuthoredScenario, Scenario, ScenarioLayer } from "./schema.ts";
import { shippedFolder } from "./shipped.ts";

export { ScenarioError } from "./problems.ts";

/**
 * A shipped scenario's name, the path of a scenario file, a scenario, or a list of these: later ones are
 * laid over earlier ones.
 */
export type ScenarioSource = string | AuthoredScenario | ScenarioLayer | readonly (string | ScenarioLayer)[];

/** What came of reading a scenario; without a scenario there are problems that say why. */
export interface LoadedScenario {
  readonly scenario?: Scenario;
  /** By file and place. */
  readonly problems: readonly ScenarioProblem[];
  /** What is allowed and cannot work, such as flags that depend on each other; known once there are no problems. */
  readonly warnings: readonly ScenarioProblem[];
  /** Absolute paths of the files that it came from, or should have. */
  readonly files: readonly string[];
}

const isList = (source: ScenarioSource): source is readonly (string | ScenarioLayer)[] =>
  Array.isArray(source);

/**
 * Reads and checks a scenario with everything that it extends. Everything that is wrong is told; it may be
 * called again at any time. Never throws for what a file says or that it is not there.
 */
export async function readScenario(source: ScenarioSource): Promise<LoadedScenario> {
  if (source === "default") return shippedDefault();
  const { readLayers } = await import("./layers.ts");
  const { whole, problems, files } = await readLayers(isList(source) ? source : [source]);
  const checked = whole && (await import("./check.ts")).checkScenario(whole);
  const isNew = unknownTo(problems);
  const all = told([...problems, ...(checked?.problems.filter(isNew) ?? [])], files);
  if (all.length > 0 || !checked?.scenario) return { problems: all, warnings: [], files };
  return { scenario: checked.scenario, problems: [], warnings: told(checked.warnings, files), files };
}

/** What could not be read has been replaced by something that is wrong, too: each place is reported once. */
function unknownTo(problems: readonly PlacedProblem[]): (problem: PlacedProblem) => boolean {
  const known = new Map<unknown, Set<number>>();
  for (const { place } of problems) {
    const offsets = known.get(place.source) ?? new Set();
    known.set(place.source, offsets.add(place.offset));
  }
  return ({ place }) => known.get(place.source)?.has(place.offset) !== true;
}

const told = (problems: readonly PlacedProblem[], files: readonly string[]): ScenarioProblem[] =>
  inOrder(problems, files).map(shownProblem);

/** A test holds it against the schema, so that the start needs neither the checker nor a parser. */
function shippedDefault(): LoadedScenario {
  const file = join(shippedFolder(), "default.json");
  return { scenario: JSON.parse(readFileSync(file, "utf8")), problems: [], files: [file], warnings: [] };
}

/**
 * Loads a scenario (see `readScenario`).
 * @throws ScenarioError with everything that is wrong.
 */
export async function loadScenario(
  source: ScenarioSource,
  onWarnings?: (warnings: readonly ScenarioProblem[]) => void,
): Promise<Scenario> {
  const { scenario, problems, warnings, files } = await readScenario(source);
  if (!scenario) throw new ScenarioError(problems, files);
  if (warnings.length > 0) onWarnings?.(warnings);
  return scenario;
}

/** The files whose changes change the scenario, for a watcher; those that are missing are among them. */
export const watchList = ({ files }: Pick<LoadedScenario, "files">): readonly string[] => files;
