import type { CteNode, ExprNode, JoinNode, Located, OrderNode, QueryNode, SelectNode, WindowNode } from "../ast.ts";
import { Refusal } from "../refusal.ts";
import { units } from "../types.ts";
import { ExpressionReader, power, reserved, setOperators } from "./expressions.ts";

/** Words that are not the name of a table without AS. */
const joinWords: readonly string[] = [
  ...["left", "right", "inner", "cross", "full", "any", "all", "semi", "anti", "asof", "array", "outer"],
];
const afterTable: readonly string[] = [
  ...joinWords,
  ...["final", "sample", "natural", "positional", "pivot", "unpivot"],
];
/** Units of an interval cannot be names without AS. */
const noNames: readonly string[] = [...reserved, ...units];

/** Reads queries. Upstream posthog/hogql/grammar/HogQLParser.g4. */
class QueryReader extends ExpressionReader {
  query(): QueryNode {
    const made = this.querySet();
    this.skip(";");
    return made;
  }

  querySet(): QueryNode {
    const { start } = this.token();
    return this.withSets(this.queryPart(), start);
  }

  withSets(first: QueryNode, start: number): QueryNode {
    const others: { set_operator: string; select_query: QueryNode }[] = [];
    while (this.is(...setOperators)) {
      const word = this.take().text.toUpperCase();
      const isDistinct = this.skip("distinct");
      const isAll = !isDistinct && this.skip("all");
      const set_operator = isAll ? `${word} ALL` : word === "UNION" || isDistinct ? `${word} DISTINCT` : word;
      others.push({ set_operator, select_query: this.queryPart() });
    }
    if (others.length === 0) return first;
    const node = { node: "SelectSetQuery", start, end: this.end } as const;
    if (this.is("order", "limit", "offset")) throw this.unsupported(`${this.token().text.toUpperCase()} of a UNION`);
    return { ...node, initial_select_query: first, subsequent_select_queries: others };
  }

  queryPart(): QueryNode {
    if (!this.is("(")) return this.select();
    return this.nested(() => {
      this.take();
      const made = this.querySet();
      this.expect(")");
      return made;
    });
  }

  select(): SelectNode {
    const { start } = this.token();
    const ctes = this.skip("with") ? this.ctes() : undefined;
    if (!this.is("select")) throw this.unexpected("SELECT");
    this.take();
    if (this.is("top") && this.token(1).kind === "number") throw this.unsupported("TOP");
    const distinct = this.skip("distinct");
    const select = this.list(() => this.column());
    const select_from = this.skip("from") ? this.from() : undefined;
    const arrays = this.arrayJoin();
    const prewhere = this.skip("prewhere") ? this.expression() : undefined;
    const where = this.skip("where") ? this.expression() : undefined;
    const group_by = this.groupBy();
    const having = this.skip("having") ? this.expression() : undefined;
    const window_exprs = this.skip("window") ? this.windows() : undefined;
    if (this.is("qualify")) throw this.unsupported("QUALIFY");
    const order_by = this.skipBoth("order", "by") ? this.orders() : undefined;
    const limits = this.limits();
    if (this.is("settings")) throw this.unsupported("SETTINGS");
    const clauses = {
      ctes,
      distinct: distinct || undefined,
      select,
      select_from,
      ...arrays,
      prewhere,
      where,
      group_by,
    };
    return this.at(start, { node: "SelectQuery", ...clauses, having, window_exprs, order_by, ...limits });
  }

  isArrayJoin(): boolean {
    return this.is("array") || (this.is("left", "inner") && this.isAt(1, "array"));
  }

  arrayJoin(): Pick<SelectNode, "array_join_op" | "array_join_list"> {
    if (!this.isArrayJoin()) return {};
    const words: string[] = [];
    while (this.is("left", "inner", "array")) words.push(this.take().text.toUpperCase());
    this.expect("join");
    return { array_join_op: [...words, "JOIN"].join(" "), array_join_list: this.list(() => this.column()) };
  }

  windows(): Record<string, WindowNode> {
    const windows = this.list((): [string, WindowNode] => {
      const name = this.name();
      this.expect("as");
      return [name, this.windowExpression()];
    });
    return Object.fromEntries(windows);
  }

  groupBy(): ExprNode[] | undefined {
    if (!this.skipBoth("group", "by")) return undefined;
    if (this.is("rollup", "cube", "grouping") && this.isAt(1, "(", "sets"))
      throw this.unsupported("ROLLUP, CUBE and GROUPING SETS");
    const keys = this.list(() => this.expression());
    if (this.is("with")) throw this.unsupported("WITH after GROUP BY");
    return keys;
  }

  ctes(): CteNode[] {
    if (this.is("recursive")) throw this.unsupported("WITH RECURSIVE");
    return this.list((): CteNode => {
      const { start } = this.token();
      const isQuery = this.isNamed(0) && this.isAt(1, "as") && this.isAt(2, "(", "materialized", "not");
      if (this.isNamed(0) && this.isAt(1, "(") && !isQuery && this.isColumnList())
        throw this.unsupported("Column names of WITH");
      if (!isQuery) {
        const expr = this.binary(power.alias + 1);
        this.expect("as");
        return { node: "CTE", name: this.name(), expr, cte_type: "column", start, end: this.end };
      }
      const name = this.name();
      this.take();
      if (!this.is("(")) throw this.unsupported("MATERIALIZED");
      const expr = this.queryPart();
      return { node: "CTE", name, expr, cte_type: "subquery", start, end: this.end };
    });
  }

  /** `a(x, y) AS (` */
  isColumnList(): boolean {
    const close = this.closing(1);
    return this.isAt(close + 1, "as") && this.isAt(close + 2, "(");
  }

  column(): ExprNode {
    const { start } = this.token();
    const expr = this.expression();
    const { kind, text } = this.token();
    const isName = kind === "name" || (kind === "word" && !noNames.includes(text));
    if (!isName || expr.node === "Alias") return expr;
    if (this.is("replace", "exclude") && this.isAt(1, "(")) throw this.unsupported(text.toUpperCase());
    return { node: "Alias", alias: this.name(), expr, start, end: this.end };
  }

  from(): JoinNode {
    const first = this.table();
    const joins = [first];
    for (;;) {
      const { start } = this.token();
      const words: string[] = [];
      if (this.skip(",")) words.push("cross", "join");
      else while (this.is("join", ...joinWords) && !this.isArrayJoin()) words.push(this.take().text);
      if (words.length === 0) break;
      if (words.at(-1) !== "join") throw this.unexpected("JOIN");
      const table = this.table();
      const constraint = this.constraint();
      joins.push({ ...table, join_type: words.join(" ").toUpperCase(), ...(constraint && { constraint }), start });
    }
    return joins.reduceRight((next, it) => ({ ...it, next_join: next }));
  }

  constraint(): JoinNode["constraint"] {
    if (!this.is("on", "using")) return undefined;
    const constraint_type = this.take().text.toUpperCase();
    return { constraint_type, expr: this.expression() };
  }

  table(): JoinNode {
    const { start } = this.token();
    const table = this.tableExpression();
    this.skip("as");
    const { kind, text } = this.token();
    const hasAlias = kind === "name" || (kind === "word" && !noNames.includes(text) && !afterTable.includes(text));
    const alias = hasAlias ? this.name() : undefined;
    if (this.is("final", "sample", "pivot", "unpivot")) throw this.unsupported(this.token().text.toUpperCase());
    if (alias !== undefined && this.is("(")) throw this.unsupported("Column names of a table");
    return { node: "JoinExpr", table, ...(alias !== undefined && { alias }), start, end: this.end };
  }

  tableExpression(): ExprNode {
    const { start } = this.token();
    if (this.is("(")) {
      if (!this.isQuery()) throw this.unsupported("A join in parentheses");
      return this.queryPart();
    }
    if (this.is("{")) return this.braces();
    const chain = [this.name()];
    while (this.skip(".")) chain.push(this.name());
    if (this.is("(")) throw this.unsupported("A table function", start);
    return { node: "Field", chain, start, end: this.end };
  }

  orders(): OrderNode[] {
    const read = (): OrderNode => {
      const { start } = this.token();
      const expr = this.expression();
      const isDescending = this.is("desc", "descending");
      if (isDescending || this.is("asc", "ascending")) this.take();
      if (this.is("nulls", "collate", "with")) throw this.unsupported(`${this.token().text.toUpperCase()} in ORDER BY`);
      return { node: "OrderExpr", expr, order: isDescending ? "DESC" : "ASC", start, end: this.end };
    };
    const orders = [read()];
    while (this.skip(",")) orders.push(read());
    return orders;
  }

  limits(): Pick<SelectNode, "limit" | "offset" | "limit_by"> {
    let limits: Pick<SelectNode, "limit" | "offset" | "limit_by"> = {};
    while (this.is("limit", "offset")) {
      const { start } = this.token();
      if (this.skip("offset")) {
        limits = { ...limits, offset: this.expression() };
        continue;
      }
      this.take();
      const first = this.expression();
      const second = this.skip(",") ? this.expression() : undefined;
      const offset = !second && this.skip("offset") ? this.expression() : undefined;
      if (this.is("with")) throw this.unsupported("LIMIT … WITH TIES");
      if (this.skip("by")) {
        const exprs = this.list(() => this.expression());
        const offset_value = second ? first : offset;
        limits = {
          ...limits,
          limit_by: this.at(start, { node: "LimitByExpr", n: second ?? first, exprs, offset_value }),
        };
      } else {
        // `LIMIT a, b` is LIMIT a OFFSET b in the service.
        limits = { ...limits, limit: first, offset: second ?? offset ?? limits.offset };
      }
    }
    return limits;
  }
}

/** Levels of a tree: long sums nest as well, and later steps recurse. */
const deepestTree = 600;

function checked<T extends Located>(tree: T): T {
  const waiting: [value: object, depth: number, at: Located][] = [[tree, 0, tree]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, depth, at] = next;
    if (depth > deepestTree) throw new Refusal("The query is nested too deeply", at);
    for (const child of Object.values(value))
      if (typeof child === "object" && child !== null) {
        const isNode = "node" in child;
        waiting.push([child, depth + Number(isNode), isNode ? (child as Located) : at]);
      }
  }
  return tree;
}

/** @throws Refusal for a syntax error, and for syntax that is not supported */
export function parseQuery(text: string): QueryNode {
  const reader = new QueryReader(text);
  return checked(reader.whole(reader.query()));
}

export function parseExpression(text: string): ExprNode {
  const reader = new QueryReader(text);
  return checked(reader.whole(reader.expression()));
}
