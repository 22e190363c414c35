import { FlagFailure } from "../reasons.ts";
import { classOf, escapeAtom, setOf } from "./classes.ts";
import { createScanner, type Scanner } from "./scanner.ts";
import { InvalidPattern, type PatternNode, type Place } from "./tree.ts";

/** What `(?ims)` and alike switch. */
interface Modes {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotTakesNewline: boolean;
  readonly isVerbose: boolean;
}

interface Parser {
  readonly scanner: Scanner;
  /** Names of the captures seen, by number − 1; "" for one without a name. */
  readonly captures: string[];
  modes: Modes;
  /** How many groups are open. */
  depth: number;
}

/** Upstream refuses deeper groups, and more repeats of repeats. */
const deepest = { groups: 64, repeats: 250 };

const places: ReadonlyMap<string, Place["at"]> = new Map([
  ["A", "start"],
  ["z", "end"],
  ["Z", "before_last_newlines"],
  ["b", "word"],
  ["B", "not_word"],
]);

const looks: ReadonlyMap<string, "=" | "!" | "<=" | "<!"> = new Map([
  ["?=", "="],
  ["?!", "!"],
  ["?<=", "<="],
  ["?<!", "<!"],
]);

const place = (at: Place["at"]): PatternNode => ({ kind: "place", at });
const unsupported = () => new FlagFailure("unsupported_regex");

const character = ({ modes }: Parser, set: string): PatternNode => ({
  kind: "character",
  set,
  ignoresCase: modes.ignoresCase,
});

function backreference({ captures, modes }: Parser, reference: string): PatternNode {
  const number = /^\d+$/.test(reference) ? Number(reference) : captures.indexOf(reference) + 1;
  if (number < 1 || number > captures.length) throw new InvalidPattern();
  return { kind: "backreference", capture: number, ignoresCase: modes.ignoresCase };
}

/** After the backslash. */
function escaped(parser: Parser): PatternNode {
  const { scanner } = parser;
  const numbered = scanner.take(/[1-9]\d?/y) ?? scanner.take(/k<(\w+)>/y);
  if (numbered) return backreference(parser, numbered[1] ?? numbered[0]);
  const at = scanner.take(/[AzZbB](?!\{)/y)?.[0];
  if (at !== undefined) return place(places.get(at) ?? "end");
  if (scanner.take(/[KGRX]|b\{/y)) throw unsupported();
  return character(parser, setOf(escapeAtom(scanner)));
}

const modeOf: ReadonlyMap<string, keyof Modes> = new Map([
  ["i", "ignoresCase"],
  ["m", "isMultiline"],
  ["s", "dotTakesNewline"],
  ["x", "isVerbose"],
]);

/** Letters before the minus are switched on, those after it off. `u` is on anyway, `U` changes no outcome. */
function switched(modes: Modes, letters: string): Modes {
  const changed: Partial<Record<keyof Modes, boolean>> = {};
  let isOn = true;
  for (const letter of letters) {
    const mode = modeOf.get(letter);
    if (letter === "-") isOn = false;
    else if (mode !== undefined) changed[mode] = isOn;
    else if (letter !== "U" && !(letter === "u" && isOn)) throw unsupported();
  }
  return { ...modes, ...changed };
}

/** The rest of a group, up to its bracket; modes switched inside of it end with it. */
function groupBody(parser: Parser, modes = parser.modes): PatternNode {
  const outside = parser.modes;
  parser.modes = modes;
  parser.depth++;
  if (parser.depth > deepest.groups) throw new InvalidPattern();
  const node = choice(parser);
  parser.depth--;
  if (!parser.scanner.skip(")")) throw new InvalidPattern();
  parser.modes = outside;
  return node;
}

function capture(parser: Parser, name: string): PatternNode {
  parser.captures.push(name);
  return { kind: "capture", node: groupBody(parser) };
}

/** After the opening bracket; undefined for what only switches modes. */
function group(parser: Parser): PatternNode | undefined {
  const { scanner } = parser;
  const look = looks.get(scanner.take(/\?<?[=!]/y)?.[0] ?? "");
  if (look !== undefined) return { kind: "look", sign: look, node: groupBody(parser) };
  const name = scanner.take(/\?P?<([A-Za-z_]\w*)>/y)?.[1];
  if (name !== undefined) return capture(parser, name);
  const again = scanner.take(/\?P=(\w+)\)/y)?.[1];
  if (again !== undefined) return backreference(parser, again);
  if (scanner.take(/\?#[^)]*\)/y)) return undefined;
  const modes = scanner.take(/\?([A-Za-z]*(?:-[A-Za-z]+)?)([:)])/y);
  if (!modes) {
    if (scanner.take(/\?/y)) throw unsupported();
    return capture(parser, "");
  }
  const next = switched(parser.modes, modes[1] ?? "");
  if (modes[2] === ":") return groupBody(parser, next);
  parser.modes = next;
  return undefined;
}

function atom(parser: Parser): PatternNode | undefined {
  const { scanner, modes } = parser;
  const next = scanner.next() ?? "";
  switch (next) {
    case "(":
      return group(parser);
    case "[":
      return character(parser, classOf(scanner));
    case "\\":
      return escaped(parser);
    case ".":
      return character(parser, modes.dotTakesNewline ? String.raw`[\0-\u{10ffff}]` : String.raw`[^\n]`);
    case "^":
      return place(modes.isMultiline ? "line_start" : "start");
    case "$":
      return place(modes.isMultiline ? "line_end" : "end");
    case "*":
    case "+":
    case "?":
      throw new InvalidPattern();
    default:
      return character(parser, setOf({ code: next.codePointAt(0) ?? 0 }));
  }
}

const quantifiers: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ["*", [0, Infinity]],
  ["+", [1, Infinity]],
  ["?", [0, 1]],
]);

/** How often what stands before is meant; undefined for once. A brace that says no number is itself. */
function quantifier(scanner: Scanner): readonly [least: number, most: number] | undefined {
  const sign = scanner.take(/[*+?]/y)?.[0];
  if (sign !== undefined) return quantifiers.get(sign);
  const counted = scanner.take(/\{(?=\d|,\d)(\d*)(,?)(\d*)\}/y);
  if (!counted) return undefined;
  const least = Number(counted[1]);
  const most = counted[2] === "" ? least : counted[3] === "" ? Infinity : Number(counted[3]);
  return [least, most];
}

function repeated(parser: Parser, node: PatternNode, depth = 0): PatternNode {
  const times = quantifier(parser.scanner);
  if (!times) return node;
  const [least, most] = times;
  if (least > most || node.kind === "place" || depth > deepest.repeats) throw new InvalidPattern();
  if (parser.scanner.take(/\+/y)) throw unsupported();
  parser.scanner.skip("?");
  return repeated(parser, { kind: "repeat", node, least, most }, depth + 1);
}

const skipComments = ({ scanner, modes }: Parser): void => {
  if (modes.isVerbose) scanner.take(/(?:\s|#[^\n]*(?:\n|$))*/y);
};

function sequence(parser: Parser): PatternNode {
  const { scanner } = parser;
  const nodes: PatternNode[] = [];
  for (skipComments(parser); !scanner.isAtEnd && !scanner.take(/(?=[|)])/y); skipComments(parser)) {
    const node = atom(parser);
    skipComments(parser);
    if (node) nodes.push(repeated(parser, node));
  }
  return { kind: "sequence", nodes };
}

function choice(parser: Parser): PatternNode {
  const nodes = [sequence(parser)];
  while (parser.scanner.skip("|")) nodes.push(sequence(parser));
  return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: "choice", nodes };
}

const initial: Modes = {
  ignoresCase: false,
  isMultiline: false,
  dotTakesNewline: false,
  isVerbose: false,
};

/**
 * Reads a regular expression in the syntax of Rust's `fancy-regex`.
 * @throws InvalidPattern when upstream refuses it; FlagFailure unsupported_regex for atomic groups,
 * possessive quantifiers, `\K`, `\G` and other rarities.
 */
export function parsePattern(source: string): PatternNode {
  const parser: Parser = { scanner: createScanner(source), captures: [], modes: initial, depth: 0 };
  const node = choice(parser);
  if (!parser.scanner.isAtEnd) throw new InvalidPattern();
  return node;
}
