import type { JoinNode, Located, QueryNode, SelectNode } from "../../query/hogql/ast.ts";
import { parseQuery } from "../../query/hogql/grammar/queries.ts";
import { Refusal } from "../../query/hogql/refusal.ts";
import { isQuery } from "../../query/hogql/ast.ts";

/** A column: what it is, and under which name. */
type Field = { expression: string; alias: string };

type ExportSchema = { fields: Field[]; values: Record<string, string>; hogql_query: string };

/** A query as an export keeps it, or why it cannot be one. */
type ReadQuery = { schema: ExportSchema; problem?: undefined } | { problem: string };

function refusedSource({ table, next_join }: JoinNode, { ctes, array_join_list }: SelectNode): string | undefined {
  const noSubqueries = "Subqueries or CTEs are not supported";
  if (table && isQuery(table)) return noSubqueries;
  if (table?.node !== "Field" || table.chain.join(".") !== "events") {
    return ctes ? noSubqueries : "Query must only SELECT FROM events";
  }
  return next_join || array_join_list ? "JOINs are not supported" : undefined;
}

/**
 * Reads the query that chooses what an export of events holds: `SELECT … FROM events [WHERE …]`. Upstream
 * PostHog/posthog posthog/batch_exports/http.py; the texts are the service's, with the cause where it cannot be parsed.
 */
export function readHogqlQuery(query: string): ReadQuery {
  let node: QueryNode;
  try {
    node = parseQuery(query);
  } catch (error) {
    if (error instanceof Refusal) return { problem: `Failed to parse query: ${error.message}` };
    throw error;
  }
  if (node.node === "SelectSetQuery") return { problem: "UNIONs are not supported" };
  if (!node.select_from) return { problem: "Query must SELECT FROM events" };
  const problem = refusedSource(node.select_from, node);
  if (problem !== undefined) return { problem };
  const textOf = ({ start, end }: Located): string => query.slice(start, end).replace(/\s+/g, " ");
  const fields = node.select.map((it): Field => {
    const expression = textOf(it.node === "Alias" ? it.expr : it);
    return { expression, alias: it.node === "Alias" ? it.alias : expression };
  });
  return { schema: { fields, values: {}, hogql_query: query.trim() } };
}
