import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import type { Answer } from "./answers.ts";

/** A filter on a property alone, where the sides differ. */
interface FilterMismatch {
  readonly operator: string;
  readonly expected: Json | undefined;
  /** What posthog-node compares; undefined where it sees no such property. */
  readonly actual: Json | undefined;
  /** What the service compares. */
  readonly actualOfService: Json | undefined;
  readonly type: Json | undefined;
  /** Group type of its condition set; null is the person. */
  readonly aggregation: number | null;
  readonly timezone: string;
  readonly ours: Answer["value"];
  readonly theirs: Answer["value"];
}

/** A known difference, meant to be: the engine follows the service. */
interface FilterDifference {
  readonly name: string;
  readonly reason: string;
  explains(mismatch: FilterMismatch): boolean;
}

const isIn =
  (...names: string[]) =>
  ({ operator }: FilterMismatch): boolean =>
    names.includes(operator);

const isExact = isIn("exact", "is_not");
const isOrder = isIn("gt", "gte", "lt", "lte");
const isDate = isIn("is_date_before", "is_date_after");
const isRegex = isIn("regex", "not_regex");
const isText = (it: FilterMismatch): boolean =>
  isRegex(it) || /^(?:not_)?(?:icontains|starts_with|ends_with)$/.test(it.operator);
const isVersion = ({ operator }: FilterMismatch): boolean => operator.startsWith("semver_");
const isUnresolved = ({ theirs }: FilterMismatch): boolean => theirs === undefined;
const isDefinite = ({ ours, theirs }: FilterMismatch): boolean => ours !== undefined && theirs !== undefined;

const some = (value: Json | undefined, is: (value: Json) => boolean): boolean => {
  if (value === undefined) return false;
  if (is(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((it) => some(it, is));
};
const isInteger = (value: Json): boolean => Number.isInteger(value);
const isCollection = (value: Json | undefined): boolean => typeof value === "object" && value !== null;
const hasExponent = (value: Json): boolean =>
  typeof value === "number" && value !== 0 && (Math.abs(value) < 1e-5 || Math.abs(value) >= 2 ** 63);
const hasLoneSurrogate = (value: Json): boolean => typeof value === "string" && /\p{Surrogate}/u.test(value);

/** A number, or text that is nothing but one. */
const isNumeric = (value: Json | undefined): boolean =>
  typeof value === "number" || (typeof value === "string" && /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value));

/** What both sides read alike: a date, or a date and time with an offset. */
const isPlainDate = (value: Json | undefined): boolean =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/.test(value);
const isRelative = (value: Json | undefined): boolean => typeof value === "string" && /^-?\d{1,4}[hdwmy]$/.test(value);
const isZoneless = (value: Json | undefined): boolean =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?$/.test(value);

const isSpelledOtherwise = (value: Json | undefined): boolean =>
  typeof value === "string" && ![isPlainDate, isRelative, isZoneless].some((is) => is(value));

/** One to three numbers without leading zeros, perhaps after a `v`. */
const isPlainVersion = (value: Json | undefined): boolean =>
  /^v?(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){0,2}$/.test(String(value));
const hasSuffix = (value: Json | undefined): boolean => /^v?\d[\d.]*[-+]/.test(String(value));
const hasManyNumbers = (value: Json | undefined): boolean => /^v?\d+(?:\.\d+){3,}/.test(String(value));

const hasLeadingZeros = ({ actual, expected }: FilterMismatch): boolean =>
  [actual, expected].some((version) => /(?:^|\.)0\d/.test(String(version)));
const hasForeignWildcard = ({ operator, expected }: FilterMismatch): boolean =>
  operator === "semver_wildcard" && /^\*$|x/.test(String(expected));

const node = "posthog-node 5.70, @posthog/core featureFlagLocalEvaluation";

export const filterDifferences: readonly FilterDifference[] = [
  {
    name: "missing property",
    reason: `A property that was not passed in may be stored: the client does not decide (${node}).`,
    explains: (it) => it.actual === undefined && isUnresolved(it),
  },
  {
    name: "filter about something else than its set",
    reason: `The client reads every filter of a set from the one set of properties that the set is about (${node}); the service goes by the filter's type.`,
    explains: (it) =>
      (it.aggregation === null ? it.type === "group" : it.type === "person") &&
      !isDeepStrictEqual(it.actual, it.actualOfService),
  },
  {
    name: "field of the person",
    reason: `person_metadata is read from the person itself by the service, from its properties by the client (${node}).`,
    explains: ({ type, actual }) => type === "person_metadata" && actual !== undefined,
  },
  {
    name: "operator that the client lacks",
    reason: `The client knows no is_date_exact, between and *_multi; for null it says false before it looks at the operator (${node}).`,
    explains: (it) =>
      isIn("is_date_exact", "between", "not_between", "icontains_multi", "not_icontains_multi")(it) &&
      (isUnresolved(it) || it.actual === null),
  },
  {
    name: "filter without a value",
    reason: `The service lets a filter without a value match no one (rust/feature-flags, property_matching); the client compares with the text "null" (${node}).`,
    explains: (it) => it.expected === null && !it.operator.endsWith("_set"),
  },
  {
    name: "whole numbers",
    reason: `5 and 5.0 are different texts to the service and one number to JavaScript: the client does not decide (${node}).`,
    explains: (it) => isExact(it) && isUnresolved(it) && (some(it.actual, isInteger) || some(it.expected, isInteger)),
  },
  {
    name: "numbers with exponents",
    reason: "The service writes 5e-6 and 1e21 (Rust's serde_json) where JavaScript writes 0.000005 and 1e+21.",
    explains: (it) =>
      (isExact(it) || isText(it)) && isDefinite(it) && (some(it.actual, hasExponent) || some(it.expected, hasExponent)),
  },
  {
    name: "half a character",
    reason: `JSON as the service reads it has no unpaired surrogates: the client does not decide (${node}).`,
    explains: (it) => isUnresolved(it) && some(it.actual, hasLoneSurrogate),
  },
  {
    name: "lists as text",
    reason: `The service takes the JSON of lists and objects as their text, the client what String() makes of them (${node}).`,
    explains: (it) =>
      (isText(it) || isVersion(it)) && isDefinite(it) && (isCollection(it.actual) || isCollection(it.expected)),
  },
  {
    name: "regex dialect",
    reason: `The client searches only where JavaScript and Rust surely agree: plain ASCII without look-around and flags (${node}).`,
    explains: (it) =>
      isRegex(it) &&
      isUnresolved(it) &&
      (/\(\?(?!:)|\\[bBpP]|\[\[|^\{|[^\0-\x7f]/.test(String(it.expected)) || /[^\0-\x7f]|\r/.test(String(it.actual))),
  },
  {
    name: "order of texts",
    reason: `The client reads a number from the start of a text and else compares as text (${node}); the service compares numbers only.`,
    explains: (it) => isOrder(it) && isDefinite(it) && !(isNumeric(it.actual) && isNumeric(it.expected)),
  },
  {
    name: "numbers as dates",
    reason: `To the service numbers and numeric texts are seconds since 1970; the client takes numbers as ms and "2024" as a year (${node}).`,
    explains: (it) => isDate(it) && (isNumeric(it.actual) || typeof it.expected === "number"),
  },
  {
    name: "unreadable date",
    reason: `The service says no where a date cannot be read, the client does not decide (${node}).`,
    explains: (it) =>
      isDate(it) &&
      isUnresolved(it) &&
      it.ours === false &&
      !isNumeric(it.actual) &&
      !isRelative(it.actual) &&
      typeof it.expected !== "number",
  },
  {
    name: "days that do not exist",
    reason: "To the service February 30 is no date, to JavaScript it is March 2.",
    explains: (it) =>
      isDate(it) && isDefinite(it) && [it.actual, it.expected].some((date) => /-02-30/.test(String(date))),
  },
  {
    name: "relative date as property",
    reason: `The service reads -3d in a property, too; the client only in filters (${node}).`,
    explains: (it) => isDate(it) && isUnresolved(it) && isRelative(it.actual),
  },
  {
    name: "dates without an offset",
    reason: `The service reads them in the project's time zone; JavaScript in UTC, or in the process's.`,
    explains: (it) =>
      isDate(it) &&
      isDefinite(it) &&
      it.timezone !== "UTC" &&
      (isZoneless(it.actual) || isZoneless(it.expected) || isRelative(it.expected)),
  },
  {
    name: "other spellings of dates",
    reason: `They are read by the service's own lenient parser (in UTC, at the present time of day), by the client with JavaScript's Date.`,
    explains: (it) =>
      isDate(it) && isDefinite(it) && (isSpelledOtherwise(it.actual) || isSpelledOtherwise(it.expected)),
  },
  {
    name: "unreadable version",
    reason: `The service says no to a version that it cannot read, the client does not decide (${node}).`,
    explains: (it) =>
      isVersion(it) &&
      isUnresolved(it) &&
      it.ours === false &&
      !(isPlainVersion(it.actual) && isPlainVersion(it.expected)) &&
      !hasLeadingZeros(it) &&
      !hasForeignWildcard(it),
  },
  {
    name: "leading zeros in versions",
    reason: `The service drops leading zeros, the client refuses them (${node}).`,
    explains: (it) => isVersion(it) && isUnresolved(it) && hasLeadingZeros(it),
  },
  {
    name: "prereleases",
    reason: `The client looks at the three numbers only (${node}); the service orders prereleases and builds, too.`,
    explains: (it) => isVersion(it) && isDefinite(it) && (hasSuffix(it.actual) || hasSuffix(it.expected)),
  },
  {
    name: "loosely written versions",
    reason: `The client takes a V, blanks before the v and a fourth number (${node}); the service takes none of these.`,
    explains: (it) =>
      isVersion(it) &&
      isDefinite(it) &&
      [it.actual, it.expected].some((v) => hasManyNumbers(v) || /^V|^\s+v/.test(String(v))),
  },
  {
    name: "wildcards without a star",
    reason: `Without a * the service means what ^ does, the client the numbers before the last one (${node}).`,
    explains: (it) => it.operator === "semver_wildcard" && isDefinite(it) && isPlainVersion(it.expected),
  },
  {
    name: "wildcards that the client lacks",
    reason: `The service takes a * alone and x for it, the client neither (${node}).`,
    explains: (it) => isUnresolved(it) && hasForeignWildcard(it),
  },
];

/** What a filter is compared with, as the client sees it. */
export const seenBy = (properties: JsonObject, filter: JsonObject): Json | undefined => {
  const { key } = filter;
  return typeof key === "string" && Object.hasOwn(properties, key) ? properties[key] : undefined;
};
