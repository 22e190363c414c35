import { z } from "zod";
import type { Json } from "../../../kernel/base/json.ts";
import { DateRange, insightFields } from "../insights/shapes.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import type { Steps } from "../table.ts";
import type { ExprNode, QueryNode, SelectNode } from "./ast.ts";
import { filtersPlaceholder } from "./filters.ts";
import { parseQuery } from "./grammar/queries.ts";
import { planPorts } from "./hogql.ts";
import { literalOf, replacePlaceholders } from "./placeholders.ts";
import { printedQuery } from "./print.ts";
import { Refusal, refusing } from "./refusal.ts";
import { planQuery } from "./select.ts";
import { typeName } from "./types.ts";
import { shown } from "./values.ts";

/** A variable of a query, `{variables.code_name}`. */
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

const HogQLQuery = z.strictObject({
  kind: z.literal("HogQLQuery"),
  query: z.string(),
  values: z.record(z.string(), z.json()).nullish(),
  ...placeholderFields,
  modifiers: insightFields.modifiers,
  tags: insightFields.tags,
  name: z.string().nullish(),
  version: insightFields.version,
  response: insightFields.response,
  explain: z.literal(false).nullish(),
});
export type HogQLQuery = z.infer<typeof HogQLQuery>;

/** Rows of a query without LIMIT, and most rows of any. Upstream posthog/hogql/constants.py. */
const limits = { default: 100, most: 50_000 };

/** Replaces `{name}` by its value, `{variables.name}` and `{filters}`. */
export function filled(
  query: QueryNode,
  { values, variables, filters }: Pick<HogQLQuery, "values" | "variables" | "filters">,
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

export const hogQLKind: QueryKind<HogQLQuery> = {
  kind: "HogQLQuery",
  shape: HogQLQuery,
  run: (query, context) => refusing(query.query, run(query, context)),
};

function* run(asked: HogQLQuery, context: QueryContext): Steps<Record<string, unknown>> {
  const { query: text } = asked;
  const { query, isPaged } = limited(filled(parseQuery(text), asked, context));
  const ports = planPorts(context);
  const plan = planQuery(query, ports);
  const rows = yield* plan.run();
  const { zones } = ports;
  const results = rows.map((row) =>
    row.map((value, i) => shown(value, plan.columns[i]?.type ?? { kind: "String" }, zones)),
  );
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
