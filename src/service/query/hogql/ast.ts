/** A place in the text of the query, in UTF-16 units; what the sim adds to a query has none. */
export interface Located {
  readonly start?: number;
  readonly end?: number;
}

/** Literal; `value_type` marks numbers that JSON cannot hold: `Infinity`, `NaN`, long integers. */
interface ConstantNode extends Located {
  readonly node: "Constant";
  readonly value: string | number | boolean | null;
  readonly value_type?: "number";
  /** True for a number that is written with a point or an exponent. */
  readonly isFloat?: boolean;
}

interface FieldNode extends Located {
  readonly node: "Field";
  readonly chain: readonly (string | number)[];
}

export interface CallNode extends Located {
  readonly node: "Call";
  readonly name: string;
  readonly args: readonly ExprNode[];
  readonly params?: readonly ExprNode[] | null;
  readonly distinct?: boolean | null;
  readonly filter_expr?: ExprNode | null;
  readonly order_by?: readonly OrderNode[] | null;
  readonly within_group?: unknown;
}

/** A function over a window: its arguments are `exprs`, or `args` after parameters in `exprs`. */
export interface WindowFunctionNode extends Located {
  readonly node: "WindowFunction";
  readonly name: string;
  readonly exprs: readonly ExprNode[];
  readonly args: readonly ExprNode[];
  readonly over_expr?: WindowNode | null;
  readonly over_identifier?: string | null;
}

export interface WindowNode extends Located {
  readonly node: "WindowExpr";
  readonly partition_by?: readonly ExprNode[] | null;
  readonly order_by?: readonly OrderNode[] | null;
  readonly frame_method?: "ROWS" | "RANGE" | null;
  readonly frame_start?: FrameNode | null;
  readonly frame_end?: FrameNode | null;
}

/** A bound of a frame; without `frame_value` it is UNBOUNDED, or the current row. */
export interface FrameNode extends Located {
  readonly node: "WindowFrameExpr";
  readonly frame_type: "CURRENT ROW" | "PRECEDING" | "FOLLOWING";
  readonly frame_value?: number | null;
}

interface AliasNode extends Located {
  readonly node: "Alias";
  readonly alias: string;
  readonly expr: ExprNode;
}

export interface CompareNode extends Sides {
  readonly node: "CompareOperation";
  readonly op: string;
}

export interface OrderNode extends Located {
  readonly node: "OrderExpr";
  readonly expr: ExprNode;
  readonly order: "ASC" | "DESC";
}

interface Sides extends Located {
  readonly left: ExprNode;
  readonly right: ExprNode;
}

interface BetweenNode extends Located {
  readonly node: "BetweenExpr";
  readonly expr: ExprNode;
  readonly low: ExprNode;
  readonly high: ExprNode;
  readonly negated: boolean;
}

export type ExprNode =
  | ConstantNode
  | FieldNode
  | CallNode
  | WindowFunctionNode
  | AliasNode
  | CompareNode
  | BetweenNode
  | QueryNode
  | (Sides & { readonly node: "ArithmeticOperation"; readonly op: "+" | "-" | "*" | "/" | "%" })
  | (Located &
      (
        | { readonly node: "And" | "Or" | "Tuple" | "Array"; readonly exprs: readonly ExprNode[] }
        | { readonly node: "Not" | "Placeholder"; readonly expr: ExprNode }
        | { readonly node: "ArrayAccess"; readonly array: ExprNode; readonly property: ExprNode }
        | { readonly node: "TupleAccess"; readonly tuple: ExprNode; readonly index: number }
        | { readonly node: "Lambda"; readonly args: readonly string[]; readonly expr: ExprNode }
        // Filters of the query; `text` is what they are printed as.
        | { readonly node: "RowTest"; readonly test: (row: number) => boolean; readonly text: string }
        | { readonly node: "TypeCast" | "TryCast"; readonly expr: ExprNode; readonly type_name: string }
      ));

export interface CteNode extends Located {
  readonly node: "CTE";
  readonly name: string;
  readonly expr: ExprNode;
  readonly cte_type: "column" | "subquery";
  readonly columns?: unknown;
  readonly using_key?: unknown;
}

export interface JoinNode extends Located {
  readonly node: "JoinExpr";
  readonly table: ExprNode | null;
  readonly alias?: string | null;
  readonly join_type?: string | null;
  readonly constraint?: { readonly expr: ExprNode; readonly constraint_type: string } | null;
  readonly next_join?: JoinNode | null;
}

interface LimitByNode extends Located {
  readonly n: ExprNode;
  readonly offset_value?: ExprNode | null;
  readonly exprs: readonly ExprNode[];
}

export interface SelectNode extends Located {
  readonly node: "SelectQuery";
  readonly ctes?: readonly CteNode[] | null;
  readonly distinct?: boolean | null;
  readonly select: readonly ExprNode[];
  readonly select_from?: JoinNode | null;
  readonly array_join_op?: string | null;
  readonly array_join_list?: readonly ExprNode[] | null;
  readonly window_exprs?: Readonly<Record<string, WindowNode>> | null;
  readonly prewhere?: ExprNode | null;
  readonly where?: ExprNode | null;
  readonly group_by?: readonly ExprNode[] | null;
  readonly having?: ExprNode | null;
  readonly order_by?: readonly OrderNode[] | null;
  readonly limit_by?: LimitByNode | null;
  readonly limit?: ExprNode | null;
  readonly offset?: ExprNode | null;
}

export interface SelectSetNode extends Located {
  readonly node: "SelectSetQuery";
  readonly initial_select_query: QueryNode;
  readonly subsequent_select_queries: readonly { readonly set_operator: string; readonly select_query: QueryNode }[];
}

export type QueryNode = SelectNode | SelectSetNode;

/** True for a query, at the top or in an expression. */
export const isQuery = (node: ExprNode): node is QueryNode =>
  node.node === "SelectQuery" || node.node === "SelectSetQuery";

/** The place of a node, for another that takes its place. */
export const placeOf = ({ start, end }: Located): Located => ({ start, end });

/** The tree with some nodes replaced: `change` returns undefined for those that stay. */
export function mapTree<T>(tree: T, change: (node: ExprNode) => ExprNode | undefined): T {
  if (Array.isArray(tree)) return tree.map((it) => mapTree(it, change)) as T;
  if (typeof tree !== "object" || tree === null) return tree;
  const changed = "node" in tree ? change(tree as unknown as ExprNode) : undefined;
  if (changed !== undefined) return changed as T;
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, mapTree(value, change)])) as T;
}
