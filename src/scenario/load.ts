import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Json } from "../kernel/json.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import { problemsError, ScenarioError } from "./problems.ts";
import type { Scenario } from "./schema.ts";

export { ScenarioError } from "./problems.ts";

/** The folder of the shipped scenarios: beside `dist` in the package, beside `src` in the repository. */
function shippedFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "scenarios", "default.json"))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new ScenarioError("the shipped scenarios are missing", "install phx-sim again");
    folder = parent;
  }
  return join(folder, "scenarios");
}

/**
 * Loads a scenario: a shipped one by its bare name, any other by its path; or takes one as it is given.
 * Shipped files are held against the schema by a test, so the checker (zod) is not loaded for them.
 * @throws ScenarioError with a line for each thing that is wrong.
 */
export async function loadScenario(source: string | Scenario): Promise<Scenario> {
  // What is given is copied: keys that are undefined are absent, and later changes of the caller's do nothing.
  if (typeof source === "object") return check("scenario", JSON.parse(JSON.stringify(source)));
  const shipped = join(shippedFolder(), `${source}.json`);
  if (/^[\w-]+$/.test(source) && existsSync(shipped)) return JSON.parse(readFileSync(shipped, "utf8"));
  return check(source, parse(source, read(resolve(source))));
}

function read(path: string): string {
  try {
    // Some editors put a byte order mark in front.
    return readFileSync(path, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : (error as Error).message;
    throw new ScenarioError(`${path}: ${reason}`, "give the path of a scenario file, or `default`");
  }
}

function parse(path: string, text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    throw new ScenarioError(`${path}:${line}:${column} is not JSON`, "mend the file and start again");
  }
}

async function check(name: string, value: Json): Promise<Scenario> {
  const { checkScenario } = await import("./check.ts");
  const { scenario, problems } = checkScenario(value);
  if (!scenario || problems.length > 0) throw problemsError(name, problems);
  return scenario;
}
