import type { z } from "zod";
import type { Json } from "../base/json.ts";
import { type Path, pointerTo } from "../base/json-pointer.ts";
import { childOf, type Entry, plainValue, type Tree, treeOf } from "./tree.ts";

type Issue = z.core.$ZodIssue;

/** A scenario of which only the sound parts are left, for looking at what they refer to. */
export interface Mended {
  readonly tree: Tree;
  /** The place in the whole tree of a place in what is left. */
  original(at: Path): Path;
}

/**
 * Takes what is wrong out of a tree. What cannot be missing gets a stand-in; where none is found, the thing
 * that it belongs to goes, too.
 */
export interface Mending {
  /** Undefined when nothing is left. */
  readonly left: Mended | undefined;
  /** Goes on with what the schema says of what is left. */
  again(issues: readonly Issue[]): void;
  /** Every text, number and key that was taken out, as texts in lower case. */
  words(): Set<string>;
}

/** Values that some required text may have, in the order of trying. */
const texts = (n: number): readonly Json[] => [
  `stand-in-${n}`,
  `stand-in-${n}@phx-sim.test`,
  "2025-01-01T00:00:00Z",
  `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
];

const lists: Readonly<Record<string, readonly Json[]>> = {
  array: [[]],
  object: [{}],
  record: [{}],
  boolean: [false],
  number: [1],
  int: [1],
};

/** What may stand where the issue says that something is missing. */
function candidatesFor(issue: Issue, n: number): readonly Json[] {
  if (issue.code === "invalid_value") return issue.values.filter((it) => typeof it !== "bigint") as Json[];
  if (issue.code !== "invalid_type") return [];
  return issue.expected === "string" ? texts(n) : (lists[issue.expected] ?? []);
}

interface StandIn {
  readonly at: Path;
  readonly candidates: readonly Json[];
  tries: number;
}

export function startMending(whole: Tree, wrong: readonly Path[]): Mending {
  const removed: Path[] = [];
  const removedPointers = new Set<string>();
  const remove = (at: Path): void => {
    removed.push(at);
    removedPointers.add(pointerTo(at));
  };
  wrong.forEach(remove);
  const standIns = new Map<string, StandIn>();

  function settle(issue: Issue, at: Path): void {
    const key = pointerTo(at);
    const known = standIns.get(key);
    if (known) known.tries += 1;
    else {
      const isMissing = !isThere(whole, at) || removedPointers.has(key);
      if (!isMissing) {
        remove(at);
        return;
      }
      standIns.set(key, { at, candidates: candidatesFor(issue, standIns.size), tries: 0 });
    }
    const standIn = standIns.get(key);
    if (standIn && standIn.tries >= standIn.candidates.length) remove(at.slice(0, -1));
  }

  return {
    get left() {
      return leftOf(whole, removed, [...standIns.values()]);
    },
    again(issues) {
      const left = leftOf(whole, removed, [...standIns.values()]);
      for (const issue of issues) settle(issue, left?.original(issue.path.map(stepOf)) ?? []);
    },
    words: () => wordsIn(removed.flatMap((at) => partAt(whole, at) ?? [])),
  };
}

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

/** Also where a key has been given to an object. */
const isThere = (tree: Tree, at: Path): boolean => partAt(tree, at) !== undefined;

function partAt(tree: Tree, at: Path): Tree | undefined {
  let here: Tree | undefined = tree;
  for (const step of at) here = here && childOf(here, step)?.tree;
  return here;
}

type Gone = ReadonlySet<Tree | undefined>;
type Given = ReadonlyMap<Tree | undefined, readonly (readonly [string, Json])[]>;

function leftOf(whole: Tree, removed: readonly Path[], standIns: readonly StandIn[]): Mended | undefined {
  const gone: Gone = new Set(removed.map((at) => partAt(whole, at)));
  if (gone.has(whole)) return undefined;
  const given = new Map<Tree | undefined, [string, Json][]>();
  for (const { at, candidates, tries } of standIns) {
    const owner = partAt(whole, at.slice(0, -1));
    const value = candidates[tries];
    if (value === undefined) continue;
    const row: [string, Json] = [String(at.at(-1)), value];
    const known = given.get(owner);
    if (known) known.push(row);
    else given.set(owner, [row]);
  }
  const positions: Positions = new Map();
  return { tree: without(whole, gone, given), original: (at) => originalOf(whole, gone, at, positions) };
}

function without(tree: Tree, gone: Gone, given: Given): Tree {
  if (tree.kind === "plain") return tree;
  if (tree.kind === "list") {
    return { ...tree, items: tree.items.filter((it) => !gone.has(it)).map((it) => without(it, gone, given)) };
  }
  const left = [...tree.entries].filter(([, it]) => !gone.has(it.tree));
  const entries = left.map(([key, it]): [string, Entry] => [
    key,
    { ...it, tree: without(it.tree, gone, given) },
  ]);
  const added = (given.get(tree) ?? []).map(([key, value]): [string, Entry] => [
    key,
    { key: tree.place, tree: treeOf(value, tree.place) },
  ]);
  return { ...tree, entries: new Map([...entries, ...added]) };
}

/** By list: where what is left of it was. */
type Positions = Map<readonly Tree[], readonly number[]>;

/** Only positions in lists move. */
function originalOf(whole: Tree, gone: Gone, at: Path, positions: Positions): Path {
  let here: Tree | undefined = whole;
  return at.map((step) => {
    const original =
      here?.kind === "list" && typeof step === "number" ? stepIn(here.items, gone, step, positions) : step;
    here = here && childOf(here, original)?.tree;
    return original;
  });
}

function stepIn(items: readonly Tree[], gone: Gone, step: number, positions: Positions): number {
  let left = positions.get(items);
  if (!left) {
    left = items.flatMap((it, i) => (gone.has(it) ? [] : [i]));
    positions.set(items, left);
  }
  return left[step] ?? step;
}

function wordsIn(parts: readonly Tree[]): Set<string> {
  const words = new Set<string>();
  const collect = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value !== "object" || value === null) words.add(String(value).toLowerCase());
    else for (const [key, it] of Object.entries(value)) collect([key, it]);
  };
  for (const part of parts) collect(plainValue(part));
  return words;
}
