import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isObject, type JsonObject, objectIn } from "../../kernel/base/json.ts";
import { JsonError, parsePlacedJson } from "../../kernel/base/json-places.ts";
import { readRegularFile } from "../../kernel/base/regular-file.ts";
import { loadCompiler, plannedEvent, planOf, verify } from "./compile-plan.ts";
import { type Plan, PlanError, type PlanFile } from "./plan.ts";
import { schemaFrom } from "./plan-schema.ts";

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

/** Without its comments. @throws PlanError */
export async function planContent(path: string): Promise<PlanFile> {
  const file = resolve(path);
  return contentOf(textOf(file), file);
}

/** The content of a plan file's text. @throws PlanError */
export async function contentOf(text: string, file: string | null = null): Promise<PlanFile> {
  const [parsed, compile] = await Promise.all([placedPlan(text, file), loadCompiler()]);
  verify(parsed.value, compile, file, parsed.positionOf, parsed.problems);
  // It was just checked against its schema.
  return parsed.value as PlanFile;
}

/** A plan from a plan file's content, e.g. that of `inferPlan`; its mistakes are reported when it is used. */
export function planFrom(value: PlanFile): Plan {
  const content: unknown = value;
  if (!isObject(content)) throw new TypeError("a plan is an object");
  return planOf({ ...partsOf(content), file: null, content });
}

/** Leaves out values of the wrong kind: they are reported when the plan is used. */
const partsOf = (content: JsonObject) => ({
  title: typeof content.title === "string" ? content.title : null,
  unplanned: content.unplanned === "ignore" ? ("ignore" as const) : ("error" as const),
  events: Object.entries(objectIn(content, "events")).map(([name, entry]) => plannedEvent(name, entry)),
  definitions: Object.fromEntries(
    Object.entries(objectIn(content, "$defs")).map(([name, it]) => [name, schemaFrom(it)]),
  ),
});

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  NOT_REGULAR: "it is a pipe, a socket or a device",
  ENXIO: "it is a pipe, a socket or a device",
  TOO_LARGE: "it is larger than 64 MB",
};

const mostBytes = 64 * 1024 * 1024;

function textOf(file: string): string {
  try {
    return readRegularFile(file, mostBytes)
      .toString()
      .replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const message = `cannot be read: ${reasons[code] ?? code}`;
    throw new PlanError([{ file, line: null, column: null, pointer: "", message, hint: null }]);
  }
}

/** @throws PlanError when it is not JSON */
async function placedPlan(text: string, file: string | null) {
  try {
    const { value, positionOf, mistakes } = await parsePlacedJson(text);
    return { value, positionOf, problems: mistakes.map((it) => ({ file, ...it, hint: null })) };
  } catch (error) {
    if (error instanceof JsonError) throw new PlanError([{ file, ...error.mistake, hint: null }]);
    throw error;
  }
}
