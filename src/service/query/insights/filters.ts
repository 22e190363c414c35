import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { referenceIn } from "../../flags/engine/values.ts";
import { expressionTest } from "../hogql/expressions.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn } from "../table.ts";
import { columnAt } from "./columns.ts";
import { elementTest } from "./elements.ts";
import { isValueless, operatorTest } from "./operators.ts";
import { refuse, unsupported } from "./refuse.ts";
import { FilterOfProperty } from "./shapes.ts";

/** True if a row of the table passes. */
export type RowTest = (row: number) => boolean;

export const everyRow: RowTest = () => true;

export function allOf(tests: readonly RowTest[]): RowTest {
  const real = tests.filter((it) => it !== everyRow);
  const [first = everyRow, second = everyRow, ...others] = real;
  if (real.length <= 1) return first;
  if (others.length === 0) return (row) => first(row) && second(row);
  return (row) => real.every((test) => test(row));
}

function anyOf(tests: readonly RowTest[]): RowTest {
  const [first] = tests;
  if (tests.length === 1 && first) return first;
  return tests.includes(everyRow) ? everyRow : (row) => tests.some((test) => test(row));
}

/** A test of a column's value; it runs once for each distinct value that a row has. */
export function valueTest(column: EventColumn, passes: (value: Json | undefined) => boolean): RowTest {
  const known = new Map<Json | undefined, boolean>();
  return (row) => {
    const value = column(row);
    const found = known.get(value);
    if (found !== undefined) return found;
    const result = passes(value);
    known.set(value, result);
    return result;
  };
}

/** Members of a cohort. @throws SimError if there is no such cohort */
export function cohortTest(id: Json | undefined, context: QueryContext): RowTest {
  const number = referenceIn(id);
  if (number === undefined) throw refuse("Cohort property value must be a cohort ID");
  const cohort = context.cohort?.(number);
  if (!cohort) throw refuse(`Cohort ${number} does not exist.`);
  return valueTest(context.table.person, (person) => typeof person === "string" && cohort.has(person));
}

/** A test of the elements that were used: `selector`, `tag_name`, `href` or `text`. @throws SimError as `elementTest` */
export const clickTest = (key: string, operator: string, value: Json, context: QueryContext): RowTest =>
  valueTest(context.table.property("$elements_chain"), elementTest(key, operator, value, context));

function leafTest(filter: JsonObject, context: QueryContext): RowTest {
  const read = safeParse(FilterOfProperty, filter);
  if (!read.success) throw refuse(`The property filter ${JSON.stringify(filter)} is wrong: ${issueText(read.error)}`);
  const { type: given, key = "", operator, value = null, group_type_index: group, negation } = read.data;
  const type = given ?? "event";
  if (type === "empty") return everyRow;
  if (type === "hogql") return expressionTest(stringOf(key), context);
  if (type === "cohort" || type === "static-cohort" || type === "precalculated-cohort") {
    const test = cohortTest(Array.isArray(value) && value.length === 1 ? value[0] : value, context);
    return negation === true || operator === "not_in" ? (row) => !test(row) : test;
  }
  if (type === "element") {
    if (value === null) return everyRow;
    return clickTest(String(key), operator ?? "exact", value, context);
  }
  if (negation === true) throw unsupported(`The negation of a filter of the type ${type}`);
  const name = operator ?? "exact";
  const column = columnAt({ type, key: stringOf(key), group }, context);
  // Upstream: a filter that is not complete is taken as if it were not there.
  if (value === null && !isValueless(name)) return everyRow;
  const test = operatorTest(name, value, context);
  if (!test) return everyRow;
  return valueTest(column, (it) => (it === undefined || it === null ? test.missing : test.passes(it)));
}

const issueText = (error: { issues: readonly { message: string; path: readonly PropertyKey[] }[] }): string =>
  error.issues.map((it) => [...it.path.map(String), it.message].join(": ")).join("; ");

/**
 * The test of filters: a list of which all must pass, a group with a type AND or OR, or one filter.
 * Upstream PostHog/posthog posthog/hogql/property.py, `property_to_expr`.
 * @throws SimError if a filter is wrong or not supported
 */
export function filterTest(filters: Json | undefined, context: QueryContext): RowTest {
  if (filters === undefined || filters === null) return everyRow;
  if (Array.isArray(filters)) return allOf(filters.map((it) => filterTest(it, context)));
  if (!isObject(filters)) throw refuse(`A property filter must be an object, got ${JSON.stringify(filters)}.`);
  if (!Array.isArray(filters.values)) {
    return Object.keys(filters).length === 0 ? everyRow : leafTest(filters, context);
  }
  const { type, values, ...others } = filters;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unsupported(`The field ${JSON.stringify(unknown)} of a property group`);
  if (type !== "AND" && type !== "OR") throw refuse(`PropertyGroup of unknown type ${JSON.stringify(type)}`);
  const tests = values.map((it) => filterTest(it, context));
  return type === "AND" || tests.length === 0 ? allOf(tests) : anyOf(tests);
}

/** The filters of the whole query: its properties, and those of test accounts if it wants them. */
export function queryTest(
  query: { properties?: Json | undefined; filterTestAccounts?: boolean | null | undefined },
  context: QueryContext,
): RowTest {
  const testAccounts = query.filterTestAccounts === true ? [...(context.testAccountFilters ?? [])] : [];
  return allOf([filterTest(testAccounts, context), filterTest(query.properties, context)]);
}
