import type { Json } from "../base/json.ts";
import type { Path } from "../base/json-pointer.ts";

/** A text that trees are read from; `file` is null for a scenario that a program made. */
export interface Source {
  readonly file: string | null;
  readonly text: string;
}

/** A place in a text: characters before it, or -1 for the text as a whole. */
export interface Place {
  readonly source: Source;
  readonly offset: number;
}

/** A JSON value that knows where each of its parts stands. */
export type Tree = ObjectTree | ListTree | PlainTree;

export interface Entry {
  /** Where the key stands. */
  readonly key: Place;
  readonly tree: Tree;
}

export interface ObjectTree {
  readonly kind: "object";
  readonly place: Place;
  /** In the order of the text; any key is only a key here, `__proto__`, too. */
  readonly entries: ReadonlyMap<string, Entry>;
}

interface ListTree {
  readonly kind: "list";
  readonly place: Place;
  readonly items: readonly Tree[];
}

interface PlainTree {
  readonly kind: "plain";
  readonly place: Place;
  readonly value: null | boolean | number | string;
}

/** Where each line of a text begins: known once for all places of it. */
const lineStarts = new WeakMap<Source, readonly number[]>();

function startsOf(source: Source): readonly number[] {
  const known = lineStarts.get(source);
  if (known) return known;
  const starts = [0];
  for (let end = source.text.indexOf("\n"); end >= 0; end = source.text.indexOf("\n", end + 1))
    starts.push(end + 1);
  lineStarts.set(source, starts);
  return starts;
}

/** Line and column of a place, from 1; null for a text as a whole and for what is no file. */
export function positionOf({ source, offset }: Place): { line: number | null; column: number | null } {
  if (offset < 0 || source.file === null) return { line: null, column: null };
  const starts = startsOf(source);
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

/** The value without its places. */
export function plainValue(tree: Tree): Json {
  if (tree.kind === "plain") return tree.value;
  if (tree.kind === "list") return tree.items.map(plainValue);
  // fromEntries defines keys, it does not assign them: `__proto__` is inert.
  return Object.fromEntries([...tree.entries].map(([key, it]) => [key, plainValue(it.tree)]));
}

/** A value that a program made, all of it in one place. */
export function treeOf(value: Json, place: Place): Tree {
  if (typeof value !== "object" || value === null) return { kind: "plain", place, value };
  if (Array.isArray(value)) return { kind: "list", place, items: value.map((it) => treeOf(it, place)) };
  const entries = Object.entries(value).map(([key, it]): [string, Entry] => [
    key,
    { key: place, tree: treeOf(it, place) },
  ]);
  return { kind: "object", place, entries: new Map(entries) };
}

/** The part that a step leads to. */
export function childOf(tree: Tree, step: string | number): Entry | undefined {
  if (tree.kind === "object") return tree.entries.get(String(step));
  const item = tree.kind === "list" && typeof step === "number" ? tree.items[step] : undefined;
  return item && { key: item.place, tree: item };
}

/** Where the value at the path stands, or its key; what is missing stands where it would be: in its parent. */
export function placeAt(tree: Tree, path: Path, isAboutKey = false): Place {
  let here: Entry = { key: tree.place, tree };
  for (const step of path) {
    const next = childOf(here.tree, step);
    if (!next) return here.tree.place;
    here = next;
  }
  return isAboutKey ? here.key : here.tree.place;
}
