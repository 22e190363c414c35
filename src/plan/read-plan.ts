import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type JsonNode, parseCommentedJson } from "../base/commented-json.ts";
import { isObject, isTooDeep, type Json, type JsonObject, pointerTo } from "../base/json.ts";
import { readRegularFile } from "../base/regular-file.ts";
import { loadCompiler, plannedEvent, planOf, verify } from "./compile-plan.ts";
import { type Plan, PlanError, type PlanFile, type PlanProblem, type Position } from "./plan.ts";
import { schemaFrom } from "./plan-schema.ts";

/** The name of a plan's file. */
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

/** The content of a plan file, without its comments. @throws PlanError */
export async function planContent(path: string): Promise<PlanFile> {
  const file = resolve(path);
  return contentOf(textOf(file), file);
}

/** The content of a plan file's text. @throws PlanError */
export async function contentOf(text: string, file: string | null = null): Promise<PlanFile> {
  const [parsed, compile] = await Promise.all([parsePlanText(text, file), loadCompiler()]);
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

function objectIn(content: JsonObject, key: string): JsonObject {
  const value = content[key];
  return isObject(value) ? value : {};
}

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

type Path = readonly (string | number)[];

/** Parsed JSON with comments: the value, and the position of each part of it. */
export interface ParsedPlan {
  readonly value: Json;
  /** The position of the value at the path, or of its key; for a missing value, that of its parent. */
  positionOf(path: Path, isAboutKey?: boolean): Position;
  /** Duplicate keys. */
  readonly problems: readonly PlanProblem[];
}

/** No plan or configuration is nested deeper. */
const mostDepth = 60;

/** @throws PlanError when it is not JSON */
export async function parsePlanText(text: string, file: string | null): Promise<ParsedPlan> {
  const at = (offset: number): Position => positionIn(text, offset);
  const fail = (offset: number, message: string) =>
    new PlanError([{ file, ...at(offset), pointer: "", message, hint: null }]);
  const parsed = await survivingDepth(() => parseCommentedJson(text));
  if (parsed === "too deep") throw fail(0, "nested too deeply");
  const { root, mistake } = parsed;
  if (!root) throw fail(mistake.offset, mistake.text);
  const value = await survivingDepth(() => plainValue(root));
  if (value === "too deep" || isTooDeep(value.box, mostDepth)) throw fail(0, "nested too deeply");
  return {
    value: value.box,
    positionOf: (path, isAboutKey = false) => at(offsetAt(root, path, isAboutKey)),
    problems: duplicates(root, []).map(({ path, offset }) => ({
      file,
      ...at(offset),
      pointer: pointerTo(path),
      message: "duplicate key",
      hint: null,
    })),
  };
}

/** The parser itself is recursive. */
async function survivingDepth<T>(read: () => T | Promise<T>): Promise<T | "too deep"> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RangeError) return "too deep";
    throw error;
  }
}

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** In a box: a plan may be any JSON. Object.fromEntries defines keys, it does not assign them. */
const plainValue = (node: JsonNode): { box: Json } => ({ box: plain(node) });

function plain(node: JsonNode): Json {
  if (node.type === "array") return (node.children ?? []).map(plain);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(entriesOf(node).map(([key, value]) => [String(key.value), plain(value)]));
}

const entriesOf = (node: JsonNode): [key: JsonNode, value: JsonNode][] =>
  (node.children ?? []).flatMap(({ children: [key, value] = [] }): [JsonNode, JsonNode][] =>
    key && value ? [[key, value]] : [],
  );

function duplicates(node: JsonNode, path: Path): { path: Path; offset: number }[] {
  if (node.type === "array") return (node.children ?? []).flatMap((it, i) => duplicates(it, [...path, i]));
  if (node.type !== "object") return [];
  const known = new Set<string>();
  return entriesOf(node).flatMap(([key, value]) => {
    const here = [...path, String(key.value)];
    const isNew = known.size !== known.add(String(key.value)).size;
    return [...(isNew ? [] : [{ path: here, offset: key.offset }]), ...duplicates(value, here)];
  });
}

function offsetAt(root: JsonNode, path: Path, isAboutKey: boolean): number {
  let [key, value] = [root, root];
  for (const step of path) {
    const next = childOf(value, String(step));
    if (!next) return value.offset;
    [key, value] = next;
  }
  return (isAboutKey ? key : value).offset;
}

function childOf(node: JsonNode, step: string): [key: JsonNode, value: JsonNode] | undefined {
  if (node.type === "object") return entriesOf(node).findLast(([key]) => key.value === step);
  const item = node.children?.[Number(step)];
  return item && [item, item];
}
