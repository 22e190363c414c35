import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { referenceIn } from "../../flags/engine/values.ts";
import { expressionTest } from "../hogql/expressions.ts";
import { chainPart } from "../hogql/tables.ts";
import type { QueryContext } from "../kind.ts";
import { memo } from "../memo.ts";
import { refuse, unsupported } from "../refusals.ts";
import type { EventColumn } from "../table.ts";
import { columnAt } from "./columns.ts";
import { isValueless, operatorTest } from "./operators.ts";
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

export function anyOf(tests: readonly RowTest[]): RowTest {
  const [first] = tests;
  if (tests.length === 1 && first) return first;
  return tests.includes(everyRow) ? everyRow : (row) => tests.some((test) => test(row));
}

/** A test of a column's value; it runs once for each distinct value that a row has. */
export function valueTest(column: EventColumn, passes: (value: Json | undefined) => boolean): RowTest {
  const test = memo(passes);
  return (row) => test(column(row));
}

/** Members of a cohort. @throws SimError if there is no such cohort */
export function cohortTest(id: Json | undefined, context: QueryContext): RowTest {
  const number = referenceIn(id);
  if (number === undefined) throw refuse("Cohort property value must be a cohort ID");
  const cohort = context.cohort?.(number);
  if (!cohort) throw refuse(`Cohort ${number} does not exist.`);
  return valueTest(context.table.person, (person) => typeof person === "string" && cohort.has(person));
}

/** An element of a page, from the text in which the service keeps a click. */
interface ChainElement {
  readonly tag: string;
  readonly classes: readonly string[];
  readonly attributes: ReadonlyMap<string, string>;
}

const attributesFrom = /:(?=[^"=\s:]+="|$)/;

function elementOf(text: string): ChainElement {
  const [head = "", ...rest] = text.split(attributesFrom);
  const [tag = "", ...classes] = head.split(".");
  const attributes = new Map<string, string>();
  for (const [, name = "", value = ""] of rest.join(":").matchAll(/([^"=\s]+?)="((?:\\.|[^"\\])*)"/g))
    attributes.set(name, value.replaceAll('\\"', '"'));
  return { tag, classes, attributes };
}

/** The elements of a chain, the innermost first. */
function elementsOf(chain: string): ChainElement[] {
  const texts = chain.match(/(?:"(?:\\.|[^"\\])*"|[^";])+/g) ?? [];
  return texts.map(elementOf);
}

/** A part of a CSS selector, e.g. `a.wide[href="/x"]:nth-child(2)`. */
interface SelectorPart extends ChainElement {
  /** The next part is the parent, not any ancestor. */
  readonly isChild: boolean;
}

const attributeNames: Readonly<Record<string, string>> = { id: "attr_id" };

function partOf(text: string, isChild: boolean): SelectorPart {
  const attributes = new Map<string, string>();
  const plain = text
    .replace(/\[\s*([^\]\s=]+)\s*=\s*(['"])(.*?)\2\s*\]/g, (_, name: string, __, value: string) => {
      attributes.set(own(attributeNames, name) ?? name, value);
      return "";
    })
    .replace(/#([\w-]+)/g, (_, id: string) => {
      attributes.set("attr_id", id);
      return "";
    })
    .replace(/:(nth-child|nth-of-type)\((\d+)\)/g, (_, name: string, number: string) => {
      attributes.set(name, number);
      return "";
    });
  const [tag = "", ...classes] = plain.split(/(?<!\\)\./);
  return { tag: tag === "*" ? "" : tag, classes: classes.map((it) => it.replaceAll("\\", "")), attributes, isChild };
}

/** Parts of a selector, the innermost first. */
function partsOf(selector: string): SelectorPart[] {
  const tokens = selector.match(/(?:\[[^\]]*\]|[^\s>[])+|>/g) ?? [];
  const parts: SelectorPart[] = [];
  for (let i = tokens.length - 1; i >= 0; i--) {
    const token = tokens[i] ?? "";
    if (token !== ">" && token !== "*") parts.push(partOf(token, tokens[i - 1] === ">"));
  }
  return parts;
}

const fits = (part: SelectorPart, { tag, classes, attributes }: ChainElement): boolean =>
  (part.tag === "" || part.tag === tag) &&
  part.classes.every((it) => classes.includes(it)) &&
  [...part.attributes].every(([name, value]) => (attributes.get(name) ?? attributes.get(`attr__${name}`)) === value);

/** True if elements from `from` on are those of the parts, of which each is around the one before. */
function matches(parts: readonly SelectorPart[], elements: readonly ChainElement[], from = 0, only = false): boolean {
  const [part, ...others] = parts;
  if (!part) return true;
  const last = only ? Math.min(from, elements.length - 1) : elements.length - 1;
  for (let at = from; at <= last; at++) {
    const element = elements[at];
    if (element && fits(part, element) && matches(others, elements, at + 1, part.isChild)) return true;
  }
  return false;
}

/** @throws SimError for a selector without a part */
function selectorTest(selector: string): (chain: string) => boolean {
  const parts = partsOf(selector);
  if (parts.length === 0) throw refuse(`The selector ${JSON.stringify(selector)} names no element.`);
  return (chain) => matches(parts, elementsOf(chain));
}

const negated: ReadonlySet<string> = new Set(["is_not", "not_icontains", "not_regex"]);

type ChainTest = (chain: string) => boolean;

function oneTest(key: string, operator: string, value: Json, context: QueryContext): ChainTest {
  if (key === "selector" || key === "tag_name") {
    if (operator !== "exact" && operator !== "is_not")
      throw refuse(`property_to_expr for element ${key} only supports exact and is_not operators, not ${operator}`);
    const test: ChainTest =
      key === "selector"
        ? selectorTest(String(value))
        : (chain) => elementsOf(chain).some((it) => it.tag === String(value));
    return operator === "is_not" ? (chain) => !test(chain) : test;
  }
  if (key !== "href" && key !== "text")
    throw refuse(`property_to_expr for type element not implemented for key ${key}`);
  const test = operatorTest(operator, value, context);
  if (!test) return () => true;
  return key === "href"
    ? (chain) => test.passes(chainPart("elements_chain_href", chain)[0] ?? "")
    : (chain) => chainPart("elements_chain_texts", chain).some((text) => test.passes(text));
}

/**
 * A test of the chain of elements of an event. Upstream PostHog/posthog posthog/hogql/property.py; selectors as the action matcher
 * of the ingestion pipeline, which knows ancestors.
 * @param key `selector`, `tag_name`, `href` or `text`
 * @throws SimError for another key, or an operator that it does not have
 */
function elementTest(
  key: string,
  operator: string,
  value: Json,
  context: QueryContext,
): (chain: Json | undefined) => boolean {
  const values = Array.isArray(value) ? value : [value];
  const tests = values.map((it) => oneTest(key, operator, it, context));
  const all = negated.has(operator);
  return (chain) => {
    const text = typeof chain === "string" ? chain : "";
    return all ? tests.every((test) => test(text)) : tests.some((test) => test(text));
  };
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
