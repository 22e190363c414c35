import type { z } from "zod";
import type { Json } from "../../kernel/base/json.ts";
import { type Path, pointerTo } from "../../kernel/base/json.ts";
import { childOf, plainValue, type Tree, type TreeEntry, treeOf } from "./tree.ts";

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
    const positions = new Map<Tree, number>();
    const tree = without(this.#whole, { removed, added, positions });
    // only positions in lists change
    const original = (at: Path): Path => {
      let here: Tree | undefined = tree;
      return at.map((step) => {
        const isInList = here?.kind === "list";
        here = here && childOf(here, step)?.tree;
        return (isInList && here ? positions.get(here) : undefined) ?? step;
      });
    };
    return { tree, original };
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
export const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

function partAt(tree: Tree, at: Path): Tree | undefined {
  let here: Tree | undefined = tree;
  for (const step of at) here = here && childOf(here, step)?.tree;
  return here;
}

interface Changes {
  readonly removed: ReadonlySet<Tree | undefined>;
  readonly added: ReadonlyMap<Tree | undefined, readonly (readonly [string, Json])[]>;
  /** Receives the original position of each item of a list. */
  readonly positions: Map<Tree, number>;
}

/** A copy without the removed parts. */
function without(tree: Tree, changes: Changes): Tree {
  const { removed, added, positions } = changes;
  if (tree.kind === "plain") return { ...tree };
  if (tree.kind === "list") {
    const items = tree.items.flatMap((it, i) => {
      if (removed.has(it)) return [];
      const copy = without(it, changes);
      positions.set(copy, i);
      return [copy];
    });
    return { ...tree, items };
  }
  const entries = new Map<string, TreeEntry>();
  for (const [key, it] of tree.entries) {
    if (!removed.has(it.tree)) entries.set(key, { ...it, tree: without(it.tree, changes) });
  }
  for (const [key, value] of added.get(tree) ?? []) {
    entries.set(key, { key: tree.place, tree: treeOf(value, tree.place) });
  }
  return { ...tree, entries };
}
