import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { AnyNode, ExprNode, QueryNode } from "./ast.ts";
import { Refusal } from "./refusal.ts";

/** Node → its members that are understood; what else a query says is refused by name. */
const members: Readonly<Record<string, readonly string[]>> = {
  SelectQuery: [
    ...["ctes", "distinct", "select", "select_from", "prewhere", "where", "group_by", "having"],
    ...["order_by", "limit_by", "limit", "offset"],
  ],
  SelectSetQuery: ["initial_select_query", "subsequent_select_queries"],
  SelectSetNode: ["set_operator", "select_query"],
  JoinExpr: ["table", "alias", "join_type", "constraint", "next_join"],
  JoinConstraint: ["expr", "constraint_type"],
  CTE: ["name", "expr", "cte_type"],
  Alias: ["alias", "expr"],
  And: ["exprs"],
  Or: ["exprs"],
  Not: ["expr"],
  Tuple: ["exprs"],
  Array: ["exprs"],
  ArithmeticOperation: ["op", "left", "right"],
  CompareOperation: ["op", "left", "right", "is_null_comparison_style"],
  BetweenExpr: ["expr", "low", "high", "negated"],
  Constant: ["value", "value_type"],
  Field: ["chain"],
  Call: ["name", "args", "params", "distinct", "filter_expr"],
  Lambda: ["args", "expr"],
  OrderExpr: ["expr", "order"],
  ArrayAccess: ["array", "property", "nullish"],
  TupleAccess: ["tuple", "index", "nullish"],
  LimitByExpr: ["n", "offset_value", "exprs"],
  Placeholder: ["expr"],
  TypeCast: ["expr", "type_name"],
  TryCast: ["expr", "type_name"],
};

/** How people call what is not supported. */
const names: Readonly<Record<string, string>> = {
  WindowFunction: "window functions (OVER)",
  window_exprs: "WINDOW",
  qualify: "QUALIFY",
  sample: "SAMPLE",
  table_final: "FINAL",
  table_args: "table functions",
  column_aliases: "column aliases of a table",
  array_join_op: "ARRAY JOIN",
  array_join_list: "ARRAY JOIN",
  limit_with_ties: "LIMIT … WITH TIES",
  limit: "LIMIT of a UNION",
  offset: "OFFSET of a UNION",
  order_by: "ORDER BY in this place",
  group_by_mode: "ROLLUP, CUBE and GROUPING SETS",
  materialized: "MATERIALIZED",
  Dict: "dictionaries",
  PivotExpr: "PIVOT",
  UnpivotExpr: "UNPIVOT",
  ValuesQuery: "VALUES",
  ColumnsExpr: "COLUMNS",
  ArraySlice: "slices of arrays",
  IsDistinctFrom: "IS DISTINCT FROM",
  HogQLXTag: "HogQLX tags",
};

const most = { nodes: 20_000, depth: 200 };

const hasPlace = (value: Json | undefined): value is JsonObject =>
  isObject(value) && typeof value.offset === "number" && typeof value.line === "number";

/**
 * Checks the parser's tree and completes it.
 * @param text The characters of the query
 * @throws Refusal for syntax that is not supported, and for trees that are too large
 */
export function checkTree(tree: Json, text: readonly string[]): void {
  let left = most.nodes;
  const visit = (value: Json | undefined, at: JsonObject, depth: number): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, at, depth);
    if (!isObject(value)) return;
    const place = hasPlace(value.start) ? value : at;
    if (depth > most.depth) throw refusal(`The query is nested deeper than ${most.depth} levels`, place);
    left -= 1;
    if (left < 0) throw refusal(`The query has more than ${most.nodes} parts`, place);
    const { node } = value;
    if (typeof node === "string") checkNode(node, value, place);
    for (const [key, child] of Object.entries(value))
      if (key !== "start" && key !== "end") visit(child, place, depth + 1);
  };
  const checkNode = (node: string, value: JsonObject, place: JsonObject): void => {
    const known = members[node];
    if (known === undefined) throw refusal(`${names[node] ?? node} is not emulated`, place);
    for (const [key, member] of Object.entries(value)) {
      const isEmpty = member === null || member === false || (Array.isArray(member) && member.length === 0);
      if (isEmpty || ["node", "start", "end"].includes(key) || known.includes(key)) continue;
      throw refusal(`${names[key] ?? key} is not emulated`, place);
    }
    if (node !== "Constant" || typeof value.value !== "number" || !hasPlace(value.start)) return;
    const end = hasPlace(value.end) ? Number(value.end.offset) : 0;
    value.isFloat = /^[-+\d_]*(?:\.|\d[\d_]*e)/i.test(text.slice(Number(value.start.offset), end).join(""));
  };
  visit(tree, {}, 0);
}

const refusal = (message: string, place: JsonObject): Refusal => new Refusal(message, place as Placeable);
type Placeable = ConstructorParameters<typeof Refusal>[1];

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
