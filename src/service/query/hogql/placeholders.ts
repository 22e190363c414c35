import type { Json } from "../../../kernel/base/json.ts";
import type { ExprNode, Located, QueryNode, SelectNode } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import { isQuery, mapTree } from "./syntax.ts";

/** The place of a node, for another that takes its place. */
export const placeOf = ({ start, end }: Located): Located => ({ start, end });

export function literalOf(value: Json, at: Located): ExprNode {
  const place = placeOf(at);
  if (Array.isArray(value)) return { node: "Array", exprs: value.map((it) => literalOf(it, at)), ...place };
  if (typeof value === "object" && value !== null) throw new Refusal("Unsupported constant type: dict", at);
  return { node: "Constant", value, ...place };
}

/**
 * What the names in the braces of a placeholder stand for, in a query that has it.
 * "no bound": a comparison with it holds for every row.
 */
export type Placeholders = (
  chain: readonly (string | number)[],
  at: Located,
  select: SelectNode,
) => ExprNode | "no bound";

const always = (at: Located): ExprNode => ({ node: "Constant", value: true, ...placeOf(at) });

/** Replaces placeholders. @throws Refusal */
export function replacePlaceholders(query: QueryNode, of: Placeholders): QueryNode {
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
