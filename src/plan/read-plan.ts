import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isObject, type JsonObject } from "../kernel/json.ts";
import { parsePlanText } from "./parse.ts";
import { plannedEvent, planOf, verify } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { schemaFrom } from "./shorthand.ts";
import type { Plan, PlanFile } from "./types.ts";
import { loadCompiler } from "./validator.ts";

/** What a plan's file is called. */
export const planName = "events.plan.json";

/** The nearest `events.plan.json` at or above the folder; undefined when there is none. */
export async function findPlan(folder: string): Promise<string | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, planName);
    if (await isFile(file)) return file;
    if (dirname(at) === at) return undefined;
  }
}

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (it) => it.isFile(),
    () => false,
  );

/**
 * Reads a plan file: JSON, comments allowed.
 * @throws PlanError with everything that is wrong with it, each with file, line and column
 */
export async function readPlan(path: string): Promise<Plan> {
  const content: unknown = await planContent(path);
  return planOf({ ...partsOf(isObject(content) ? content : {}), file: resolve(path), content: null });
}

/** What a plan file says, without its comments. @throws PlanError */
export async function planContent(path: string): Promise<PlanFile> {
  const file = resolve(path);
  return contentOf(await textOf(file), file);
}

/** What the text of a plan file says. @throws PlanError */
export async function contentOf(text: string, file: string | null = null): Promise<PlanFile> {
  const [parsed, compile] = await Promise.all([parsePlanText(text, file), loadCompiler()]);
  verify(parsed.value, compile, file, parsed.positionOf, parsed.problems);
  // Its schema was just found to hold.
  return parsed.value as PlanFile;
}

/** A plan from a plan file's content, e.g. that of `inferPlan`; what is wrong with it is told when it is used. */
export function planFrom(value: PlanFile): Plan {
  const content: unknown = value;
  if (!isObject(content)) throw new TypeError("a plan is an object");
  return planOf({ ...partsOf(content), file: null, content });
}

/** What is of the wrong kind is left out here: it is told when the plan is used. */
const partsOf = (content: JsonObject) => ({
  title: typeof content.title === "string" ? content.title : null,
  unplanned: content.unplanned === "ignore" ? ("ignore" as const) : ("error" as const),
  events: Object.entries(objectIn(content, "events")).map(([name, entry]) => plannedEvent(name, entry)),
  definitions: Object.fromEntries(
    Object.entries(objectIn(content, "$defs")).map(([name, it]) => [name, schemaFrom(it)]),
  ),
});

function objectIn(content: JsonObject, key: string): JsonObject {
  const value = content[key];
  return isObject(value) ? value : {};
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "this is a folder",
  EACCES: "permission denied",
};

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const message = `cannot be read: ${reasons[code] ?? code}`;
    throw new PlanError([{ file, line: null, column: null, pointer: "", message, hint: null }]);
  }
}
