import { word } from "./classes.ts";
import { childrenOf, type PatternNode, type Place } from "./tree.ts";

const isWord = `[${word}]`;

const places: Readonly<Record<Place["at"], string>> = {
  start: "^",
  end: "$",
  line_start: String.raw`(?<![^\n])`,
  line_end: String.raw`(?![^\n])`,
  before_last_newlines: String.raw`(?=\n*$)`,
  word: `(?:(?<=${isWord})(?!${isWord})|(?<!${isWord})(?=${isWord}))`,
  not_word: `(?:(?<=${isWord})(?=${isWord})|(?<!${isWord})(?!${isWord}))`,
};

function times(least: number, most: number): string {
  if (most === Infinity) return least === 0 ? "*" : `{${least},}`;
  return `{${least},${most}}`;
}

/** The same pattern in JavaScript's syntax (mode `v`). */
export function javascriptOf(node: PatternNode): string {
  switch (node.kind) {
    case "character":
      return node.set;
    case "place":
      return places[node.at];
    case "sequence":
      return node.nodes.map(javascriptOf).join("");
    case "choice":
      return `(?:${node.nodes.map(javascriptOf).join("|")})`;
    case "repeat":
      return `(?:${javascriptOf(node.node)})${times(node.least, node.most)}`;
    case "capture":
      return `(${javascriptOf(node.node)})`;
    case "look":
      return `(?${node.sign}${javascriptOf(node.node)})`;
    case "backreference":
      return `(?:\\${node.capture})`;
  }
}

/** Whether characters are compared with or without case: all, none, or some (then undefined). */
export function caseOf(node: PatternNode): boolean | undefined {
  const seen = new Set<boolean>();
  const visit = (it: PatternNode): void => {
    if (it.kind === "character" || it.kind === "backreference") seen.add(it.ignoresCase);
    for (const child of childrenOf(it)) visit(child);
  };
  visit(node);
  return seen.size > 1 ? undefined : seen.has(true);
}
