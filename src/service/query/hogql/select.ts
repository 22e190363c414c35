import { getOrMake } from "../../../kernel/base/recent-map.ts";
import {
  type ExprNode,
  isQuery,
  mapTree,
  type OrderNode,
  placeOf,
  type QueryNode,
  type SelectNode,
  type SelectSetNode,
} from "./ast.ts";
import { type Ctes, expanded, planFrom, type QueryPlan, type TablePorts } from "./from.ts";
import { arrayJoined, condition, type From } from "./joins.ts";
import type { NameScope, Subquery } from "./names.ts";
import { grouped, output, type ResultRow } from "./output.ts";
import { columnName } from "./print.ts";
import { Refusal } from "./refusal.ts";
import type { Resolver } from "./resolve.ts";
import type { TableNames } from "./source.ts";
import { compile, compileAll, type HogQLTerm, isAggregated, termsIn } from "./term.ts";
import { commonType, typeName } from "./types.ts";
import { isTrue, keyOf, type Zones } from "./values.ts";

export interface PlanPorts extends TablePorts {
  readonly resolver: Resolver;
  readonly zones: Zones;
}

/** Names of WITH may use each other; the service gives up at this depth. */
const deepestCte = 50;

export function planQuery(node: QueryNode, ports: PlanPorts): QueryPlan {
  return plan(node, new Map(), ports, 0);
}

function plan(node: QueryNode, ctes: Ctes, ports: PlanPorts, depth: number): QueryPlan {
  if (depth > deepestCte) throw new Refusal("Too many CTE expansions (50+). Probably a CTE loop.", node);
  return node.node === "SelectQuery" ? planSelect(node, ctes, ports, depth) : planUnion(node, ctes, ports, depth);
}

function planUnion(node: SelectSetNode, ctes: Ctes, ports: PlanPorts, depth: number): QueryPlan {
  const first = plan(node.initial_select_query, ctes, ports, depth);
  const parts = node.subsequent_select_queries.map(({ set_operator, select_query }) => {
    if (set_operator !== "UNION ALL" && set_operator !== "UNION DISTINCT")
      throw new Refusal(`${set_operator} is not emulated`, select_query);
    const next = plan(select_query, ctes, ports, depth);
    if (next.columns.length !== first.columns.length)
      throw new Refusal("The queries of a UNION have different numbers of columns", select_query);
    return { next, isDistinct: set_operator === "UNION DISTINCT" };
  });
  const all = [first, ...parts.map((it) => it.next)];
  const columns = first.columns.map(({ name }, i) => {
    const parts = all.flatMap((it) => it.columns[i] ?? []);
    const types = parts.map((it) => it.type);
    const type = commonType(types);
    if (!type)
      throw new Refusal(
        `The column ${name} of a UNION has types without a supertype: ${types.map(typeName).join(", ")}`,
      );
    return { name, type, isJson: parts.every((it) => it.isJson === true) };
  });
  return {
    columns,
    run() {
      let rows = first.run();
      for (const { next, isDistinct } of parts) {
        for (const row of next.run()) rows.push(row);
        if (isDistinct) rows = [...new Map(rows.map((it) => [keyOf(it), it])).values()];
      }
      return rows;
    },
  };
}

/** The arrays whose items are rows: those of ARRAY JOIN, and those of calls of arrayJoin, which become names. */
function arraysOf(select: SelectNode): { node: SelectNode; arrays: [name: string, array: ExprNode][] } {
  const calls = new Map<string, ExprNode>();
  const named = (it: ExprNode): ExprNode | undefined => {
    if (isQuery(it)) return it;
    const [array, ...others] = it.node === "Call" && it.name === "arrayJoin" ? it.args : [];
    if (!array || others.length > 0) return undefined;
    calls.set(columnName(it), array);
    return { node: "Field", chain: [columnName(it)], ...placeOf(it) };
  };
  const isKept = (key: string) => ["ctes", "select_from", "array_join_list"].includes(key);
  const clauses = Object.entries(select).map(([key, value]) => [key, isKept(key) ? value : mapTree(value, named)]);
  const list = (select.array_join_list ?? []).map((it): [string, ExprNode] => {
    if (it.node === "Alias") return [it.alias, it.expr];
    throw new Refusal("ARRAY JOIN arrays must have an alias", it);
  });
  const [, second] = [...list.slice(0, 1), ...calls];
  if (second) throw new Refusal("Several ARRAY JOIN or arrayJoin in one query are not emulated", second[1]);
  return { node: Object.fromEntries(clauses) as SelectNode, arrays: [...list, ...calls] };
}

function planScope(
  { node, arrays }: ReturnType<typeof arraysOf>,
  ctes: Ctes,
  ports: PlanPorts,
  scopeOf: (names: TableNames) => NameScope,
  planned: (query: QueryNode, ctes: Ctes) => QueryPlan,
): { from: From; scope: NameScope } {
  const resolve = (it: ExprNode, names: TableNames): HogQLTerm => ports.resolver.term(it, scopeOf(names));
  const from = planFrom(node.select_from, ctes, { ...ports, resolve, plan: planned });
  if (arrays.length === 0) return { from, scope: scopeOf(from) };
  const below = scopeOf(from);
  const aliased = node.select.flatMap((it): [string, ExprNode][] => (it.node === "Alias" ? [[it.alias, it.expr]] : []));
  const known = { ...below, expressions: new Map([...below.expressions, ...aliased]) };
  const terms = arrays.map(([name, it]) => ({ name, array: ports.resolver.term(it, known) }));
  const repeated = arrayJoined(from, terms, node.array_join_op === "LEFT ARRAY JOIN", ports.budget);
  const scope = { ...scopeOf(repeated), below: repeated.below };
  for (const [name, column] of repeated.items)
    scope.aliases.set(name, { op: "column", key: `column array.${name}`, type: column.type, column, at: node });
  return { from: repeated, scope };
}

function planSelect(select: SelectNode, outer: Ctes, ports: PlanPorts, depth: number): QueryPlan {
  const query = arraysOf(select);
  const { node } = query;
  const ctes = withCtes(node, outer);
  const planned = (query: QueryNode, known: Ctes): QueryPlan => plan(query, known, ports, depth + 1);
  const expressions = new Map<string, ExprNode>([...ctes].map(([name, it]) => [name, it.node.expr]));
  const subqueries = new Map<QueryNode, Subquery>();
  const subquery = (query: QueryNode): Subquery => getOrMake(subqueries, query, () => subqueryOf(planned(query, ctes)));
  const scopeOf = ({ tables, anonymous }: TableNames): NameScope => ({
    ...{ tables, anonymous, expressions, subquery, aliases: new Map(), locals: new Map() },
  });
  const { from, scope: names } = planScope(query, ctes, ports, scopeOf, planned);
  const scope: NameScope = { ...names, windows: node.window_exprs ?? {} };
  const resolve = (it: ExprNode): HogQLTerm => ports.resolver.term(it, scope);
  const columns = node.select
    .flatMap((it) => expanded(it, from))
    .map((it) => ({ name: columnName(it), term: resolve(it) }));
  const where = [
    ...from.conditions.map((it) => condition(resolve(it), "ON", it)),
    ...[node.prewhere, node.where].flatMap((it) => (it ? [condition(resolve(it), "WHERE", it)] : [])),
  ];
  const byPlace = (it: ExprNode): HogQLTerm => {
    const place = it.node === "Constant" && typeof it.value === "number" ? it.value : undefined;
    if (place === undefined) return resolve(it);
    const column = columns[place - 1];
    if (!column) throw new Refusal(`There is no column ${place} in SELECT`, it);
    return column.term;
  };
  const keys = (node.group_by ?? []).map(byPlace);
  const having = node.having ? condition(resolve(node.having), "HAVING", node.having) : undefined;
  const sortTerms = (node.order_by ?? []).map((it: OrderNode) => ({
    term: byPlace(it.expr),
    isDescending: it.order === "DESC",
  }));
  const limitTerms = (node.limit_by?.exprs ?? []).map(byPlace);
  const limits = {
    limit: count(node.limit, resolve, "LIMIT"),
    offset: count(node.offset, resolve, "OFFSET") ?? 0,
    by: count(node.limit_by?.n, resolve, "LIMIT"),
    byOffset: count(node.limit_by?.offset_value, resolve, "OFFSET") ?? 0,
  };
  const shown = [...columns, ...sortTerms].map((it) => it.term).concat(limitTerms);
  const later = having ? [...shown, having] : shown;
  checkPlaces([...where, ...keys], having, node);
  const isGrouped = keys.length > 0 || later.some(isAggregated);
  if (node.having && !isGrouped) throw new Refusal("HAVING needs GROUP BY or an aggregation", node.having);
  if (isGrouped) for (const it of later) checkGrouped(it, new Set(keys.map((key) => key.key)));
  const { budget } = ports;
  const shared = { columns, sortTerms, limitTerms, limits, isDistinct: node.distinct ?? false, budget, shown };
  return {
    columns: columns.map(({ name, term }) => ({
      ...{ name, type: term.type, isJson: term.op === "column" && term.column.isJson === true },
    })),
    run() {
      for (const it of subqueries.values()) it.rows();
      from.prepare?.();
      const passes = compileAll(where);
      const isKept = (row: number) => passes.every((it) => isTrue(it(row)));
      if (!isGrouped) return output(from.length(), isKept, () => undefined, shared);
      const groups = grouped(from.length(), isKept, keys, later, budget);
      const has = having ? compile(having, groups.known) : undefined;
      return output(groups.length, (row) => !has || isTrue(has(row)), groups.known, shared);
    },
  };
}

/** @throws Refusal for an aggregation in WHERE, and for a window function there or in HAVING */
function checkPlaces(terms: readonly HogQLTerm[], having: HogQLTerm | undefined, node: SelectNode): void {
  for (const { name, at } of terms.flatMap((it) => termsIn(it, "aggregate")))
    throw new Refusal(`Aggregate function ${name} is found in WHERE or GROUP BY in query`, at);
  for (const { name, at } of [...terms, ...(having ? [having] : [])].flatMap((it) => termsIn(it, "window")))
    throw new Refusal(`Window function ${name} is found in WHERE, GROUP BY or HAVING`, at ?? node);
}

export function subqueryOf({ columns, run }: QueryPlan): Subquery {
  let rows: readonly ResultRow[] | undefined;
  return { columns, rows: () => (rows ??= run()) };
}

function withCtes(node: SelectNode, outer: Ctes): Ctes {
  const ctes = new Map(outer);
  for (const cte of node.ctes ?? []) ctes.set(cte.name, { node: cte, ctes: new Map(ctes) });
  return ctes;
}

function count(
  node: ExprNode | null | undefined,
  resolve: (it: ExprNode) => HogQLTerm,
  clause: string,
): number | undefined {
  if (!node) return undefined;
  const term = resolve(node);
  const value = term.op === "constant" ? term.value : undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw new Refusal(`${clause} must be a whole number of 0 or more`, node);
  return value;
}

/** @throws Refusal for a column that is neither a key nor in an aggregation */
export function checkGrouped(term: HogQLTerm, keys: ReadonlySet<string>): void {
  if (keys.has(term.key) || term.op === "aggregate") return;
  if (term.op === "column") {
    const name = term.key.replace(/^column \w+\./, "");
    throw new Refusal(`Column ${name} is not under aggregate function and not in GROUP BY keys`, term.at);
  }
  if (term.op === "lambda") checkGrouped(term.body, keys);
  if (term.op === "call" || term.op === "window") for (const it of term.args) checkGrouped(it, keys);
}
