import { FlagFailure } from "./reasons.ts";

/**
 * Rewrites fancy-regex's syntax into that of the regex crate, token by token. What the crate does not have becomes a
 * group, so that the crate checks the whole pattern and parses it.
 */
export interface RustPattern {
  readonly source: string;
  /** What the groups of `source` stand for, from group 1 on. */
  readonly groups: readonly PatternGroup[];
  /** True if all groups are captures: `source` means the same. */
  readonly isPlain: boolean;
}

export type PatternGroup =
  | { readonly is: "capture" }
  | { readonly is: "look"; readonly sign: string }
  /** The group of `source` whose text is meant; stands for the letter k, which shows whether case counts. */
  | { readonly is: "backreference"; readonly to: number }
  | { readonly is: "before_last_newlines" };

/** Thrown for a pattern that upstream refuses: it matches nothing. */
export class InvalidPattern extends Error {}

/** Upstream refuses groups that are nested deeper. */
const deepest = 64;

interface Reading {
  readonly groups: PatternGroup[];
  /** Captures by their number − 1; a name may be absent. */
  readonly captures: { readonly name: string | undefined; readonly group: number }[];
  /** Whether mode `x` is on, by open groups. */
  readonly verbose: boolean[];
  /** Classes that are open. */
  classes: number;
  /** What a quantifier would stand after: neither a place such as `^` nor the start of a branch can be repeated. */
  after: "atom" | "place" | "start";
}

type Rewrite = (reading: Reading, token: string, first?: string, second?: string) => string;
type Rule = readonly [token: RegExp, rewrite: Rewrite, then?: Reading["after"]];

const same: Rewrite = (_, token) => token;

function unsupported(): never {
  throw new FlagFailure("unsupported_regex");
}

function open({ verbose }: Reading, isVerbose = verbose.at(-1) ?? false): void {
  verbose.push(isVerbose);
  if (verbose.length - 1 > deepest) throw new InvalidPattern();
}

const close: Rewrite = ({ verbose }, token) => {
  if (verbose.length === 1) throw new InvalidPattern();
  verbose.pop();
  return token;
};

const capture: Rewrite = (reading, token, name) => {
  open(reading);
  const group = reading.groups.push({ is: "capture" });
  reading.captures.push({ name, group });
  return token;
};

const look: Rewrite = (reading, _, sign = "") => {
  open(reading);
  reading.groups.push({ is: "look", sign });
  return "(";
};

const backreference: Rewrite = ({ captures, groups }, _, number, name) => {
  const found = number === undefined ? captures.find((it) => it.name === name) : captures[Number(number) - 1];
  if (!found) throw new InvalidPattern();
  groups.push({ is: "backreference", to: found.group });
  return "(k)";
};

const beforeLastNewlines: Rewrite = ({ groups }) => {
  groups.push({ is: "before_last_newlines" });
  return "()";
};

/** `(?i)`, `(?x-s:`. Letters before the minus are switched on, those after it off. */
const modes: Rewrite = (reading, token, letters = "", end = "") => {
  const [on = "", off = ""] = letters.split("-");
  if (/[^imsxuU]/.test(on) || /[^imsxU]/.test(off)) unsupported();
  const { verbose } = reading;
  const isVerbose = on.includes("x") || (verbose.at(-1) === true && !off.includes("x"));
  if (end === ":") open(reading, isVerbose);
  else verbose[verbose.length - 1] = isVerbose;
  return token;
};

/** At the start of a branch a brace is itself. */
const quantifier: Rewrite = ({ after }, token) => {
  if (after === "start" && token.startsWith("{")) return `\\${token}`;
  if (after !== "atom") throw new InvalidPattern();
  if (token.length > 1 && token.endsWith("+")) unsupported();
  return token.replace("{,", "{0,");
};

const openClass: Rewrite = (reading, token) => {
  reading.classes++;
  return token;
};

const closeClass: Rewrite = (reading, token) => {
  reading.classes--;
  return token;
};

const escapes: readonly Rule[] = [
  [/\\h/y, () => "[0-9A-Fa-f]"],
  [/\\H/y, () => "[^0-9A-Fa-f]"],
  [/\\e/y, () => "\\x1B"],
  [/\\p\{\^/y, () => "\\P{"],
  [/\\P\{\^/y, () => "\\p{"],
  [/\\(?![aAbBdDfnpPrsStuUvwWxz])[0-9A-Za-z<>]/y, unsupported],
  [/\\(?=[^\0-\x7f])/y, () => ""],
  [/\\(?:[pPxuU]\{)?./sy, same],
];

const inClass: readonly Rule[] = [
  [/\[:\^?[a-z]+:\]/y, same],
  [/\[\^?\]?/y, openClass],
  [/\]/y, closeClass],
  ...escapes,
  [/./sy, same],
];

const outside: readonly Rule[] = [
  [/\(\?(<?[=!])/y, look, "start"],
  [/\(\?P?<([A-Za-z_]\w*)>/y, capture, "start"],
  [/\\([1-9]\d?)|(?:\\k<|\(\?P=)(\w+)[>)]/y, backreference],
  [/\(\?([A-Za-z]*(?:-[A-Za-z]+)?)([:)])/y, modes, "start"],
  [/\(\?/y, unsupported],
  [/\(/y, capture, "start"],
  [/\)/y, close],
  [/\|/y, same, "start"],
  [/(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})[+?]?/y, quantifier],
  [/\{/y, () => "\\{"],
  [/\[\^?\]?/y, openClass],
  [/\\[bB]\{/y, unsupported],
  [/\\[AzbB]|[\^$]/y, same, "place"],
  [/\\Z/y, beforeLastNewlines, "place"],
  ...escapes,
  [/./sy, same],
];

const comment = /(?:\(\?#[^)]*\))+/y;
/** In mode `x`. */
const blank = /(?:\(\?#[^)]*\)|\s|#[^\n]*)+/y;

interface Step {
  readonly text: string;
  readonly end: number;
}

function skipBlank({ classes, verbose }: Reading, pattern: string, at: number): Step | undefined {
  if (classes > 0) return undefined;
  const isVerbose = verbose.at(-1) === true;
  const skipped = isVerbose ? blank : comment;
  skipped.lastIndex = at;
  // a blank ends what it follows: `\x4 1`
  return skipped.test(pattern) ? { text: isVerbose ? " " : "", end: skipped.lastIndex } : undefined;
}

function rewriteToken(reading: Reading, pattern: string, at: number): Step {
  for (const [token, rewrite, then = "atom"] of reading.classes > 0 ? inClass : outside) {
    token.lastIndex = at;
    const found = token.exec(pattern);
    if (!found) continue;
    const text = rewrite(reading, found[0], found[1], found[2]);
    reading.after = then;
    return { text, end: token.lastIndex };
  }
  throw new InvalidPattern();
}

/**
 * @throws InvalidPattern when upstream refuses the pattern; FlagFailure unsupported_regex for atomic groups, possessive
 * quantifiers, `\K`, `\G` and other rarities.
 */
export function rustPatternOf(pattern: string): RustPattern {
  const reading: Reading = { groups: [], captures: [], verbose: [false], classes: 0, after: "start" };
  let source = "";
  for (let at = 0; at < pattern.length; ) {
    const { text, end } = skipBlank(reading, pattern, at) ?? rewriteToken(reading, pattern, at);
    source += text;
    at = end;
  }
  return { source, groups: reading.groups, isPlain: reading.groups.every(({ is }) => is === "capture") };
}
