/** One character of a set; the set is the source of a JavaScript character class (mode `v`). */
export interface Character {
  readonly kind: "character";
  readonly set: string;
  readonly ignoresCase: boolean;
}

/** A place between characters. */
export interface Place {
  readonly kind: "place";
  readonly at: "start" | "end" | "line_start" | "line_end" | "before_last_newlines" | "word" | "not_word";
}

interface Sequence {
  readonly kind: "sequence" | "choice";
  readonly nodes: readonly PatternNode[];
}

export interface Repeat {
  readonly kind: "repeat";
  readonly node: PatternNode;
  readonly least: number;
  readonly most: number;
}

/** A group that can be referred to; numbered from 1. */
interface Capture {
  readonly kind: "capture";
  readonly node: PatternNode;
}

/** What follows or precedes without being part of the match. */
interface Look {
  readonly kind: "look";
  readonly sign: "=" | "!" | "<=" | "<!";
  readonly node: PatternNode;
}

/** The text of a capture once more. */
interface Backreference {
  readonly kind: "backreference";
  readonly capture: number;
  readonly ignoresCase: boolean;
}

export type PatternNode = Character | Place | Sequence | Repeat | Capture | Look | Backreference;

/** Where nodes are inside of others. */
export function childrenOf(node: PatternNode): readonly PatternNode[] {
  switch (node.kind) {
    case "sequence":
    case "choice":
      return node.nodes;
    case "repeat":
    case "capture":
    case "look":
      return [node.node];
    default:
      return [];
  }
}

/** Thrown for a pattern that upstream refuses: it matches nothing. */
export class InvalidPattern extends Error {}
