import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

/** The folder of the shipped scenarios: beside `dist` in the package, beside `src` in the repository. */
export function shippedFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "scenarios", "default.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("the shipped scenarios are missing: install phx-sim again");
    folder = parent;
  }
  return join(folder, "scenarios");
}

/** Names of the shipped scenarios, `default` first, and their files. */
export function shippedScenarios(folder = shippedFolder()): Map<string, string> {
  const files = readdirSync(folder).filter((it) => !it.endsWith(".schema.json"));
  const names = files.map((file): [string, string] => [basename(file, extname(file)), join(folder, file)]);
  const rank = (name: string): string => (name === "default" ? "" : name);
  return new Map(names.sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1)));
}

/** The published JSON Schema (draft-07) of scenario files, as text. */
export const scenarioSchemaText = (): string => readFileSync(join(shippedFolder(), "scenario.schema.json"), "utf8");
