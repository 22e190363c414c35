import type { z } from "zod";
import { isObject, type Json, type Path, pointerTo } from "../base/json.ts";
import { meantOf } from "../base/nearest.ts";

type RawIssue = z.core.$ZodRawIssue;

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
  never: "nothing",
};

const shownValue = (value: unknown): string => JSON.stringify(value) ?? "nothing";

const alternatives = (values: readonly unknown[]): string => {
  const shown = values.map(shownValue);
  return [shown.slice(0, -1).join(", "), shown.at(-1)].filter(Boolean).join(" or ");
};

const counted = (count: unknown, origin: string): string =>
  `${String(count)} ${origin === "string" ? "characters" : "entries"}`;

const phrases: { readonly [K in RawIssue["code"]]?: (issue: Extract<RawIssue, { code: K }>) => string } = {
  invalid_type: ({ expected }) => types[expected] ?? expected,
  invalid_value: ({ values }) => alternatives(values),
  too_small: ({ origin, minimum, inclusive }) => {
    if (origin === "string" || origin === "array") {
      return minimum === 1
        ? origin === "string"
          ? "a non-empty string"
          : "at least one entry"
        : `at least ${counted(minimum, origin)}`;
    }
    return `a number ${inclusive ? "of at least" : "above"} ${minimum}`;
  },
  too_big: ({ origin, maximum, inclusive }) =>
    origin === "string" || origin === "array"
      ? `at most ${counted(maximum, origin)}`
      : `a number ${inclusive ? "of at most" : "below"} ${maximum}`,
};

export const anotherValue = "another value";

/** The message for an issue without one of its own in the schema: a phrase that completes "expected …". */
export function phraseOf(issue: RawIssue): string {
  // the compiler cannot infer that the entry fits the issue's code
  const phrase = phrases[issue.code] as ((issue: RawIssue) => string) | undefined;
  return phrase?.(issue) ?? anotherValue;
}

const secretive = /key|secret|token|password|credential/i;

/** Keys, passwords and the settings of a destination are never shown. */
const isSecret = (at: Path): boolean =>
  at.includes("config") ||
  at.some((step) => typeof step === "string" && step !== "personal_api_keys" && secretive.test(step));

const longest = 40;

function shown(value: Json, at: Path): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  if (value === "") return "an empty string";
  if (value !== null && isSecret(at)) return "(hidden)";
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
}

/** The message for a value; `phrase` completes "expected …". */
export function sentence(phrase: string, value: Json | undefined, at: Path): string {
  if (value === undefined) return `is missing; expected ${phrase}`;
  // "expected an object …, got an object" would not help
  const isAnother = isObject(value) && phrase.includes("an object");
  return `expected ${phrase}${isAnother ? "" : `, got ${shown(value, at)}`}`;
}

const isList = (value: Json | undefined): boolean => Array.isArray(value);
const isPercentText = (value: Json | undefined): boolean =>
  typeof value === "string" && /^\s*\d+(\.\d+)?\s*%\s*$/.test(value);

const isWord =
  (...words: readonly string[]) =>
  (value: Json | undefined): boolean =>
    typeof value === "string" && words.includes(value.toLowerCase());

const usualMistakes: readonly {
  readonly where: RegExp;
  readonly is: (value: Json | undefined) => boolean;
  readonly hint: string;
}[] = [
  {
    where: /^\/organizations\/\d+\/projects\/\d+\/flags$/,
    is: isList,
    hint: "write each flag as KEY: true, without a dash",
  },
  {
    where: /^\/organizations\/\d+\/projects\/\d+\/flags\/[^/]+$/,
    is: (value) => value === null,
    hint: "write true or false",
  },
  {
    where: /^\/organizations\/\d+\/projects\/\d+\/flags\/[^/]+$/,
    is: isWord("on", "yes", "enabled"),
    hint: "write true",
  },
  {
    where: /^\/organizations\/\d+\/projects\/\d+\/flags\/[^/]+$/,
    is: isWord("off", "no", "disabled"),
    hint: "write false",
  },
  { where: /\/variants$/, is: isList, hint: "write { control: 50, test: 50 }" },
  { where: /\/variants\/[^/]+$/, is: isObject, hint: "write only its percentage, such as 50" },
  { where: /\/payloads$/, is: isList, hint: "write the payload by variant: { test: … }" },
  { where: /\/(rollout|variants\/[^/]+)$/, is: isPercentText, hint: "write the number alone, such as 50" },
  { where: /\/distinct_ids$/, is: (value) => typeof value === "string", hint: "put it in brackets: [user-1]" },
  {
    where: /\/(persons|cohorts|groups|dashboards|insights|surveys|users|organizations|projects)$/,
    is: isObject,
    hint: "begin each entry with a dash; in JSON put them in [ ]",
  },
];

/** What to write instead of a usual mistake in a scenario; `at` is its place in the expanded form. */
export const usualHint = (value: Json | undefined, at: Path): string | undefined =>
  usualMistakes.find(({ where, is }) => where.test(pointerTo(at)) && is(value))?.hint;

export function hintFor(issue: z.core.$ZodIssue, value: Json | undefined): string | undefined {
  if (issue.code === "invalid_value" && typeof value === "string") {
    const known = issue.values.map(String);
    return meantOf(value, known, (it) => shownValue(issue.values[known.indexOf(it)]));
  }
  const isBare = typeof value === "number" || typeof value === "boolean";
  if (issue.code === "invalid_type" && issue.expected === "string" && isBare) return "put it in quotes";
  const isQuoted = typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value));
  if (issue.code === "invalid_type" && (issue.expected === "number" || issue.expected === "int") && isQuoted) {
    return "leave the quotes out";
  }
  return undefined;
}
