import { z } from "zod";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { calendarOf, readDate } from "../insights/dates.ts";
import { queryTest } from "../insights/filters.ts";
import { DateRange } from "../insights/shapes.ts";
import type { QueryContext } from "../kind.ts";
import { type ExprNode, isQuery, type Located, mapTree, placeOf, type QueryNode, type SelectNode } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import { timeText } from "./time.ts";

const Variable = z.strictObject({
  code_name: z.string(),
  variableId: z.string().nullish(),
  value: z.json().optional(),
  isNull: z.boolean().nullish(),
});

export const placeholderFields = {
  variables: z.record(z.string(), Variable).nullish(),
  filters: z
    .strictObject({
      dateRange: DateRange.nullish(),
      properties: z.json().nullish(),
      filterTestAccounts: z.boolean().nullish(),
    })
    .nullish(),
};

interface PlaceholderValues extends z.infer<z.ZodObject<typeof placeholderFields>> {
  readonly values?: JsonObject | null | undefined;
}

/** True if the rows of a query are those of the table of events. */
function readsEvents({ select_from: from, ctes }: SelectNode): boolean {
  const table = from?.table;
  const isEvents = table?.node === "Field" && table.chain.length === 1 && table.chain[0] === "events";
  return isEvents && !from?.next_join && !(ctes ?? []).some((it) => it.name === "events");
}

/** A date of the filters as a literal; undefined if it is not set. */
function dateNode(text: string | null | undefined, context: QueryContext, at: Located): ExprNode | undefined {
  if (text === undefined || text === null || text === "all") return undefined;
  const { wall } = readDate(text, { calendar: calendarOf(context) });
  const value: ExprNode = { node: "Constant", value: timeText(wall, 6), ...placeOf(at) };
  return { node: "Call", name: "toDateTime", args: [value], ...placeOf(at) };
}

/**
 * What `{filters}`, `{filters.dateRange.from}` and `{filters.dateRange.to}` stand for.
 * Upstream posthog/hogql/filters.py.
 * @throws Refusal where the query does not read events, and for other names
 */
function filtersPlaceholder(
  filters: PlaceholderValues["filters"],
  chain: readonly (string | number)[],
  at: Located,
  select: SelectNode,
  context: QueryContext,
): ExprNode | "no bound" {
  const from = () => dateNode(filters?.dateRange?.date_from, context, at);
  const to = () => dateNode(filters?.dateRange?.date_to, context, at);
  const name = chain.join(".");
  if (name === "filters.dateRange.from") return from() ?? "no bound";
  if (name === "filters.dateRange.to") return to() ?? "no bound";
  if (name !== "filters")
    throw new Refusal(
      `Unsupported filters placeholder \`{${name}}\`. Supported filters placeholders are: \`{filters}\`, \`{filters.dateRange.from}\`, \`{filters.dateRange.to}\`.`,
      at,
    );
  if (!readsEvents(select))
    throw new Refusal(
      "Cannot use 'filters' placeholder in a SELECT clause that does not select from the events table.",
      at,
    );
  const place = placeOf(at);
  const timestamp: ExprNode = { node: "Field", chain: ["timestamp"], ...place };
  const bound = (op: string, right: ExprNode | undefined): ExprNode[] =>
    right ? [{ node: "CompareOperation", op, left: timestamp, right, ...place }] : [];
  const exprs: ExprNode[] = [...bound("<", to()), ...bound(">=", from())];
  if (filters?.properties || filters?.filterTestAccounts)
    exprs.push({ node: "RowTest", test: queryTest(filters, context), text: "{filters}", ...place });
  const [first] = exprs;
  if (!first) return { node: "Constant", value: true, ...place };
  return exprs.length === 1 ? first : { node: "And", exprs, ...place };
}

function literalOf(value: Json, at: Located): ExprNode {
  const place = placeOf(at);
  if (Array.isArray(value)) return { node: "Array", exprs: value.map((it) => literalOf(it, at)), ...place };
  if (typeof value === "object" && value !== null) throw new Refusal("Unsupported constant type: dict", at);
  return { node: "Constant", value, ...place };
}

/**
 * What the names in the braces of a placeholder stand for, in a query that has it.
 * "no bound": a comparison with it holds for every row.
 */
type Placeholders = (chain: readonly (string | number)[], at: Located, select: SelectNode) => ExprNode | "no bound";

const always = (at: Located): ExprNode => ({ node: "Constant", value: true, ...placeOf(at) });

function replacePlaceholders(query: QueryNode, of: Placeholders): QueryNode {
  if (query.node === "SelectSetQuery")
    return {
      ...query,
      initial_select_query: replacePlaceholders(query.initial_select_query, of),
      subsequent_select_queries: query.subsequent_select_queries.map((it) => ({
        ...it,
        select_query: replacePlaceholders(it.select_query, of),
      })),
    };
  const read = (node: ExprNode): ExprNode | "no bound" | undefined => {
    if (node.node !== "Placeholder") return undefined;
    if (node.expr.node !== "Field") throw new Refusal("Placeholder expressions are not yet supported", node);
    return of(node.expr.chain, node, query);
  };
  const change = (node: ExprNode): ExprNode | undefined => {
    if (isQuery(node)) return replacePlaceholders(node, of);
    if (node.node === "CompareOperation" && [node.left, node.right].some((it) => read(it) === "no bound"))
      return { ...node, op: "==", left: always(node), right: always(node) };
    const found = read(node);
    if (found !== "no bound") return found;
    throw new Refusal("A bound of the date range that is not set must be a side of a comparison", node);
  };
  return Object.fromEntries(
    Object.entries(query).map(([key, value]) => [key, mapTree(value, change)]),
  ) as unknown as SelectNode;
}

/** Replaces `{name}` by its value, `{variables.name}` and `{filters}`. */
export function filled(
  query: QueryNode,
  { values, variables, filters }: PlaceholderValues,
  context: QueryContext,
): QueryNode {
  const known = new Map<string, Json>(Object.entries(values ?? {}));
  for (const { code_name, value, isNull } of Object.values(variables ?? {}))
    known.set(`variables.${code_name}`, isNull === true ? null : (value ?? null));
  return replacePlaceholders(query, (chain, at, select) => {
    if (chain[0] === "filters") return filtersPlaceholder(filters, chain, at, select, context);
    const name = chain.join(".");
    const value = known.get(name);
    if (value !== undefined) return literalOf(value, at);
    if (known.size === 0) throw new Refusal(`Unresolved placeholder: {${name}}`, at);
    const names = [...known.keys()].join(", ");
    throw new Refusal(
      `Placeholder {${name}} is not available in this context. You can use the following: ${names}`,
      at,
    );
  });
}
