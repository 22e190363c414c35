import type { ExprNode, FrameNode, JoinNode, OrderNode, QueryNode, SelectNode, WindowNode } from "./ast.ts";
import { arithmeticFunctions, comparisonFunctions } from "./compare.ts";
import { numberText } from "./values.ts";

const operators: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(comparisonFunctions).map(([name, op]) => [op, name])),
  ...arithmeticFunctions,
  "=~": "match",
};

/** An identifier; in backticks if it is not a plain one. Upstream posthog/hogql/escape_sql.py. */
function identifier(name: string | number): string {
  const text = String(name);
  if (typeof name === "number" || /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(text)) return text;
  return `\`${escaped(text).replaceAll("`", "\\`")}\``;
}

const escapes: Readonly<Record<string, string>> = {
  ...{ "\b": "\\b", "\f": "\\f", "\r": "\\r", "\n": "\\n", "\t": "\\t", "\0": "\\0", "\x07": "\\a", "\v": "\\v" },
  "\\": "\\\\",
};
const escaped = (text: string): string => Array.from(text, (it) => escapes[it] ?? it).join("");

const list = (nodes: readonly ExprNode[]): string => nodes.map((it) => printed(it)).join(", ");

/** An expression as the service prints HogQL. Upstream posthog/hogql/printer/base.py. */
function printed(node: ExprNode, indent = 1): string {
  switch (node.node) {
    case "Constant": {
      const { value } = node;
      if (typeof value === "string" && node.value_type !== "number")
        return `'${escaped(value).replaceAll("'", "\\'")}'`;
      if (typeof value === "number") return node.isFloat && Number.isInteger(value) ? `${value}.0` : numberText(value);
      return value === null ? "NULL" : String(value);
    }
    case "Field":
      return node.chain.map((it) => (it === "*" ? "*" : identifier(it))).join(".");
    case "Alias":
      return `${printed(node.expr, indent)} AS ${identifier(node.alias)}`;
    case "Call": {
      const params = node.params ? `(${list(node.params)})` : "";
      const filter = node.filter_expr ? ` FILTER (WHERE ${printed(node.filter_expr)})` : "";
      return `${node.name}${params}(${node.distinct ? "DISTINCT " : ""}${list(node.args)})${filter}`;
    }
    case "WindowFunction": {
      const params = node.args.length > 0 ? `(${list(node.args)})` : "";
      const over = node.over_expr ? `(${window(node.over_expr)})` : identifier(node.over_identifier ?? "");
      return `${identifier(node.name)}(${list(node.exprs)})${params} OVER ${over}`;
    }
    case "And":
    case "Or":
      return `${node.node.toLowerCase()}(${list(node.exprs)})`;
    case "Not":
      return `not(${printed(node.expr)})`;
    case "Tuple":
      return `tuple(${list(node.exprs)})`;
    case "Array":
      return `[${list(node.exprs)}]`;
    case "ArithmeticOperation":
      return `${operators[node.op]}(${printed(node.left)}, ${printed(node.right)})`;
    case "CompareOperation":
      return comparison(node.op, printed(node.left), printed(node.right, indent));
    case "BetweenExpr":
      return `${printed(node.expr)}${node.negated ? " NOT" : ""} BETWEEN ${printed(node.low)} AND ${printed(node.high)}`;
    case "ArrayAccess":
      return `${printed(node.array)}[${printed(node.property)}]`;
    case "TupleAccess":
      return `${printed(node.tuple)}.${node.index}`;
    case "Lambda": {
      const names = node.args.map(identifier);
      return `${names.length === 1 ? names[0] : `(${names.join(", ")})`} -> ${printed(node.expr)}`;
    }
    case "Placeholder":
      return `{${printed(node.expr)}}`;
    case "RowTest":
      return node.text;
    case "TypeCast":
    case "TryCast":
      return `${node.node === "TypeCast" ? "CAST" : "TRY_CAST"}(${printed(node.expr)} AS ${node.type_name})`;
    case "SelectQuery":
    case "SelectSetQuery":
      return `(${printedQuery(node, indent).trim()})`;
  }
}

function comparison(op: string, left: string, right: string): string {
  if (op === "!~") return `not(match(${left}, ${right}))`;
  if (op === "=~*") return `match(${left}, concat('(?i)', ${right}))`;
  if (op === "!~*") return `not(match(${left}, concat('(?i)', ${right})))`;
  return `${operators[op] ?? op}(${left}, ${right})`;
}

const bound = ({ frame_type, frame_value }: FrameNode): string =>
  frame_type === "CURRENT ROW" ? frame_type : `${frame_value ?? "UNBOUNDED"} ${frame_type}`;

function window({ partition_by, order_by, frame_method, frame_start, frame_end }: WindowNode): string {
  const start = frame_start ? bound(frame_start) : "";
  return [
    ...(partition_by ? [`PARTITION BY ${list(partition_by)}`] : []),
    ...(order_by ? [`ORDER BY ${order_by.map(ordered).join(", ")}`] : []),
    ...(frame_method ? [`${frame_method} ${frame_end ? `BETWEEN ${start} AND ${bound(frame_end)}` : start}`] : []),
  ].join(" ");
}

const ordered = (node: OrderNode): string => `${printed(node.expr)} ${node.order}`;

function source(node: JoinNode, indent: number): string {
  const table = node.table ? printed(node.table, indent) : "";
  const alias = node.alias ? ` AS ${identifier(node.alias)}` : "";
  const on = node.constraint ? ` ${node.constraint.constraint_type} ${printed(node.constraint.expr)}` : "";
  return `${node.join_type ? `${node.join_type} ` : ""}${table}${alias}${on}`;
}

/** A query as the service prints HogQL, on several lines. */
export function printedQuery(node: QueryNode, indent = 0): string {
  if (node.node === "SelectQuery") return select(node, indent);
  const parts = [printedQuery(node.initial_select_query, indent).trim()];
  for (const { set_operator, select_query } of node.subsequent_select_queries)
    parts.push(set_operator, printedQuery(select_query, indent).trim());
  return parts.join(`\n${" ".repeat(4 * indent)}`);
}

function select(node: SelectNode, indent: number): string {
  const space = `\n${" ".repeat(4 * (indent + 1))}`;
  const comma = `,${space}`;
  const joins: string[] = [];
  for (let join = node.select_from; join; join = join.next_join) joins.push(source(join, indent + 1));
  const columns = node.select.map((it) => printed(it, indent + 1)).join(comma);
  const clause = (word: string, nodes: readonly ExprNode[] | null | undefined): string[] =>
    nodes && nodes.length > 0 ? [`${word}${space}${nodes.map((it) => printed(it, indent + 1)).join(comma)}`] : [];
  const one = (it: ExprNode | null | undefined) => (it ? [it] : []);
  const { limit_by } = node;
  const offset = limit_by?.offset_value ? `OFFSET ${printed(limit_by.offset_value)}` : "";
  const windows = Object.entries(node.window_exprs ?? {}).map(([name, it]) => `${identifier(name)} AS (${window(it)})`);
  const lines = [
    `SELECT${space}${node.distinct ? "DISTINCT " : ""}${columns}`,
    ...(joins.length > 0 ? [`FROM${space}${joins.join(space)}`] : []),
    ...(node.array_join_op ? [`${node.array_join_op} ${list(node.array_join_list ?? [])}`] : []),
    ...clause("PREWHERE", one(node.prewhere)),
    ...clause("WHERE", one(node.where)),
    ...clause("GROUP BY", node.group_by),
    ...clause("HAVING", one(node.having)),
    ...(windows.length > 0 ? [`WINDOW ${windows.join(", ")}`] : []),
    ...(node.order_by && node.order_by.length > 0 ? [`ORDER BY${space}${node.order_by.map(ordered).join(comma)}`] : []),
    ...(limit_by ? [`LIMIT ${printed(limit_by.n)} ${offset} BY ${list(limit_by.exprs)}`] : []),
    ...(node.limit ? [`LIMIT ${printed(node.limit)}`] : []),
    ...(node.offset ? [`OFFSET ${printed(node.offset)}`] : []),
  ];
  return lines.map((it) => `${" ".repeat(4 * indent)}${it}`).join("\n");
}

/** Name of a column without an alias. Upstream posthog/hogql/resolver.py: fields have hidden aliases. */
export function columnName(node: ExprNode): string {
  if (node.node === "Alias") return node.alias;
  if (node.node !== "Field") return printed(node);
  const json = node.chain.indexOf("properties");
  const below = json >= 0 ? node.chain.slice(json + 1) : [];
  return below.length > 1 ? below.join("__") : String(node.chain.at(-1) ?? "");
}
