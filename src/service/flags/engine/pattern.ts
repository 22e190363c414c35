import { createRequire } from "node:module";
import type { RRegex } from "rregex";
import { builtFile } from "../../../kernel/base/built-file.ts";
import { backtrackingSearch, sizeOf } from "./pattern-backtracking.ts";
import { InvalidPattern, rustPatternOf } from "./pattern-syntax.ts";
import { FlagFailure } from "./reasons.ts";

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

/**
 * A pattern in the crate's own syntax.
 * @throws InvalidPattern
 * @throws FlagFailure unsupported_regex
 */
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
