import { likeTest } from "../../../../kernel/base/wildcard.ts";
import { rustRegex } from "../../../flags/engine/pattern.ts";
import { memo } from "../../memo.ts";
import { Refusal } from "../refusal.ts";

/** Compiled patterns that are remembered; queries have few. */
const mostKnown = 200;

export interface Patterns {
  like(pattern: string, isCaseless: boolean): (text: string) => boolean;
  regex(pattern: string): Regex;
}

export interface Regex {
  isMatch(text: string): boolean;
  /** The first group of the first match, or the whole match; the empty string if there is none. */
  first(text: string): string;
  all(text: string): string[];
  count(text: string): number;
  /** Replaces matches; `\1` in `by` is the first group. */
  replaced(text: string, by: string, isGlobal: boolean): string;
}

/** Characters × length of the pattern that a search may take; about half a second at worst. */
const mostWork = 20_000_000;

const classes: Readonly<Record<string, string>> = { w: "0-9A-Za-z_", d: "0-9", s: "\\t\\n\\f\\r " };

/** RE2's classes `\w`, `\d`, `\s` and `\b` have ASCII characters only; those of the crate have all of Unicode. */
function asciiClasses(pattern: string): string {
  let depth = 0;
  return pattern.replace(/\\.|\[|\]/gs, (token) => {
    if (token === "[") depth += 1;
    if (token === "]") depth = Math.max(0, depth - 1);
    const letter = token.charAt(1);
    if (letter === "b" || letter === "B") return `(?-u:${token})`;
    const set = classes[letter.toLowerCase()];
    if (set === undefined) return token;
    if (letter !== letter.toLowerCase()) return `[^${set}]`;
    return depth > 0 ? set : `[${set}]`;
  });
}

function regexFor(pattern: string): Regex {
  const compiled = (source: string) => {
    try {
      return rustRegex(source);
    } catch {
      throw new Refusal(`Invalid or unsupported regular expression: ${JSON.stringify(pattern)}`);
    }
  };
  const source = asciiClasses(pattern);
  // A dot is any character, except in replacements.
  const search = compiled(`(?s)${source}`);
  let replacing: ReturnType<typeof compiled> | undefined;
  const checked = (text: string): string => {
    if (text.length * pattern.length > mostWork)
      throw new Refusal(`The regular expression ${JSON.stringify(pattern)} takes too long`);
    return text;
  };
  const groups = search.capturesLength() - 1;
  function group(match: { readonly get: readonly { readonly value: string }[] } | undefined): string {
    // The library leaves out groups that took no part in a match: which ones is not known.
    if (match && groups > 1 && match.get.length <= groups)
      throw new Refusal(`Optional groups in the regular expression ${JSON.stringify(pattern)} are not emulated`);
    return match?.get[groups > 0 ? 1 : 0]?.value ?? "";
  }
  return {
    isMatch: (text) => search.isMatch(checked(text)),
    first: (text) => group(search.captures(checked(text))),
    all: (text) => search.capturesAll(checked(text)).map(group),
    count: (text) => search.findAll(checked(text)).filter(({ value }) => value !== "").length,
    replaced(text, by, isGlobal) {
      replacing ??= compiled(source);
      const rewritten = by
        .replace(/\$/g, "$$$$")
        .replace(/\\(\\|\d)/g, (_, it: string) => (it === "\\" ? "\\" : `\${${it}}`));
      return isGlobal ? replacing.replaceAll(checked(text), rewritten) : replacing.replace(checked(text), rewritten);
    },
  };
}

export function createPatterns(): Patterns {
  const exact = memo((pattern: string) => likeTest(pattern, false), mostKnown);
  const caseless = memo((pattern: string) => likeTest(pattern, true), mostKnown);
  return { like: (pattern, isCaseless) => (isCaseless ? caseless : exact)(pattern), regex: memo(regexFor, mostKnown) };
}
