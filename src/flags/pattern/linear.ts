import { word } from "./classes.ts";
import type { Character, PatternNode, Place, Repeat } from "./tree.ts";

/**
 * Matching in time proportional to text × pattern, whatever the pattern: all ways through it are followed
 * at once (Thompson's construction). For patterns without look-around and back-references.
 */

type Step =
  | { readonly do: "character"; readonly isIn: (character: string) => boolean }
  | { readonly do: "place"; readonly at: Place["at"] }
  /** Goes on at both. */
  | { readonly do: "split"; first: number; second: number }
  | { readonly do: "done" };

/** Programs with more steps are not made. */
const mostSteps = 20_000;

export class TooComplex extends Error {}

/** Asks an expression about single characters, and remembers the answers for ASCII. */
function membership({ set, ignoresCase }: Character): (character: string) => boolean {
  const expression = new RegExp(`^${set}$`, ignoresCase ? "iv" : "v");
  const known: (boolean | undefined)[] = [];
  return (character) => {
    const code = character.charCodeAt(0);
    if (code > 127) return expression.test(character);
    known[code] ??= expression.test(character);
    return known[code];
  };
}

function addRepeat(steps: Step[], { node, least, most }: Repeat): void {
  for (let i = 0; i < least; i++) add(steps, node);
  if (most === Infinity) {
    const split: Step = { do: "split", first: steps.length + 1, second: 0 };
    const at = steps.push(split) - 1;
    add(steps, node);
    split.second = steps.push({ do: "split", first: at, second: at });
    return;
  }
  const splits: Extract<Step, { do: "split" }>[] = [];
  for (let i = least; i < most; i++) {
    const split: Step = { do: "split", first: steps.length + 1, second: 0 };
    steps.push(split);
    splits.push(split);
    add(steps, node);
  }
  for (const split of splits) split.second = steps.length;
}

function addChoice(steps: Step[], nodes: readonly PatternNode[]): void {
  const ends: Extract<Step, { do: "split" }>[] = [];
  for (const node of nodes) {
    const split: Step = { do: "split", first: steps.length + 1, second: 0 };
    steps.push(split);
    add(steps, node);
    const end: Step = { do: "split", first: 0, second: 0 };
    split.second = steps.push(end);
    ends.push(end);
  }
  // A way that no alternative is left for ends here.
  steps.push({ do: "character", isIn: () => false });
  for (const end of ends) end.first = end.second = steps.length;
}

function add(steps: Step[], node: PatternNode): void {
  if (steps.length > mostSteps) throw new TooComplex();
  switch (node.kind) {
    case "character":
      steps.push({ do: "character", isIn: membership(node) });
      return;
    case "place":
      steps.push({ do: "place", at: node.at });
      return;
    case "sequence":
      for (const it of node.nodes) add(steps, it);
      return;
    case "choice":
      addChoice(steps, node.nodes);
      return;
    case "repeat":
      addRepeat(steps, node);
      return;
    case "capture":
      add(steps, node.node);
      return;
    default:
      throw new TooComplex();
  }
}

const wordCharacter = new RegExp(`^[${word}]$`, "v");
const isWord = (character: string | undefined): boolean =>
  character !== undefined && wordCharacter.test(character);

const isAt: Readonly<Record<Place["at"], (text: readonly string[], i: number) => boolean>> = {
  start: (_text, i) => i === 0,
  end: (text, i) => i === text.length,
  line_start: (text, i) => i === 0 || text[i - 1] === "\n",
  line_end: (text, i) => i === text.length || text[i] === "\n",
  before_last_newlines: (text, i) => text.slice(i).every((it) => it === "\n"),
  word: (text, i) => isWord(text[i - 1]) !== isWord(text[i]),
  not_word: (text, i) => isWord(text[i - 1]) === isWord(text[i]),
};

/** The steps that wait for a character, from one step on without taking any; true when one of them is done. */
function follow(
  steps: readonly Step[],
  from: number,
  text: readonly string[],
  i: number,
  seen: Int32Array,
  into: number[],
): boolean {
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen[at] === i) continue;
    seen[at] = i;
    const step = steps[at];
    if (step?.do === "done") return true;
    if (step?.do === "character") into.push(at);
    else if (step?.do === "split") open.push(step.second, step.first);
    else if (step?.do === "place" && isAt[step.at](text, i)) open.push(at + 1);
  }
  return false;
}

/** Characters × steps that a search may take. */
const mostWork = 50_000_000;

/**
 * Makes the search for a pattern, anywhere in a text.
 * @throws TooComplex here for a pattern that is too large or looks around, in the search for a text that is
 * too long.
 */
export function linearSearch(node: PatternNode): (text: string) => boolean {
  const steps: Step[] = [];
  add(steps, node);
  steps.push({ do: "done" });
  return (text) => {
    const characters = Array.from(text);
    if (characters.length * steps.length > mostWork) throw new TooComplex();
    const seen = new Int32Array(steps.length).fill(-1);
    let waiting: number[] = [];
    for (let i = 0; i <= characters.length; i++) {
      const next: number[] = [];
      const taken = i === 0 ? "" : (characters[i - 1] ?? "");
      for (const at of waiting) {
        const step = steps[at];
        if (step?.do !== "character" || !step.isIn(taken)) continue;
        if (follow(steps, at + 1, characters, i, seen, next)) return true;
      }
      if (follow(steps, 0, characters, i, seen, next)) return true;
      waiting = next;
    }
    return false;
  };
}
