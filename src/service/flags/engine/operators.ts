import type { Json } from "../../../kernel/base/json.ts";
import { containsText } from "../../../kernel/base/wildcard.ts";
import { timeOfProperty, timeOfText } from "./dates.ts";
import { patternOf } from "./pattern.ts";
import { FlagFailure } from "./reasons.ts";
import { isBooleanLike, isTruthy, lowerAscii, numberOf, textOf } from "./values.ts";
import {
  caretRange,
  compareVersions,
  tildeRange,
  type Version,
  type VersionRange,
  versionOf,
  wildcardRange,
} from "./versions.ts";
import { utc, type Zone } from "./zone.ts";

export interface Matching {
  /** 1: a filter that looks like a boolean compares truthiness; 2: it compares text like any other. */
  readonly version: 1 | 2;
  /** Where dates without an offset are. */
  readonly zone: Zone;
  /** `isPattern` with a memory, for words. */
  readonly isPattern?: (pattern: string) => boolean;
}

export const defaultMatching: Matching = { version: 1, zone: utc };

/** True if a present property passes. `now` in ms since the epoch. */
type ValueTest = (property: Json, now: number) => boolean;

interface Operator {
  readonly missing: boolean;
  /**
   * Makes the test for a filter's value. What upstream calls an evaluation error is no match here, too.
   * @throws FlagFailure when the value cannot be evaluated.
   */
  prepare(value: Json, matching: Matching): ValueTest;
}

export interface PreparedTest {
  readonly missing: boolean;
  readonly passes: ValueTest;
}

const never: ValueTest = () => false;
const positive = (prepare: Operator["prepare"]): Operator => ({ missing: false, prepare });

/** The opposite of an operator, for absent properties, too. */
const not = (operator: Operator): Operator => ({
  missing: !operator.missing,
  prepare(value, matching) {
    const test = operator.prepare(value, matching);
    return (property, now) => !test(property, now);
  },
});

/**
 * In version 1 boolean-like values compare by truthiness: the filter "false" matches 0, "banana" and null.
 * In version 2 only the empty list still does.
 */
export const comparesTruth = (value: Json, { version }: Matching): boolean =>
  version === 1 ? isBooleanLike(value) : Array.isArray(value) && value.length === 0;

const exact = positive((value, matching) => {
  if (comparesTruth(value, matching)) {
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

/** A list of which any is enough, or a single value. */
const containsAny = positive((value) => {
  const wanted = (Array.isArray(value) ? value : [value]).map((one) => lowerAscii(textOf(one)));
  return (property) => {
    const text = lowerAscii(textOf(property));
    return wanted.some((one) => containsText(text, one));
  };
});

/** An invalid pattern fails both the operator and its opposite. */
const regex = (wanted: boolean): Operator => ({
  missing: !wanted,
  prepare(value) {
    const isFound = patternOf(textOf(value));
    return isFound ? (property) => isFound(textOf(property)) === wanted : never;
  },
});

/** What is no number compares like NaN: never. */
const numberIn = (value: Json): number => numberOf(value) ?? Number.NaN;

const numeric = (passes: (property: number, wanted: number) => boolean): Operator =>
  positive((value) => {
    const wanted = numberIn(value);
    return (property) => passes(numberIn(property), wanted);
  });

/** A malformed range, and a property that is no number, fail both the operator and its opposite. */
const between = (wanted: boolean): Operator => ({
  missing: !wanted,
  prepare(value) {
    const range = Array.isArray(value) ? value.map(numberIn) : [];
    const [low = Number.NaN, high = Number.NaN] = range;
    if (range.length !== 2 || !(low <= high)) return never;
    return (property) => {
      const number = numberIn(property);
      return !Number.isNaN(number) && (number >= low && number <= high) === wanted;
    };
  },
});

const dated = (passes: (property: number, wanted: number) => boolean): Operator =>
  positive((value, { zone }) =>
    typeof value === "string"
      ? (property, now) => passes(timeOfProperty(property, now, zone), timeOfText(value, now, zone))
      : never,
  );

const versioned = (passes: (order: number) => boolean): Operator =>
  positive((value) => {
    const wanted = versionOf(textOf(value));
    return wanted ? versionTest((version) => passes(compareVersions(version, wanted))) : never;
  });

const ranged = (rangeOf: (text: string) => VersionRange | undefined): Operator =>
  positive((value) => {
    const range = rangeOf(textOf(value));
    return range ? versionTest(range) : never;
  });

const versionTest =
  (passes: (version: Version) => boolean): ValueTest =>
  (property) => {
    const version = versionOf(textOf(property));
    return version !== undefined && passes(version);
  };

const isSet = positive(() => () => true);
const contains = textual(containsText);
const startsWith = textual((text, wanted) => text.startsWith(wanted));
const endsWith = textual((text, wanted) => text.endsWith(wanted));
/** Meant for cohorts and flags: an evaluation error where it stands with a property. */
const elsewhere: Operator = { missing: false, prepare: () => never };

/**
 * The operators of property filters. A present null counts as set; its text is "null". What is not in
 * the table fails the flag. Upstream PostHog rust/feature-flags, property_matching.
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
  ["in", elsewhere],
  ["not_in", elsewhere],
  ["flag_evaluates_to", elsewhere],
]);

const valueless: ReadonlySet<string> = new Set(["is_set", "is_not_set"]);

export const operatorNames: readonly string[] = [...operators.keys()];

/** @throws FlagFailure for an operator that upstream does not have. */
export function checkOperator(name: string): void {
  if (!operators.has(name)) throw new FlagFailure("unsupported_operator");
}

/**
 * The test of an operator with a filter's value. A filter whose value is null or absent never matches,
 * whatever the operator, unless it needs no value.
 * @throws FlagFailure for an unknown operator and for a value that cannot be evaluated.
 */
export function prepareTest(name: string, value: Json | undefined, matching: Matching): PreparedTest {
  const operator = operators.get(name);
  if (!operator) throw new FlagFailure("unsupported_operator");
  if ((value === undefined || value === null) && !valueless.has(name)) return { missing: false, passes: never };
  return { missing: operator.missing, passes: operator.prepare(value ?? null, matching) };
}
