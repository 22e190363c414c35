import type { Json, Path } from "../../kernel/base/json.ts";

/** A text of a tree; `file` is null for a scenario that a program made. */
export interface Source {
  readonly file: string | null;
  readonly text: string;
}

/** A place in a text: its offset, or -1 for the text as a whole. */
export interface TextPlace {
  readonly source: Source;
  readonly offset: number;
}

/** A JSON value with the places of its parts. */
export type Tree = ObjectTree | ListTree | PlainTree;

export interface TreeEntry {
  readonly key: TextPlace;
  readonly tree: Tree;
}

export interface ObjectTree {
  readonly kind: "object";
  readonly place: TextPlace;
  /** In the order of the text; a map, so that `__proto__` is a key like any other. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

interface ListTree {
  readonly kind: "list";
  readonly place: TextPlace;
  readonly items: readonly Tree[];
}

interface PlainTree {
  readonly kind: "plain";
  readonly place: TextPlace;
  readonly value: null | boolean | number | string;
}

const lineStarts = new WeakMap<Source, readonly number[]>();

function startsOf(source: Source): readonly number[] {
  const known = lineStarts.get(source);
  if (known) return known;
  const starts = [0];
  for (let end = source.text.indexOf("\n"); end >= 0; end = source.text.indexOf("\n", end + 1)) starts.push(end + 1);
  lineStarts.set(source, starts);
  return starts;
}

/** Line and column of a place, from 1; null for a text as a whole and without a file. */
export function positionOf({ source, offset }: TextPlace): { line: number | null; column: number | null } {
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
  // fromEntries defines keys instead of assigning them: `__proto__` is harmless
  return Object.fromEntries([...tree.entries].map(([key, it]) => [key, plainValue(it.tree)]));
}

/** The tree of a value, all of it in one place. */
export function treeOf(value: Json, place: TextPlace): Tree {
  if (typeof value !== "object" || value === null) return { kind: "plain", place, value };
  if (Array.isArray(value)) return { kind: "list", place, items: value.map((it) => treeOf(it, place)) };
  const entries = Object.entries(value).map(([key, it]): [string, TreeEntry] => [
    key,
    { key: place, tree: treeOf(it, place) },
  ]);
  return { kind: "object", place, entries: new Map(entries) };
}

function childOf(tree: Tree, step: string | number): TreeEntry | undefined {
  if (tree.kind === "object") return tree.entries.get(String(step));
  const item = tree.kind === "list" && typeof step === "number" ? tree.items[step] : undefined;
  return item && { key: item.place, tree: item };
}

/** The place of the value at a path, or of its key; for a missing one, that of its parent. */
export function placeAt(tree: Tree, path: Path, isAboutKey = false): TextPlace {
  let here: TreeEntry = { key: tree.place, tree };
  for (const step of path) {
    const next = childOf(here.tree, step);
    if (!next) return here.tree.place;
    here = next;
  }
  return isAboutKey ? here.key : here.tree.place;
}
