import type { z } from "zod";
import type { Json } from "../base/json.ts";
import { type Path, pointerTo } from "../base/json-pointer.ts";
import { childOf, type Entry, plainValue, type Tree, treeOf } from "./tree.ts";

type Issue = z.core.$ZodIssue;

/** The valid parts of a scenario. */
interface Rest {
  readonly tree: Tree;
  /** The place in the whole tree of a place in the rest. */
  original(at: Path): Path;
}

/** A made-up value for a required key that is missing; the candidates are tried in order. */
interface StandIn {
  readonly at: Path;
  readonly candidates: readonly Json[];
  tries: number;
}

/**
 * Removes invalid parts from a tree, so that the references of the rest can be checked. A missing required key gets a
 * stand-in; without a fitting one, its parent is removed too.
 */
export class ValidParts {
  readonly #whole: Tree;
  readonly #removed = new Map<string, Path>();
  readonly #standIns = new Map<string, StandIn>();

  constructor(whole: Tree, invalid: readonly Path[]) {
    this.#whole = whole;
    for (const at of invalid) this.#remove(at);
  }

  /** The parts that are not removed; undefined if there are none. */
  rest(): Rest | undefined {
    const removed = new Set([...this.#removed.values()].map((at) => partAt(this.#whole, at)));
    if (removed.has(this.#whole)) return undefined;
    const added = new Map<Tree | undefined, [string, Json][]>();
    for (const { at, candidates, tries } of this.#standIns.values()) {
      const value = candidates[tries];
      if (value === undefined) continue;
      const owner = partAt(this.#whole, at.slice(0, -1));
      added.set(owner, [...(added.get(owner) ?? []), [String(at.at(-1)), value]]);
    }
    const positions: Positions = new Map();
    return {
      tree: without(this.#whole, removed, added),
      original: (at) => originalOf(this.#whole, removed, at, positions),
    };
  }

  /** Continues with the issues that the schema has with the rest. */
  removeMore(issues: readonly Issue[], rest: Rest): void {
    for (const issue of issues) this.#settle(issue, rest.original(issue.path.map(stepOf)));
  }

  /** All removed strings, numbers and keys, as strings in lower case. */
  removedWords(): Set<string> {
    const words = new Set<string>();
    const collect = (value: Json): void => {
      if (Array.isArray(value)) value.forEach(collect);
      else if (typeof value !== "object" || value === null) words.add(String(value).toLowerCase());
      else for (const [key, it] of Object.entries(value)) collect([key, it]);
    };
    for (const at of this.#removed.values()) {
      const part = partAt(this.#whole, at);
      if (part) collect(plainValue(part));
    }
    return words;
  }

  #remove(at: Path): void {
    this.#removed.set(pointerTo(at), at);
  }

  #settle(issue: Issue, at: Path): void {
    const key = pointerTo(at);
    const known = this.#standIns.get(key);
    if (!known && partAt(this.#whole, at) && !this.#removed.has(key)) {
      this.#remove(at);
      return;
    }
    const standIn = known ?? { at, candidates: candidatesFor(issue, this.#standIns.size), tries: -1 };
    standIn.tries += 1;
    this.#standIns.set(key, standIn);
    if (standIn.tries >= standIn.candidates.length) this.#remove(at.slice(0, -1));
  }
}

/** The values to try for a key that is missing according to the issue. */
function candidatesFor(issue: Issue, n: number): readonly Json[] {
  if (issue.code === "invalid_value") return issue.values.filter((it) => typeof it !== "bigint") as Json[];
  if (issue.code !== "invalid_type") return [];
  return issue.expected === "string" ? strings(n) : (otherValues[issue.expected] ?? []);
}

/** Values that some required string may have. */
const strings = (n: number): readonly Json[] => [
  `stand-in-${n}`,
  `stand-in-${n}@phx-sim.test`,
  "2025-01-01T00:00:00Z",
  `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
];

const otherValues: Readonly<Record<string, readonly Json[]>> = {
  array: [[]],
  object: [{}],
  record: [{}],
  boolean: [false],
  number: [1],
  int: [1],
};

/** A step of a zod path as one of ours. */
export const stepOf = (step: PropertyKey): string | number =>
  typeof step === "number" ? step : String(step);

function partAt(tree: Tree, at: Path): Tree | undefined {
  let here: Tree | undefined = tree;
  for (const step of at) here = here && childOf(here, step)?.tree;
  return here;
}

type Removed = ReadonlySet<Tree | undefined>;
type Added = ReadonlyMap<Tree | undefined, readonly (readonly [string, Json])[]>;

function without(tree: Tree, removed: Removed, added: Added): Tree {
  if (tree.kind === "plain") return tree;
  if (tree.kind === "list") {
    const items = tree.items.filter((it) => !removed.has(it));
    return { ...tree, items: items.map((it) => without(it, removed, added)) };
  }
  const entries = new Map<string, Entry>();
  for (const [key, it] of tree.entries) {
    if (!removed.has(it.tree)) entries.set(key, { ...it, tree: without(it.tree, removed, added) });
  }
  for (const [key, value] of added.get(tree) ?? []) {
    entries.set(key, { key: tree.place, tree: treeOf(value, tree.place) });
  }
  return { ...tree, entries };
}

/** The original positions of the items that each list still has. */
type Positions = Map<readonly Tree[], readonly number[]>;

/** Only positions in lists change. */
function originalOf(whole: Tree, removed: Removed, at: Path, positions: Positions): Path {
  let here: Tree | undefined = whole;
  return at.map((step) => {
    const original = here?.kind === "list" ? stepIn(here.items, removed, step, positions) : step;
    here = here && childOf(here, original)?.tree;
    return original;
  });
}

function stepIn(items: readonly Tree[], removed: Removed, step: string | number, positions: Positions) {
  const kept = positions.get(items) ?? items.flatMap((it, i) => (removed.has(it) ? [] : [i]));
  positions.set(items, kept);
  return typeof step === "number" ? (kept[step] ?? step) : step;
}
