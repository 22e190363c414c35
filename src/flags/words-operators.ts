import type { Json } from "../kernel/json.ts";

/** Operators in plain English. Browser-safe: the page says with it what a trace compared. */

/** What comes after the property's name: `is "pro" or "team"`. */
type Phrase = (value: Json) => string;

const longestText = 80;
const mostListed = 6;

/** A value in a sentence: text in quotes, all else as JSON; long ones are cut. */
export function valueWords(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

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
    if (back !== undefined) return `is ${relative} ${back}`;
    return typeof value === "string"
      ? `is ${absolute} ${value}`
      : `is ${absolute} a date that cannot be read`;
  };

const ranged =
  (what: string): Phrase =>
  (value) => {
    const isRange = Array.isArray(value) && value.length === 2;
    return isRange
      ? `${what} ${valueWords(value[0] ?? null)} and ${valueWords(value[1] ?? null)}`
      : `${what} bounds that cannot be read`;
  };

/** Versions are written without quotes. */
const versionWords = (value: Json): string => (typeof value === "string" ? value : valueWords(value));

const version =
  (before: string, after = ""): Phrase =>
  (value) =>
    `is ${before} ${versionWords(value)}${after}`;

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

/** They ask for a cohort or a flag; with a property they match nothing. */
const elsewhere =
  (what: string): Phrase =>
  () =>
    `is asked whether it ${what}, which matches nothing`;

/** Every operator of flags/operators.ts. */
const phrases: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ["exact", anyOf("is")],
  ["is_not", noneOf("is not", "is neither")],
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
  ["semver_eq", version("version")],
  ["semver_neq", version("not version")],
  ["semver_gt", version("later than version")],
  ["semver_gte", version("version", " or later")],
  ["semver_lt", version("earlier than version")],
  ["semver_lte", version("version", " or earlier")],
  ["semver_tilde", version("in the version range ~", ", the same minor version")],
  ["semver_caret", version("in the version range ^", ", the same leftmost number that is not 0")],
  ["semver_wildcard", version("in the version range")],
  ["in", elsewhere("is in a cohort")],
  ["not_in", elsewhere("is not in a cohort")],
  ["flag_evaluates_to", elsewhere("is a flag's value")],
]);

const valueless: ReadonlySet<string> = new Set(["is_set", "is_not_set"]);

/** The operators that have words, for tests. */
export const wordedOperators: readonly string[] = [...phrases.keys()];

/** What an operator asks of a property: `is "pro" or "team"`. Never throws: a mistake is told. */
export function operatorWords(operator: string, value: Json | undefined): string {
  const phrase = phrases.get(operator);
  if (!phrase) return `is compared by ${valueWords(operator)}, an operator that is not known`;
  const given = value ?? null;
  if (given === null && !valueless.has(operator))
    return `is compared by "${operator}" with no value: no match`;
  // The signs of version ranges stand close to their version.
  return phrase(given).replace(/([~^]) /, "$1");
}
