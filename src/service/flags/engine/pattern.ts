import { createRequire } from "node:module";
import type { Hir, RRegex } from "rregex";
import { builtFile } from "../../../kernel/base/built-file.ts";
import { InvalidPattern, type PatternGroup, rustPatternOf } from "./pattern-syntax.ts";
import { FlagFailure } from "./reasons.ts";

/** Patterns with look-around or back-references, as the regex crate parsed them, searched by JavaScript. */

const word = String.raw`[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]`;

const places: Readonly<Record<string, string>> = {
  Start: "^",
  End: "$",
  StartLF: String.raw`(?<![^\n])`,
  EndLF: String.raw`(?![^\n])`,
  WordUnicode: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`,
  WordUnicodeNegate: `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`,
};

function partsOf({ kind }: Hir): readonly Hir[] {
  switch (kind["@variant"]) {
    case "Concat":
    case "Alternation":
      return kind["@values"][0];
    case "Repetition":
    case "Capture":
      return [kind["@values"][0].sub];
    default:
      return [];
  }
}

/** Steps of the program that searches for a pattern, roughly. */
function sizeOf(hir: Hir): number {
  const { kind } = hir;
  if (kind["@variant"] === "Literal") return kind["@values"][0]["@values"][0].length;
  const size = partsOf(hir).reduce((sum, it) => sum + sizeOf(it), 1);
  if (kind["@variant"] !== "Repetition") return size;
  const { min, max = min + 1 } = kind["@values"][0];
  return size * Math.max(1, max);
}

const some = (hir: Hir, is: (hir: Hir) => boolean): boolean => is(hir) || partsOf(hir).some((it) => some(it, is));

function isVariable({ kind }: Hir): boolean {
  if (kind["@variant"] !== "Repetition") return kind["@variant"] === "Alternation";
  const { min, max } = kind["@values"][0];
  return min !== max;
}

/** A variable part that is repeated may be tried in exponentially many ways. */
const isNested = (hir: Hir): boolean =>
  some(hir, ({ kind }) => {
    if (kind["@variant"] !== "Repetition") return false;
    const { max, sub } = kind["@values"][0];
    return max !== 1 && some(sub, isVariable);
  });

const countVariable = (hir: Hir): number =>
  partsOf(hir).reduce((sum, it) => sum + countVariable(it), isVariable(hir) ? 1 : 0);

/** Ways that a search may try in the worst case; about 0.1 s. */
const mostWays = 10_000_000;

const codePoint = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

const isLiteral = ({ kind }: Hir): boolean => kind["@variant"] === "Literal";

function javascriptWriter(groups: readonly PatternGroup[]) {
  let ignoresCase = false;
  const group = (index: number, sub: Hir): string => {
    const meaning = groups[index - 1] ?? { is: "capture" };
    switch (meaning.is) {
      case "capture":
        return `(?<g${index}>${write(sub)})`;
      case "look":
        return `(?${meaning.sign}${write(sub)})`;
      case "before_last_newlines":
        return String.raw`(?=\n*$)`;
      case "backreference":
        ignoresCase ||= !isLiteral(sub);
        return `\\k<g${meaning.to}>`;
    }
  };
  const write = ({ kind }: Hir): string => {
    switch (kind["@variant"]) {
      case "Empty":
        return "";
      case "Literal":
        return Array.from(
          new TextDecoder("utf-8", { ignoreBOM: true }).decode(kind["@values"][0]["@values"][0]),
          codePoint,
        ).join("");
      case "Class": {
        const [set] = kind["@values"];
        if (set["@variant"] === "Bytes") return unsupported();
        const { ranges } = set["@values"][0];
        return `[${ranges.map(({ start, end }) => `${codePoint(start)}-${codePoint(end)}`).join("")}]`;
      }
      case "Look":
        return places[kind["@values"][0]["@variant"]] ?? unsupported();
      case "Repetition": {
        const { min, max = "", sub } = kind["@values"][0];
        return `(?:${write(sub)}){${min},${max}}`;
      }
      case "Capture":
        return group(kind["@values"][0].index, kind["@values"][0].sub);
      case "Concat":
        return kind["@values"][0].map(write).join("");
      case "Alternation":
        return `(?:${kind["@values"][0].map(write).join("|")})`;
    }
  };
  return { write, ignoresCase: () => ignoresCase };
}

function unsupported(): never {
  throw new FlagFailure("unsupported_regex");
}

/** The whole pattern ignores case: mode `i` comes first, and no mode is switched off. */
const ignoresAllCase = (source: string): boolean => /^\(\?[a-zA-Z]*i[a-zA-Z]*\)(?!.*\(\?[a-zA-Z]*-)/s.test(source);

function expressionOf(hir: Hir, groups: readonly PatternGroup[], source: string): RegExp {
  const writer = javascriptWriter(groups);
  const written = writer.write(hir);
  // JavaScript knows mode `i` for whole patterns only
  if (writer.ignoresCase() && !ignoresAllCase(source)) unsupported();
  try {
    return new RegExp(written, writer.ignoresCase() ? "iv" : "v");
  } catch {
    return unsupported();
  }
}

/**
 * Upstream bounds the steps of such a search; here what could take too long is refused.
 * @param source The pattern that was parsed.
 */
function backtrackingSearch(hir: Hir, groups: readonly PatternGroup[], source: string): (text: string) => boolean {
  const isEndless = isNested(hir);
  const variable = countVariable(hir);
  const expression = expressionOf(hir, groups, source);
  return (text) => {
    if (isEndless || (text.length + 1) ** (variable + 1) > mostWays) unsupported();
    return expression.test(text);
  };
}

/**
 * Searches with Rust's regex crate in WebAssembly, which is what upstream's fancy-regex uses. Only what the crate does
 * not have (look-around, back-references) is searched by JavaScript.
 */
type Search = (text: string) => boolean;

let loaded: typeof import("rregex") | undefined;

/** Loads the library with the first pattern: 1 MB, 10 ms. Flags are evaluated synchronously, so `import()` is too late. */
function library(): typeof import("rregex") {
  loaded ??= createRequire(import.meta.url)(builtFile("packages/rregex.cjs")) as typeof import("rregex");
  return loaded;
}

/** A pattern in the crate's own syntax. @throws InvalidPattern @throws FlagFailure unsupported_regex */
export function rustRegex(source: string): RRegex {
  const { RRegex } = library();
  try {
    return new RRegex(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    // another version of Unicode may have the property; a size limit may be another
    const isInvalid = message.startsWith("regex parse error") && !message.includes("error: Unicode property");
    throw isInvalid ? new InvalidPattern() : new FlagFailure("unsupported_regex");
  }
}

/** Characters × size of the pattern that a search may take; about half a second at worst. */
const mostWork = 20_000_000;

/** The crate's search is linear in text × pattern, and both can be large. */
function linearSearch(source: string): Search {
  const regex = rustRegex(source);
  // only counted repeats make a pattern larger than its source
  let size = source.length;
  let isExact = !source.includes("{");
  return (text) => {
    if (!isExact) size = sizeOf(regex.syntax());
    isExact = true;
    if (text.length * size > mostWork) throw new FlagFailure("unsupported_regex");
    return regex.isMatch(text);
  };
}

/**
 * The search for a pattern in the syntax of Rust's `fancy-regex`: anywhere in the text, with regard to case; undefined
 * when the pattern is invalid. No search takes longer than about half a second.
 * @throws FlagFailure unsupported_regex, here or in the search, where upstream's answer is not known.
 */
export function patternOf(pattern: string): Search | undefined {
  try {
    const { source, groups, isPlain } = rustPatternOf(pattern);
    return isPlain ? linearSearch(source) : backtrackingSearch(rustRegex(source).syntax(), groups, source);
  } catch (error) {
    if (error instanceof InvalidPattern) return undefined;
    throw error;
  }
}

/** False if the pattern is invalid. True also for one that is not supported: it fails the flag, which reports it. */
export function isPattern(pattern: string): boolean {
  try {
    return patternOf(pattern) !== undefined;
  } catch (error) {
    if (error instanceof FlagFailure) return true;
    throw error;
  }
}

const mostKnown = 1000;

/** `isPattern` with a memory: compiling takes milliseconds, and every list of flags asks about every pattern. */
export function createPatternCheck(): typeof isPattern {
  const known = new Map<string, boolean>();
  return (pattern) => {
    const verdict = known.get(pattern) ?? isPattern(pattern);
    if (known.size >= mostKnown) known.clear();
    known.set(pattern, verdict);
    return verdict;
  };
}
