import type { Json } from "../../base/json.ts";
import type { ExprNode, QueryNode } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import { mapTree } from "./syntax.ts";

/** A JSON value as a literal. */
export function literalOf(value: Json, at: ExprNode): ExprNode {
  const { start, end } = at;
  const place = { ...(start && { start }), ...(end && { end }) };
  if (Array.isArray(value)) return { node: "Array", exprs: value.map((it) => literalOf(it, at)), ...place };
  if (typeof value === "object" && value !== null) throw new Refusal("Unsupported constant type: dict", at);
  return { node: "Constant", value, ...place };
}

/** Replaces placeholders. `of` gives what the chain of names in braces stands for. @throws Refusal */
export function replacePlaceholders(
  query: QueryNode,
  of: (chain: readonly (string | number)[], at: ExprNode) => ExprNode,
): QueryNode {
  return mapTree(query, (node) => {
    if (node.node !== "Placeholder") return undefined;
    if (node.expr.node !== "Field") throw new Refusal("Placeholder expressions are not yet supported", node);
    return of(node.expr.chain, node);
  });
}
