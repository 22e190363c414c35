import { FlagFailure } from "./reasons.ts";

/** Syntax that upstream's engine (Rust's fancy-regex) knows and JavaScript's has not, or reads differently. */
const foreign = /\(\?(?![:=!<]|P<)|\\[AzZGhHRK]|\[\[:|[*+?}]\+|&&|\(\?>|\\pL|\\x\{/;

/** `(?i)` and alike at the very start become JavaScript flags. */
const leadingFlags = /^\(\?([ims]+)\)/;

const compiled = (source: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
};

/**
 * The test for a pattern, unanchored and case-sensitive; undefined when the pattern is invalid.
 * @throws FlagFailure when the pattern may be valid upstream but cannot be run here.
 */
export function patternOf(pattern: string): RegExp | undefined {
  const flags = leadingFlags.exec(pattern)?.[1] ?? "";
  const source = pattern.replace(leadingFlags, "").replaceAll("(?P<", "(?<");
  if (foreign.test(source)) throw new FlagFailure("unsupported_regex");
  const unique = [...new Set(flags)].join("");
  // The unicode mode refuses needless escapes such as `\-`, which upstream allows.
  return compiled(source, `u${unique}`) ?? compiled(source, unique);
}
