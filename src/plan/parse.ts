import { type JsonNode, parseCommentedJson } from "../kernel/commented-json.ts";
import { isTooDeep, type Json } from "../kernel/json.ts";
import { pointerTo } from "../kernel/json-pointer.ts";
import { PlanError, type PlanProblem, type Position } from "./problems.ts";

type Path = readonly (string | number)[];

/** A JSON text (comments allowed), read: the value, and where each part of it is. */
export interface Parsed {
  readonly value: Json;
  /** Where the value at the path stands, or its key; what is missing stands where it would be: in its parent. */
  positionOf(path: Path, isAboutKey?: boolean): Position;
  /** Keys that are there twice. */
  readonly problems: readonly PlanProblem[];
}

/** Deeper than anything that is meant. */
const mostDepth = 60;

/** @throws PlanError when it is not JSON */
export async function parsePlanText(text: string, file: string | null): Promise<Parsed> {
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
    problems: twice(root, []).map(({ path, offset }) => ({
      file,
      ...at(offset),
      pointer: pointerTo(path),
      message: "this key is there twice",
      hint: null,
    })),
  };
}

/** The parser itself goes down with the stack. */
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

function twice(node: JsonNode, path: Path): { path: Path; offset: number }[] {
  if (node.type === "array") return (node.children ?? []).flatMap((it, i) => twice(it, [...path, i]));
  if (node.type !== "object") return [];
  const known = new Set<string>();
  return entriesOf(node).flatMap(([key, value]) => {
    const here = [...path, String(key.value)];
    const isNew = known.size !== known.add(String(key.value)).size;
    return [...(isNew ? [] : [{ path: here, offset: key.offset }]), ...twice(value, here)];
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
