import type { Json } from "../../../kernel/base/json.ts";
import { timeOfText } from "../engine/dates.ts";
import { comparesTruth, defaultMatching, type Matching } from "../engine/operators.ts";
import { isPattern } from "../engine/pattern.ts";
import { isTruthy, numberOf, textOf } from "../engine/values.ts";
import { caretRange, tildeRange, versionOf, wildcardRange } from "../engine/versions.ts";
import { utc } from "../engine/zone.ts";
import { valueWords } from "./trace-words.ts";

/** The words after the property's name: `is "pro" or "team"`. */
type Phrase = (value: Json, matching: Matching) => string;

const mostListed = 6;

/** `"a", "b" or "c"`; a single value as it is. */
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

/** Without a wildcard it is the same as a caret. */
const wildcard: Phrase = (value) => {
  const text = textOf(value);
  return `is in the version range ${/(^|\.)[*x](\.|$)/i.test(text) ? "" : "^"}${text}`;
};

const plain =
  (before: string): Phrase =>
  (value) =>
    `${before} ${valueWords(value)}`;

/** One value of a list is enough; for the opposite, none may match. */
const anyOf =
  (before: string): Phrase =>
  (value) =>
    `${before} ${listed(value, "or")}`;
const noneOf =
  (single: string, several: string): Phrase =>
  (value) =>
    `${isSeveral(value) ? several : single} ${listed(value, "nor")}`;

/** Where truth is compared instead of text, all values that are not true are the same. */
const truthOr =
  (phrase: Phrase, whenTrue: string, whenFalse: string): Phrase =>
  (value, matching) => {
    if (!comparesTruth(value, matching)) return phrase(value, matching);
    return isTruthy(value) ? whenTrue : whenFalse;
  };

/** Operators for cohorts or flags. */
const elsewhere =
  (operator: string): Phrase =>
  () =>
    `is compared by "${operator}", which never matches a property`;

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
  ["in", elsewhere("in")],
  ["not_in", elsewhere("not_in")],
  ["flag_evaluates_to", elsewhere("flag_evaluates_to")],
]);

type IsReadable = (value: Json, matching: Matching) => boolean;

const isNumber: IsReadable = (value) => !Number.isNaN(numberOf(value) ?? Number.NaN);
const isRange: IsReadable = (value) => {
  const [low = null, high = null] = Array.isArray(value) && value.length === 2 ? value : [];
  return Number(numberOf(low) ?? Number.NaN) <= Number(numberOf(high) ?? Number.NaN);
};
const isDate: IsReadable = (value) => typeof value === "string" && !Number.isNaN(timeOfText(value, 0, utc));
const isVersion: IsReadable = (value) => versionOf(textOf(value)) !== undefined;

/** Which values can be compared at all. By their beginnings: `semver_gt` and alike, `is_date_before` and alike. */
const readable: readonly (readonly [names: RegExp, IsReadable])[] = [
  [/^[gl]te?$/, isNumber],
  [/between$/, isRange],
  [/^is_date/, isDate],
  [/regex$/, (value, matching) => (matching.isPattern ?? isPattern)(textOf(value))],
  [/^semver_tilde$/, (value) => tildeRange(textOf(value)) !== undefined],
  [/^semver_caret$/, (value) => caretRange(textOf(value)) !== undefined],
  [/^semver_wildcard$/, (value) => wildcardRange(textOf(value)) !== undefined],
  [/^semver/, isVersion],
];

const isReadable = (operator: string, value: Json, matching: Matching): boolean =>
  readable.find(([names]) => names.test(operator))?.[1](value, matching) ?? true;

/** Operators that a property that is not set passes even with an unreadable value. */
const opposites: ReadonlySet<string> = new Set(["not_between", "not_regex"]);

const valueless: ReadonlySet<string> = new Set(["is_set", "is_not_set"]);

/** The operators that have words, for tests. */
export const wordedOperators: readonly string[] = [...phrases.keys()];

/** What an operator requires of a property: `is "pro" or "team"`. Never throws: the words describe a mistake. */
export function operatorWords(operator: string, value: Json | undefined, matching: Matching = defaultMatching): string {
  const phrase = phrases.get(operator);
  if (!phrase) return `is compared by ${valueWords(operator)}, which is not known`;
  const given = value ?? null;
  if (given === null && !valueless.has(operator)) return `is compared by "${operator}" with no value`;
  if (isReadable(operator, given, matching)) return phrase(given, matching);
  const text = valueWords(given);
  return opposites.has(operator)
    ? `is not set, as "${operator}" cannot read ${text}`
    : `is compared by "${operator}" with ${text}, which cannot be read`;
}

export interface WordedFilter {
  readonly key: string;
  /** Default: `person`. */
  readonly type?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: Json | undefined;
  /** The name of the group type, for a property of a group. */
  readonly groupType?: string | undefined;
  readonly cohortName?: string | undefined;
  /** The key of the flag that it refers to; filters have its id. */
  readonly flagKey?: string | undefined;
  /** False if that flag does not exist. */
  readonly isFlagKnown?: boolean | undefined;
  readonly negation?: boolean | undefined;
  readonly matching?: Matching | undefined;
}

/** `"Paying" (1)`, or the number alone. */
export const cohortTitle = (id: Json, name: string | undefined): string =>
  name === undefined || name === "" ? `cohort ${valueWords(id)}` : `cohort ${valueWords(name)} (${valueWords(id)})`;

/** A condition of a cohort whose type is not known; "" for a cohort without conditions. */
export const unknownWords = (type: string): string =>
  type === "" ? "no one" : `a condition of the type ${valueWords(type)}, which never matches`;

const cohortVerbs: ReadonlyMap<string, string> = new Map([
  ["in", "is in"],
  ["not_in", "is not in"],
]);

function cohortClause({ operator = "in", value = null, cohortName }: WordedFilter): string {
  const title = cohortTitle(value, cohortName);
  const verb = cohortVerbs.get(operator);
  return verb ? `the person ${verb} ${title}` : `${title} is compared by "${operator}", which never matches`;
}

function flagClause({ key, flagKey, isFlagKnown = true, operator = "", value = null }: WordedFilter): string {
  const name = `flag ${valueWords(flagKey ?? key)}`;
  if (!isFlagKnown) return `${name} is required, which does not exist`;
  if (operator !== "flag_evaluates_to") return `${name} is compared by "${operator}", which never matches`;
  if (typeof value === "boolean") return `${name} is ${value ? "on" : "off"}`;
  return `${name} is ${valueWords(value)}`;
}

const compared = ({ operator = "exact", value, matching }: WordedFilter): string =>
  operatorWords(operator, value, matching);

const clauses: ReadonlyMap<string, (filter: WordedFilter) => string> = new Map([
  ["person", (filter) => `${filter.key} ${compared(filter)}`],
  ["person_metadata", (filter) => `the person's own ${filter.key} ${compared(filter)}`],
  ["group", (filter) => `the ${filter.groupType ?? "group"}'s ${filter.key} ${compared(filter)}`],
  ["cohort", cohortClause],
  ["flag", flagClause],
]);

/** The types of filters that have words, for tests. */
export const wordedTypes: readonly string[] = [...clauses.keys()];

/** What a filter requires: `plan is "pro"`, `the person is in cohort "Paying" (1)`. Never throws. */
export function filterWords(filter: WordedFilter): string {
  const { type = "person", negation, key } = filter;
  const clause = clauses.get(type)?.(filter) ?? `${key} is of the type ${valueWords(type)}, which is not evaluated`;
  return negation === true ? `not (${clause})` : clause;
}

const ends: readonly string[] = [
  "which cannot be read",
  "which does not exist",
  "which is not evaluated",
  "which is not known",
  "which never matches",
  "which never matches a property",
  "with no value",
];

/** True if no subject can pass the filter with these words. */
export const isNever = (words: string): boolean => ends.some((it) => words.endsWith(it));
