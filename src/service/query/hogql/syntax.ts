import type { AnyNode, ExprNode, QueryNode } from "./ast.ts";

/** True for a query, at the top or in an expression. */
export const isQuery = (node: AnyNode): node is QueryNode =>
  "node" in node && (node.node === "SelectQuery" || node.node === "SelectSetQuery");

/** The tree with some nodes replaced: `change` returns undefined for those that stay. */
export function mapTree<T>(tree: T, change: (node: ExprNode) => ExprNode | undefined): T {
  if (Array.isArray(tree)) return tree.map((it) => mapTree(it, change)) as T;
  if (typeof tree !== "object" || tree === null) return tree;
  const changed = "node" in tree ? change(tree as unknown as ExprNode) : undefined;
  if (changed !== undefined) return changed as T;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, mapTree(value, change)])) as T;
}
