import type { Json } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { containsText, likeTest } from "../../../kernel/base/wildcard.ts";
import { timeOfProperty } from "../../flags/engine/dates.ts";
import { patternOf } from "../../flags/engine/pattern.ts";
import { FlagFailure } from "../../flags/engine/reasons.ts";
import { lowerAscii, numberOf, textOf } from "../../flags/engine/values.ts";
import { type Zone, zoneOf } from "../../flags/engine/zone.ts";
import type { QueryProject } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import { absoluteDate, calendarOf, readDate } from "./dates.ts";

/** True if a value passes; `missing` is the result for none, and for null. */
interface OperatorTest {
  readonly missing: boolean;
  passes(value: Json): boolean;
}

type Operator = (wanted: Json, project: QueryProject) => OperatorTest;

/**
 * The operators of property filters in queries. They differ from those of flags: a comparison with NULL is false, or
 * true for an opposite. Upstream PostHog/posthog posthog/hogql/property.py, `_expr_to_compare_op`.
 */

const positive = (passes: (value: Json) => boolean): OperatorTest => ({ missing: false, passes });

const not =
  (operator: Operator): Operator =>
  (wanted, project) => {
    const test = operator(wanted, project);
    return { missing: !test.missing, passes: (value) => !test.passes(value) };
  };

/** A finite number, also as text. */
function finite(value: Json): number | undefined {
  const number = numberOf(value);
  return number !== undefined && Number.isFinite(number) ? number : undefined;
}

function equals(value: Json, wanted: Json): boolean {
  if (textOf(value) === textOf(wanted)) return true;
  return typeof value === "number" && value === finite(wanted);
}

/** Numbers by size, other text by its characters; NaN where a number meets text. */
function order(value: Json, wanted: Json): number {
  const number = finite(wanted);
  if (number === undefined) return compareText(textOf(value), textOf(wanted));
  return (finite(value) ?? Number.NaN) - number;
}

const exact: Operator = (wanted) => positive((value) => equals(value, wanted));
const anyOf: Operator = (wanted) => {
  const list = Array.isArray(wanted) ? wanted : [wanted];
  const texts = new Set(list.map(textOf));
  const numbers = new Set(list.flatMap((it) => finite(it) ?? []));
  return positive((value) => texts.has(textOf(value)) || (typeof value === "number" && numbers.has(value)));
};
const compares =
  (passes: (order: number) => boolean): Operator =>
  (wanted) =>
    positive((value) => passes(order(value, wanted)));

const containsOne = (wanted: Json): OperatorTest => {
  const isLike = likeTest(`%${textOf(wanted)}%`, true);
  return positive((value) => isLike(textOf(value)));
};

const containsAny = (wanted: readonly Json[]): OperatorTest => {
  const parts = wanted.map((it) => lowerAscii(textOf(it)));
  return positive((value) => {
    const text = lowerAscii(textOf(value));
    return parts.some((part) => containsText(text, part));
  });
};

/** One value is a `LIKE` pattern, several are plain text. */
const contains: Operator = (wanted) => {
  if (!Array.isArray(wanted)) return containsOne(wanted);
  return wanted.length === 1 ? containsOne(wanted[0] ?? null) : containsAny(wanted);
};

/** The opposite of several is false for a missing value: its comparison with 0 is one with NULL. */
const notContains: Operator = (wanted, project) => {
  const test = contains(wanted, project);
  const isMany = Array.isArray(wanted) && wanted.length !== 1;
  return { missing: !isMany, passes: (value) => !test.passes(value) };
};

const notContainsAny: Operator = (wanted) => {
  const test = containsAny(Array.isArray(wanted) ? wanted : [wanted]);
  return positive((value) => !test.passes(value));
};

/** Searches with a regular expression; it throws as this does. @throws SimError if it is invalid or not supported */
export function searchOf(pattern: string): (text: string) => boolean {
  const orRefused = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof FlagFailure) throw unsupported(`The regular expression ${JSON.stringify(pattern)}`);
      throw error;
    }
  };
  const search = orRefused(() => patternOf(pattern));
  if (!search) throw refuse(`The regular expression ${JSON.stringify(pattern)} is invalid.`);
  return (text) => orRefused(() => search(text));
}

const regex: Operator = (wanted) => {
  const search = searchOf(textOf(wanted));
  return positive((value) => search(textOf(value)));
};

function boundsIn(wanted: Json, name: string): [number, number] {
  if (!Array.isArray(wanted) || wanted.length !== 2) {
    throw refuse(`${name} operator requires a two-element array [min, max]`);
  }
  const [low, high] = wanted.map(finite);
  if (low === undefined || high === undefined) throw refuse(`${name} operator requires numeric values`);
  if (low > high) throw refuse(`${name} operator requires min value to be less than or equal to max value`);
  return [low, high];
}

/** Both are false for what is no number. */
const between =
  (name: string, isInside: boolean): Operator =>
  (wanted) => {
    const [low, high] = boundsIn(wanted, name);
    return positive((value) => {
      const number = finite(value);
      return number !== undefined && (number >= low && number <= high) === isInside;
    });
  };

/** A relative date goes back from now and has whole seconds; an absolute one is in the project's zone. */
function wantedTime(wanted: Json, project: QueryProject, zone: Zone): number {
  if (typeof wanted !== "string") throw refuse("A date in a property filter must be a string.");
  const calendar = calendarOf(project);
  const wall = absoluteDate(wanted, calendar);
  if (wall !== undefined) return calendar.instant(wall);
  const time = /^-?\d+[hdwmqysM]/.test(wanted)
    ? calendar.instant(Math.floor(readDate(wanted, { calendar }).wall / 1000) * 1000)
    : timeOfProperty(wanted, project.now, zone);
  if (Number.isNaN(time)) throw refuse(`${JSON.stringify(wanted)} is not a date.`);
  return time;
}

const dated =
  (passes: (order: number) => boolean): Operator =>
  (wanted, project) => {
    const zone = zoneOf(project.timeZone);
    const time = wantedTime(wanted, project, zone);
    return positive((value) => passes(timeOfProperty(value, project.now, zone) - time));
  };

/** The numbers of the first version in a text, as the service sorts them; `[0]` if there is none. */
function versionNumbers(text: string): number[] {
  const found = /\d+(?:\.\d+)+/.exec(text);
  return found ? found[0].split(".").map(Number) : [0];
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** A missing value has the version 0. */
function versionTest(passes: (version: readonly number[]) => boolean): OperatorTest {
  return { missing: passes([0]), passes: (value) => passes(versionNumbers(textOf(value))) };
}

const versioned =
  (passes: (order: number) => boolean): Operator =>
  (wanted) => {
    const version = versionNumbers(textOf(wanted));
    return versionTest((it) => passes(compareVersions(it, version)));
  };

const ranged =
  (name: string, boundsOf: (parts: readonly number[]) => [number[], number[]]): Operator =>
  (wanted) => {
    const base = typeof wanted === "string" ? (wanted.split("-")[0] ?? "") : "";
    const parts = (name === "Wildcard" ? base.replace(/[.*]+$/, "") : base).split(".");
    if (!parts.every((it) => /^\d+$/.test(it))) {
      throw refuse(`${name} operator requires a valid semver string (e.g., '1.2.3')`);
    }
    const [low, high] = boundsOf(parts.map(Number));
    return versionTest((it) => compareVersions(it, low) >= 0 && compareVersions(it, high) < 0);
  };

function caretBounds([major = 0, minor = 0, patch = 0]: readonly number[]): [number[], number[]] {
  const low = [major, minor, patch];
  if (major > 0) return [low, [major + 1, 0, 0]];
  return minor > 0 ? [low, [0, minor + 1, 0]] : [low, [0, 0, patch + 1]];
}

function tildeBounds(parts: readonly number[]): [number[], number[]] {
  const [major = 0, minor = 0, patch = 0] = parts;
  return [[major, minor, patch], parts.length < 2 ? [major + 1, 0, 0] : [major, minor + 1, 0]];
}

function wildcardBounds(parts: readonly number[]): [number[], number[]] {
  const [major = 0, minor = 0, patch = 0] = parts;
  const low = [major, minor, 0];
  if (parts.length < 3) return [low, parts.length === 1 ? [major + 1, 0, 0] : [major, minor + 1, 0]];
  return [
    [major, minor, patch, 0],
    [major, minor, patch + 1, 0],
  ];
}

const isSet: Operator = () => positive(() => true);
const atMost = compares((it) => it <= 0);
const atLeast = compares((it) => it >= 0);

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["exact", exact],
  ["is_not", not(exact)],
  ["icontains", contains],
  ["not_icontains", notContains],
  ["icontains_multi", (wanted) => containsAny(Array.isArray(wanted) ? wanted : [wanted])],
  ["not_icontains_multi", notContainsAny],
  ["regex", regex],
  ["not_regex", not(regex)],
  ["gt", compares((it) => it > 0)],
  ["gte", atLeast],
  ["min", atLeast],
  ["lt", compares((it) => it < 0)],
  ["lte", atMost],
  ["max", atMost],
  ["between", between("between", true)],
  ["not_between", between("not_between", false)],
  ["is_set", isSet],
  ["is_not_set", not(isSet)],
  ["is_date_exact", dated((it) => it === 0)],
  ["is_date_before", dated((it) => it < 0)],
  ["is_date_after", dated((it) => it > 0)],
  ["in", anyOf],
  ["not_in", not(anyOf)],
  ["semver_eq", versioned((it) => it === 0)],
  // Not equal to NULL is true, as for every version but 0.
  ["semver_neq", versioned((it) => it !== 0)],
  ["semver_gt", versioned((it) => it > 0)],
  ["semver_gte", versioned((it) => it >= 0)],
  ["semver_lt", versioned((it) => it < 0)],
  ["semver_lte", versioned((it) => it <= 0)],
  ["semver_tilde", ranged("Tilde", tildeBounds)],
  ["semver_caret", ranged("Caret", caretBounds)],
  ["semver_wildcard", ranged("Wildcard", wildcardBounds)],
]);

/** Operators that take a list as one value. */
const takesLists: ReadonlySet<string> = new Set([
  ...["between", "not_between", "icontains", "not_icontains", "icontains_multi", "not_icontains_multi"],
  ...["in", "not_in"],
]);
/** With several values these must hold for all of them, others for one. */
const holdsForAll: ReadonlySet<string> = new Set(["is_not", "not_regex"]);
/** Operators without a value. */
export const isValueless = (operator: string): boolean => operator === "is_set" || operator === "is_not_set";

/**
 * The test of an operator for a filter's value, which may be a list.
 * @returns undefined if the filter has an empty list: every value passes
 * @throws SimError if the sim does not have the operator, or it does not take the value
 */
export function operatorTest(name: string, value: Json, project: QueryProject): OperatorTest | undefined {
  const operator = operators.get(name);
  if (!operator) throw unsupported(`The operator ${JSON.stringify(name)} of a property filter`);
  if (!Array.isArray(value)) return operator(value, project);
  if (value.length === 0 && !name.startsWith("not_between") && name !== "between") return undefined;
  if (takesLists.has(name)) return operator(value, project);
  if (name === "exact") return anyOf(value, project);
  if (name === "is_not") return not(anyOf)(value, project);
  const tests = value.map((it) => operator(it, project));
  const all = holdsForAll.has(name);
  return {
    missing: all ? tests.every((it) => it.missing) : tests.some((it) => it.missing),
    passes: (it) => (all ? tests.every((test) => test.passes(it)) : tests.some((test) => test.passes(it))),
  };
}
