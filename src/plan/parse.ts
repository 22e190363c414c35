import type { Node } from "jsonc-parser";
import { isTooDeep, type Json } from "../kernel/json.ts";
import { pointerTo } from "../kernel/json-pointer.ts";
import { PlanError, type PlanProblem, type Position } from "./problems.ts";

type Path = readonly (string | number)[];

/** A JSON text (comments allowed), read: the value, and where each part of it stands. */
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
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const at = (offset: number): Position => positionIn(text, offset);
  const fail = (offset: number, message: string) =>
    new PlanError([{ file, ...at(offset), pointer: "", message, hint: null }]);
  const errors: NonNullable<Parameters<typeof parseTree>[1]> = [];
  const root = survivingDepth(() => parseTree(text, errors, { allowTrailingComma: true }));
  if (root === "too deep") throw fail(0, "nested too deeply");
  // What follows the first error is, as a rule, its consequence.
  const [error] = errors;
  if (error) throw fail(error.offset, `this is not JSON: ${worded(printParseErrorCode(error.error))}`);
  if (!root) throw fail(0, "this is not JSON: value expected");
  const value = survivingDepth(() => plainValue(root));
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
function survivingDepth<T>(read: () => T): T | "too deep" {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return "too deep";
    throw error;
  }
}

/** `CommaExpected` as `comma expected`. */
const worded = (code: string): string => code.replace(/\B[A-Z]/g, " $&").toLowerCase();

function positionIn(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** In a box: a plan may be any JSON. Object.fromEntries defines keys, it does not assign them. */
const plainValue = (node: Node): { box: Json } => ({ box: plain(node) });

function plain(node: Node): Json {
  if (node.type === "array") return (node.children ?? []).map(plain);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(entriesOf(node).map(([key, value]) => [String(key.value), plain(value)]));
}

const entriesOf = (node: Node): [key: Node, value: Node][] =>
  (node.children ?? []).flatMap(({ children: [key, value] = [] }): [Node, Node][] =>
    key && value ? [[key, value]] : [],
  );

function twice(node: Node, path: Path): { path: Path; offset: number }[] {
  if (node.type === "array") return (node.children ?? []).flatMap((it, i) => twice(it, [...path, i]));
  if (node.type !== "object") return [];
  const known = new Set<string>();
  return entriesOf(node).flatMap(([key, value]) => {
    const here = [...path, String(key.value)];
    const isNew = known.size !== known.add(String(key.value)).size;
    return [...(isNew ? [] : [{ path: here, offset: key.offset }]), ...twice(value, here)];
  });
}

function offsetAt(root: Node, path: Path, isAboutKey: boolean): number {
  let [key, value] = [root, root];
  for (const step of path) {
    const next = childOf(value, String(step));
    if (!next) return value.offset;
    [key, value] = next;
  }
  return (isAboutKey ? key : value).offset;
}

function childOf(node: Node, step: string): [key: Node, value: Node] | undefined {
  if (node.type === "object") return entriesOf(node).findLast(([key]) => key.value === step);
  const item = node.children?.[Number(step)];
  return item && [item, item];
}
