import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  inOrder,
  type PlacedProblem,
  ScenarioError,
  type ScenarioProblem,
  shownProblem,
} from "./problems.ts";
import type { Scenario, ScenarioLayer } from "./schema.ts";
import { shippedFolder } from "./shipped.ts";

export { ScenarioError } from "./problems.ts";

/**
 * A shipped scenario's name, the path of a scenario file, a scenario, or a list of these: later ones are
 * laid over earlier ones.
 */
export type ScenarioSource = string | Scenario | ScenarioLayer | readonly (string | ScenarioLayer)[];

/** What came of reading a scenario; without a scenario there are problems that say why. */
export interface LoadedScenario {
  readonly scenario?: Scenario;
  /** By file and place. */
  readonly problems: readonly ScenarioProblem[];
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
  const { tree, problems, files } = await readLayers(isList(source) ? source : [source]);
  const { scenario, problems: found } = tree ? await check(tree) : { scenario: undefined, problems: [] };
  const all = told([...problems, ...found.filter((it) => !isKnown(it, problems))], files);
  return { ...(scenario && all.length === 0 && { scenario }), problems: all, files };
}

async function check(tree: Parameters<typeof import("./check.ts").checkScenario>[0]) {
  const { checkScenario } = await import("./check.ts");
  return checkScenario(tree);
}

/** What could not be read has been replaced by something that is wrong, too. */
const isKnown = ({ place }: PlacedProblem, problems: readonly PlacedProblem[]): boolean =>
  problems.some((it) => it.place.source === place.source && it.place.offset === place.offset);

const told = (problems: readonly PlacedProblem[], files: readonly string[]): ScenarioProblem[] =>
  inOrder(problems, files).map(shownProblem);

/** A test holds it against the schema, so that the start needs neither the checker nor a parser. */
function shippedDefault(): LoadedScenario {
  const file = join(shippedFolder(), "default.json");
  return { scenario: JSON.parse(readFileSync(file, "utf8")), problems: [], files: [file] };
}

/**
 * Loads a scenario (see `readScenario`).
 * @throws ScenarioError with everything that is wrong.
 */
export async function loadScenario(source: ScenarioSource): Promise<Scenario> {
  const { scenario, problems, files } = await readScenario(source);
  if (!scenario) throw new ScenarioError(problems, files);
  return scenario;
}

/** The files whose changes change the scenario, for a watcher; those that are missing are among them. */
export const watchList = ({ files }: Pick<LoadedScenario, "files">): readonly string[] => files;
