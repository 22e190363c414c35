import { type Path, pointerTo } from "../base/json-pointer.ts";
import type { PlacedProblem } from "./problems.ts";
import { type Entry, positionOf, type Source, type Tree } from "./tree.ts";

/** What came of a text: without a tree there is a problem that says why. */
export interface Read {
  readonly tree?: Tree;
  readonly problems: readonly PlacedProblem[];
}

/** A tree while it is made from a text: what both formats have in common. */
export interface Growth {
  readonly source: Source;
  complain(offset: number, at: Path, text: string): void;
  /** To be called for each value. @throws Overgrown when there is too much of it. */
  enter(offset: number, at: Path): void;
  /** A value without parts; numbers that JSON has not are a problem. */
  plain(offset: number, value: unknown, at?: Path): Tree;
  /** Adds an entry; a key that is there already is a problem. */
  add(entries: Map<string, Entry>, key: string, entry: Entry, at: Path): void;
}

/** Deeper than anything that is meant. */
const mostDepth = 100;
/** Aliases let a short text stand for a very long one. */
const mostValues = 1_000_000;

class Overgrown extends Error {}

/** Runs `read`; what is nested too deeply or becomes too large is a problem. */
export async function grow(
  source: Source,
  read: (growth: Growth) => Promise<Tree | undefined>,
): Promise<Read> {
  const problems: PlacedProblem[] = [];
  const complain: Growth["complain"] = (offset, at, text) => {
    problems.push({ place: { source, offset }, pointer: pointerTo(at), text });
  };
  try {
    const tree = await read(growthOf(source, complain));
    return tree ? { tree, problems } : { problems };
  } catch (error) {
    // The parsers themselves go down with the stack.
    if (error instanceof RangeError) complain(0, [], tooDeep);
    else if (!(error instanceof Overgrown)) throw error;
    return { problems };
  }
}

const tooDeep = `expected at most ${mostDepth} levels of lists and objects`;

function growthOf(source: Source, complain: Growth["complain"]): Growth {
  let values = 0;
  return {
    source,
    complain,
    enter(offset, at) {
      values += 1;
      const isDeep = at.length > mostDepth;
      if (!isDeep && values <= mostValues) return;
      complain(offset, isDeep ? [] : at, isDeep ? tooDeep : `expected at most ${mostValues} values`);
      throw new Overgrown();
    },
    plain(offset, value, at = []) {
      const place = { source, offset };
      if (typeof value === "number" && !Number.isFinite(value)) {
        complain(offset, at, "expected a number that JSON can hold");
        return { kind: "plain", place, value: 0 };
      }
      const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      return { kind: "plain", place, value: isPlain ? value : null };
    },
    add(entries, key, entry, at) {
      const first = entries.get(key);
      if (first) {
        const { line } = positionOf(first.key);
        const where = line === null ? "" : `, as in line ${line}`;
        complain(entry.key.offset, at, `the key ${JSON.stringify(key)} is there twice${where}`);
      } else entries.set(key, entry);
    },
  };
}
