import type { Json } from "../kernel/json.ts";
import { timeOfProperty, timeOfText } from "./dates.ts";
import { patternOf } from "./pattern.ts";
import { FlagFailure } from "./reasons.ts";
import { isBooleanLike, isTruthy, lowerAscii, numberOf, textOf } from "./values.ts";
import {
  caretRange,
  compareVersions,
  isInRange,
  tildeRange,
  type Version,
  type VersionRange,
  versionOf,
  wildcardRange,
} from "./versions.ts";

/** Does a present property pass? `now` in ms since the epoch. */
type ValueTest = (property: Json, now: number) => boolean;

/** One way to compare a property with a filter's value. */
export interface Operator {
  /** The result for a property that is absent. */
  readonly missing: boolean;
  /**
   * Makes the test for a filter's value. What upstream calls an evaluation error is no match here, too.
   * @throws FlagFailure when the value cannot be evaluated.
   */
  prepare(value: Json): ValueTest;
}

const never: ValueTest = () => false;
const positive = (prepare: Operator["prepare"]): Operator => ({ missing: false, prepare });

/** The opposite of an operator, for absent properties, too. */
const not = (operator: Operator): Operator => ({
  missing: !operator.missing,
  prepare(value) {
    const test = operator.prepare(value);
    return (property, now) => !test(property, now);
  },
});

/** Boolean-like values compare by truthiness: the filter "false" matches 0, "banana" and null. */
const exact = positive((value) => {
  if (isBooleanLike(value)) {
    const wanted = isTruthy(value);
    return (property) => isTruthy(property) === wanted;
  }
  const wanted = new Set((Array.isArray(value) ? value : [value]).map((one) => textOf(one).toLowerCase()));
  return (property) => wanted.has(textOf(property).toLowerCase());
});

/** A test of the property's text, without regard to the case of A–Z. */
const textual = (passes: (text: string, wanted: string) => boolean): Operator =>
  positive((value) => {
    const wanted = lowerAscii(textOf(value));
    return (property) => passes(lowerAscii(textOf(property)), wanted);
  });

const containsAny = positive((value) => {
  if (!Array.isArray(value)) throw new FlagFailure("unsupported_filter_value");
  const wanted = value.map((one) => lowerAscii(textOf(one)));
  return (property) => {
    const text = lowerAscii(textOf(property));
    return wanted.some((one) => text.includes(one));
  };
});

/** An invalid pattern fails both the operator and its opposite. */
const regex = (wanted: boolean): Operator => ({
  missing: !wanted,
  prepare(value) {
    const pattern = patternOf(textOf(value));
    return pattern ? (property) => pattern.test(textOf(property)) === wanted : never;
  },
});

const numeric = (passes: (property: number, wanted: number) => boolean): Operator =>
  positive((value) => {
    const wanted = numberOf(value);
    return (property) => passes(numberOf(property), wanted);
  });

/** A malformed range, and a property that is no number, fail both the operator and its opposite. */
const between = (wanted: boolean): Operator => ({
  missing: !wanted,
  prepare(value) {
    const [low = Number.NaN, high = Number.NaN] = Array.isArray(value) ? value.map(numberOf) : [];
    if (!Array.isArray(value) || value.length !== 2 || !(low <= high)) return never;
    return (property) => {
      const number = numberOf(property);
      return !Number.isNaN(number) && (number >= low && number <= high) === wanted;
    };
  },
});

const dated = (passes: (property: number, wanted: number) => boolean): Operator =>
  positive((value) =>
    typeof value === "string"
      ? (property, now) => passes(timeOfProperty(property, now), timeOfText(value, now))
      : never,
  );

const versioned = (passes: (order: number) => boolean): Operator =>
  positive((value) => {
    const wanted = versionOf(textOf(value));
    return wanted ? versionTest((version) => passes(compareVersions(version, wanted))) : never;
  });

const ranged = (rangeOf: (text: string) => VersionRange | undefined): Operator =>
  positive((value) => {
    const range = rangeOf(textOf(value).trim());
    return range ? versionTest((version) => isInRange(version, range)) : never;
  });

const versionTest =
  (passes: (version: Version) => boolean): ValueTest =>
  (property) => {
    const version = versionOf(textOf(property));
    return version !== undefined && passes(version);
  };

const isSet = positive(() => () => true);
const contains = textual((text, wanted) => text.includes(wanted));
const startsWith = textual((text, wanted) => text.startsWith(wanted));
const endsWith = textual((text, wanted) => text.endsWith(wanted));

/**
 * The operators of property filters. A present null counts as set; its text is "null". What is not in
 * the table fails the flag. Upstream PostHog rust/feature-flags, property_matching (version 1).
 */
const operators: ReadonlyMap<string, Operator> = new Map([
  ["exact", exact],
  ["is_not", not(exact)],
  ["icontains", contains],
  ["not_icontains", not(contains)],
  ["icontains_multi", containsAny],
  ["not_icontains_multi", not(containsAny)],
  ["starts_with", startsWith],
  ["not_starts_with", not(startsWith)],
  ["ends_with", endsWith],
  ["not_ends_with", not(endsWith)],
  ["regex", regex(true)],
  ["not_regex", regex(false)],
  ["gt", numeric((property, wanted) => property > wanted)],
  ["gte", numeric((property, wanted) => property >= wanted)],
  ["lt", numeric((property, wanted) => property < wanted)],
  ["lte", numeric((property, wanted) => property <= wanted)],
  ["between", between(true)],
  ["not_between", between(false)],
  ["is_set", isSet],
  ["is_not_set", not(isSet)],
  ["is_date_before", dated((property, wanted) => property < wanted)],
  ["is_date_after", dated((property, wanted) => property > wanted)],
  ["is_date_exact", dated((property, wanted) => property === wanted)],
  ["semver_eq", versioned((order) => order === 0)],
  ["semver_neq", versioned((order) => order !== 0)],
  ["semver_gt", versioned((order) => order > 0)],
  ["semver_gte", versioned((order) => order >= 0)],
  ["semver_lt", versioned((order) => order < 0)],
  ["semver_lte", versioned((order) => order <= 0)],
  ["semver_tilde", ranged(tildeRange)],
  ["semver_caret", ranged(caretRange)],
  ["semver_wildcard", ranged(wildcardRange)],
]);

/** @throws FlagFailure for an operator that the table lacks. */
export function operatorOf(name: string): Operator {
  const operator = operators.get(name);
  if (!operator) throw new FlagFailure("unsupported_operator");
  return operator;
}

/** All names, for tests and documentation. */
export const operatorNames: readonly string[] = [...operators.keys()];
