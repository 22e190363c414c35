import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Scenario } from "./scenario.ts";

/** A scenario that cannot be used: one sentence with the place, and what to do. */
export class ScenarioError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "ScenarioError";
    this.hint = hint;
  }
}

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
 * Loads a scenario: a shipped one by its bare name, any other by its path.
 * Shipped files are held against the schema by a test, so the checker (zod) is not loaded for them.
 * @throws ScenarioError
 */
export async function loadScenario(nameOrPath: string): Promise<Scenario> {
  const shipped = join(shippedFolder(), `${nameOrPath}.json`);
  if (/^[\w-]+$/.test(nameOrPath) && existsSync(shipped)) return JSON.parse(readFileSync(shipped, "utf8"));
  return check(nameOrPath, parse(nameOrPath, read(resolve(nameOrPath))));
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : (error as Error).message;
    throw new ScenarioError(`${path}: ${reason}`, "give the path of a scenario file, or `default`");
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ScenarioError(
      `${path}: not JSON: ${(error as Error).message}`,
      "mend the file and start again",
    );
  }
}

async function check(path: string, value: unknown): Promise<Scenario> {
  const { ScenarioSchema } = await import("./schema.ts");
  const result = ScenarioSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const pointer = issue ? `/${issue.path.join("/")}` : "";
  throw new ScenarioError(`${path}: ${pointer}: ${issue?.message}`, "mend the file and start again");
}
