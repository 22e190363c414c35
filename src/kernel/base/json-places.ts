import { type JsonNode, parseCommentedJson } from "./commented-json.ts";
import { isTooDeep, type Json, type Path, pointerTo } from "./json.ts";

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface JsonMistake extends Position {
  readonly pointer: string;
  readonly message: string;
}

/** Parsed JSON with comments: the value, and the position of each part of it. */
export interface PlacedJson {
  readonly value: Json;
  /** The position of the value at the path, or of its key; for a missing value, that of its parent. */
  positionOf(path: Path, isAboutKey?: boolean): Position;
  readonly mistakes: readonly JsonMistake[];
}

const mostDepth = 60;

export class JsonError extends Error {
  readonly mistake: JsonMistake;

  constructor(mistake: JsonMistake) {
    super(mistake.message);
    this.name = "JsonError";
    this.mistake = mistake;
  }
}

/** @throws JsonError when it is not JSON */
export async function parsePlacedJson(text: string): Promise<PlacedJson> {
  const at = (offset: number): Position => positionIn(text, offset);
  const fail = (offset: number, message: string) => new JsonError({ ...at(offset), pointer: "", message });
  const parsed = await survivingDepth(() => parseCommentedJson(text));
  if (parsed === "too deep") throw fail(0, "nested too deeply");
  const { root, mistake } = parsed;
  if (!root) throw fail(mistake.offset, mistake.text);
  const value = await survivingDepth(() => plainValue(root));
  if (value === "too deep" || isTooDeep(value.box, mostDepth)) throw fail(0, "nested too deeply");
  return {
    value: value.box,
    positionOf: (path, isAboutKey = false) => at(offsetAt(root, path, isAboutKey)),
    mistakes: duplicates(root, []).map(({ path, offset }) => ({
      ...at(offset),
      pointer: pointerTo(path),
      message: "duplicate key",
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

/** In a box: the value may be any JSON. Object.fromEntries defines keys, it does not assign them. */
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
    const isNew = !known.has(String(key.value));
    known.add(String(key.value));
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
