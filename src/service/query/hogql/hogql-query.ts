import { z } from "zod";
import { commonFields } from "../insights/shapes.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import type { ExprNode, QueryNode, SelectNode } from "./ast.ts";
import { parseQuery } from "./grammar/queries.ts";
import { planPorts } from "./hogql.ts";
import { filled, placeholderFields } from "./placeholders.ts";
import { printedQuery } from "./print.ts";
import { refusing } from "./refusal.ts";
import { planQuery } from "./select.ts";
import { typeName } from "./types.ts";
import { shown } from "./values.ts";

const HogQLQuery = z.strictObject({
  kind: z.literal("HogQLQuery"),
  query: z.string(),
  values: z.record(z.string(), z.json()).nullish(),
  ...placeholderFields,
  ...commonFields,
  name: z.string().nullish(),
  explain: z.literal(false).nullish(),
});
type HogQLQuery = z.infer<typeof HogQLQuery>;

/** Rows of a query without LIMIT, and most rows of any. Upstream posthog/hogql/constants.py. */
const limits = { default: 100, most: 50_000 };

const numberNode = (value: number): ExprNode => ({ node: "Constant", value });

/** The queries of a UNION, or the query itself, changed. */
function eachSelect(node: QueryNode, change: (select: SelectNode) => SelectNode): QueryNode {
  if (node.node === "SelectQuery") return change(node);
  return {
    ...node,
    initial_select_query: eachSelect(node.initial_select_query, change),
    subsequent_select_queries: node.subsequent_select_queries.map((it) => ({
      ...it,
      select_query: eachSelect(it.select_query, change),
    })),
  };
}

const clipped = (limit: ExprNode): ExprNode =>
  limit.node === "Constant" && typeof limit.value === "number" && limit.value > limits.most
    ? { ...limit, value: limits.most }
    : limit;

/**
 * Adds the limits of the service: 100 rows unless the query has a limit, one more to see whether there are more.
 * `isPaged`: the rows are cut to that limit. Upstream posthog/hogql_queries/insights/paginators.py.
 */
function limited(node: QueryNode): { query: QueryNode; isPaged: boolean } {
  if (node.node === "SelectQuery" && !node.limit)
    return { query: { ...node, limit: numberNode(limits.default + 1), offset: numberNode(0) }, isPaged: true };
  const query = eachSelect(node, (select) => ({
    ...select,
    limit: select.limit ? clipped(select.limit) : numberNode(limits.default),
  }));
  return { query, isPaged: false };
}

function run(asked: HogQLQuery, context: QueryContext): Record<string, unknown> {
  const { query: text } = asked;
  const { query, isPaged } = limited(filled(parseQuery(text), asked, context));
  const ports = planPorts(context);
  const plan = planQuery(query, ports);
  const { zones } = ports;
  const results = plan
    .run()
    .map((row) => row.map((value, i) => shown(value, plan.columns[i]?.type ?? { kind: "String" }, zones)));
  const hasMore = results.length > limits.default;
  return {
    query: text,
    hogql: printedQuery(query),
    clickhouse: null,
    error: null,
    timings: [],
    results: isPaged ? results.slice(0, limits.default) : results,
    columns: plan.columns.map((it) => it.name),
    types: plan.columns.map(({ name, type }) => [name, typeName(type)]),
    explain: null,
    metadata: null,
    ...(isPaged ? { hasMore, limit: limits.default, offset: 0 } : { hasMore: null, limit: null, offset: null }),
  };
}

export const hogQLKind = queryKind(HogQLQuery, (query, context) => refusing(query.query, () => run(query, context)));
