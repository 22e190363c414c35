import type { Json } from "../kernel/json.ts";
import type { Matching } from "./operators.ts";
import { operatorWords } from "./words-operators.ts";
import { valueWords } from "./words-values.ts";

/** A filter as flags, cohorts and traces have it. */
export interface WordedFilter {
  readonly key: string;
  /** `person` unless told. */
  readonly type?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: Json | undefined;
  /** The group type's name, where it is about a group. */
  readonly groupType?: string | undefined;
  /** The name of the cohort that it asks for. */
  readonly cohortName?: string | undefined;
  /** The key of the flag that it asks for; filters have its id. */
  readonly flagKey?: string | undefined;
  /** false where there is no such flag. */
  readonly isFlagKnown?: boolean | undefined;
  readonly negation?: boolean | undefined;
  /** What the project's properties are compared by. */
  readonly matching?: Matching | undefined;
}

/** `"Paying" (1)`, or the number alone. */
export const cohortTitle = (id: Json, name: string | undefined): string =>
  name === undefined || name === ""
    ? `cohort ${valueWords(id)}`
    : `cohort ${valueWords(name)} (${valueWords(id)})`;

/** What a cohort asks for that is not understood; "" where it asks for nothing. */
export const unknownWords = (type: string): string =>
  type === "" ? "nobody" : `something of the type ${valueWords(type)}, which is never fulfilled`;

const cohortVerbs: ReadonlyMap<string, string> = new Map([
  ["in", "is in"],
  ["not_in", "is not in"],
]);

function cohortClause({ operator = "in", value = null, cohortName }: WordedFilter): string {
  const title = cohortTitle(value, cohortName);
  const verb = cohortVerbs.get(operator);
  return verb ? `the person ${verb} ${title}` : `${title} is asked by "${operator}", which matches nobody`;
}

function flagClause({ key, flagKey, isFlagKnown = true, operator = "", value = null }: WordedFilter): string {
  const name = `flag ${valueWords(flagKey ?? key)}`;
  if (!isFlagKnown) return `${name} is asked for, which does not exist`;
  if (operator !== "flag_evaluates_to") return `${name} is asked by "${operator}", which matches nothing`;
  if (typeof value === "boolean") return `${name} is ${value ? "on" : "off"}`;
  return `${name} is ${valueWords(value)}`;
}

const compared = ({ operator = "exact", value, matching }: WordedFilter): string =>
  operatorWords(operator, value, matching);

/** By the filter's type. */
const clauses: ReadonlyMap<string, (filter: WordedFilter) => string> = new Map([
  ["person", (filter) => `${filter.key} ${compared(filter)}`],
  ["person_metadata", (filter) => `the person's own ${filter.key} ${compared(filter)}`],
  ["group", (filter) => `the ${filter.groupType ?? "group"}'s ${filter.key} ${compared(filter)}`],
  ["cohort", cohortClause],
  ["flag", flagClause],
]);

/** The types of filters that have words, for tests. */
export const wordedTypes: readonly string[] = [...clauses.keys()];

/** What a filter asks for: `plan is "pro"`, `the person is in cohort "Paying" (1)`. Never throws. */
export function filterWords(filter: WordedFilter): string {
  const { type = "person", negation, key } = filter;
  const clause =
    clauses.get(type)?.(filter) ?? `${key} is of the type ${valueWords(type)}, which is not evaluated`;
  return negation === true ? `not (${clause})` : clause;
}

const ends: readonly string[] = [
  "which cannot be read",
  "which does not exist",
  "which is not evaluated",
  "which is not known",
  "which matches nobody",
  "which matches nothing",
  "with no value",
];

/** Do a filter's words say that nothing can pass it? */
export const sayNever = (words: string): boolean => ends.some((it) => words.endsWith(it));
