import type { Json } from "../kernel/json.ts";
import { timeOfText } from "./dates.ts";
import { comparesTruth, defaultMatching, type Matching } from "./operators.ts";
import { patternOf } from "./pattern.ts";
import { FlagFailure } from "./reasons.ts";
import { isTruthy, numberOf, textOf } from "./values.ts";
import { caretRange, tildeRange, versionOf, wildcardRange } from "./versions.ts";
import { valueWords } from "./words-values.ts";
import { utc } from "./zone.ts";

/** What comes after the property's name: `is "pro" or "team"`. */
type Phrase = (value: Json, matching: Matching) => string;

const mostListed = 6;

/** `"a", "b" or "c"`; what is no list stands for itself. */
function listed(value: Json, join: "or" | "nor"): string {
  if (!Array.isArray(value)) return valueWords(value);
  if (value.length === 0) return "an empty list";
  const shown = value.slice(0, mostListed).map(valueWords);
  if (value.length > mostListed) shown.push(`${value.length - mostListed} more`);
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} ${join} ${last}`;
}

const isSeveral = (value: Json): boolean => Array.isArray(value) && value.length > 1;

const units: ReadonlyMap<string, string> = new Map([
  ["h", "hour"],
  ["d", "day"],
  ["w", "week"],
  ["m", "month"],
  ["y", "year"],
]);

/** `-30d` is 30 days ago; the sign does not matter. undefined for a date of another form. */
function backWords(value: Json): string | undefined {
  const found = typeof value === "string" ? /^-?(\d{1,4})([hdwmy])$/.exec(value) : null;
  const unit = units.get(found?.[2] ?? "");
  if (!found || unit === undefined) return undefined;
  const count = Number(found[1]);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

const dated =
  (absolute: string, relative: string): Phrase =>
  (value) => {
    const back = backWords(value);
    return back === undefined ? `is ${absolute} ${textOf(value)}` : `is ${relative} ${back}`;
  };

const ranged =
  (what: string): Phrase =>
  (value) =>
    `${what} ${(Array.isArray(value) ? value : [value]).map(valueWords).join(" and ")}`;

/** Versions are written without quotes. */
const version =
  (before: string, after = ""): Phrase =>
  (value) =>
    `is ${before}${textOf(value)}${after}`;

/** Without a wildcard it means what a caret does. */
const wildcard: Phrase = (value) => {
  const text = textOf(value);
  return `is in the version range ${/(^|\.)[*x](\.|$)/i.test(text) ? "" : "^"}${text}`;
};

const plain =
  (before: string): Phrase =>
  (value) =>
    `${before} ${valueWords(value)}`;

/** Any of a list is enough; of the opposite none may be. */
const anyOf =
  (before: string): Phrase =>
  (value) =>
    `${before} ${listed(value, "or")}`;
const noneOf =
  (single: string, several: string): Phrase =>
  (value) =>
    `${isSeveral(value) ? several : single} ${listed(value, "nor")}`;

/** Where truth is compared instead of text, all that is not true is the same. */
const truthOr =
  (phrase: Phrase, whenTrue: string, whenFalse: string): Phrase =>
  (value, matching) => {
    if (!comparesTruth(value, matching)) return phrase(value, matching);
    return isTruthy(value) ? whenTrue : whenFalse;
  };

/** They ask for a cohort or a flag; with a property they match nothing. */
const elsewhere =
  (what: string): Phrase =>
  () =>
    `is asked whether it ${what}, which matches nothing`;

/** Every operator of flags/operators.ts. */
const phrases: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ["exact", truthOr(anyOf("is"), "is true", "is set to anything but true")],
  ["is_not", truthOr(noneOf("is not", "is neither"), "is not true", "is true or not set")],
  ["icontains", plain("contains")],
  ["not_icontains", plain("does not contain")],
  ["icontains_multi", anyOf("contains")],
  ["not_icontains_multi", noneOf("does not contain", "contains neither")],
  ["starts_with", plain("starts with")],
  ["not_starts_with", plain("does not start with")],
  ["ends_with", plain("ends with")],
  ["not_ends_with", plain("does not end with")],
  ["regex", plain("matches the pattern")],
  ["not_regex", plain("does not match the pattern")],
  ["gt", plain("is greater than")],
  ["gte", plain("is at least")],
  ["lt", plain("is less than")],
  ["lte", plain("is at most")],
  ["between", ranged("is between")],
  ["not_between", ranged("is not between")],
  ["is_set", () => "is set"],
  ["is_not_set", () => "is not set"],
  ["is_date_before", dated("before", "earlier than")],
  ["is_date_after", dated("after", "later than")],
  ["is_date_exact", dated("exactly", "exactly")],
  ["semver_eq", version("version ")],
  ["semver_neq", version("a version other than ")],
  ["semver_gt", version("later than version ")],
  ["semver_gte", version("version ", " or later")],
  ["semver_lt", version("earlier than version ")],
  ["semver_lte", version("version ", " or earlier")],
  ["semver_tilde", version("in the version range ~", ", the same minor version")],
  ["semver_caret", version("in the version range ^", ", the same leftmost number that is not 0")],
  ["semver_wildcard", wildcard],
  ["in", elsewhere("is in a cohort")],
  ["not_in", elsewhere("is not in a cohort")],
  ["flag_evaluates_to", elsewhere("is a flag's value")],
]);

type IsReadable = (value: Json) => boolean;

const isNumber: IsReadable = (value) => !Number.isNaN(numberOf(value) ?? Number.NaN);
const isRange: IsReadable = (value) => {
  const [low = null, high = null] = Array.isArray(value) && value.length === 2 ? value : [];
  return Number(numberOf(low) ?? Number.NaN) <= Number(numberOf(high) ?? Number.NaN);
};
const isDate: IsReadable = (value) => typeof value === "string" && !Number.isNaN(timeOfText(value, 0, utc));
const isVersion: IsReadable = (value) => versionOf(textOf(value)) !== undefined;

/** A pattern that is refused fails the flag, which is told there. */
const isPattern: IsReadable = (value) => {
  try {
    return patternOf(textOf(value)) !== undefined;
  } catch (error) {
    if (error instanceof FlagFailure) return true;
    throw error;
  }
};

/** Which values can be compared at all. By their beginnings: `semver_gt` and alike, `is_date_before` and alike. */
const readable: readonly (readonly [names: RegExp, IsReadable])[] = [
  [/^[gl]te?$/, isNumber],
  [/between$/, isRange],
  [/^is_date/, isDate],
  [/regex$/, isPattern],
  [/^semver_tilde$/, (value) => tildeRange(textOf(value)) !== undefined],
  [/^semver_caret$/, (value) => caretRange(textOf(value)) !== undefined],
  [/^semver_wildcard$/, (value) => wildcardRange(textOf(value)) !== undefined],
  [/^semver/, isVersion],
];

const isReadable = (operator: string, value: Json): boolean =>
  readable.find(([names]) => names.test(operator))?.[1](value) ?? true;

/** Operators that what is not set passes even so. */
const opposites: ReadonlySet<string> = new Set(["not_between", "not_regex"]);

const valueless: ReadonlySet<string> = new Set(["is_set", "is_not_set"]);

/** The operators that have words, for tests. */
export const wordedOperators: readonly string[] = [...phrases.keys()];

/** What an operator asks of a property: `is "pro" or "team"`. Never throws: a mistake is told. */
export function operatorWords(
  operator: string,
  value: Json | undefined,
  matching: Matching = defaultMatching,
): string {
  const phrase = phrases.get(operator);
  if (!phrase) return `is compared by ${valueWords(operator)}, which is not known`;
  const given = value ?? null;
  if (given === null && !valueless.has(operator)) return `is compared by "${operator}" with no value`;
  if (isReadable(operator, given)) return phrase(given, matching);
  const text = valueWords(given);
  return opposites.has(operator)
    ? `is not set, as "${operator}" cannot read ${text}`
    : `is compared by "${operator}" with ${text}, which cannot be read`;
}
