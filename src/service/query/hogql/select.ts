import { type Json, parsedJson } from "../../../kernel/base/json.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import type { Steps } from "../table.ts";
import type { CteNode, ExprNode, JoinNode, OrderNode, QueryNode, SelectNode, SelectSetNode } from "./ast.ts";
import { aggregationOf, numbering } from "./grouping.ts";
import type { NameScope, Subquery } from "./names.ts";
import { columnName } from "./print.ts";
import { propertyText, valueAt } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import type { Resolver } from "./resolve.ts";
import { order, type SortKey, sorted } from "./sort.ts";
import type { Member, RowSource, Table } from "./source.ts";
import { isQuery } from "./syntax.ts";
import { noWork } from "./tables.ts";
import {
  aggregatesIn,
  compile,
  type HogQLTerm,
  isAggregated,
  type Known,
  type Read,
  type SourceColumn,
  type ValueBudget,
} from "./term.ts";
import { commonType, type HogQLValue, isNumber, string, type Type, typeName } from "./types.ts";
import { isTrue, keyOf, weightOf, type Zones } from "./values.ts";

type ResultRow = readonly HogQLValue[];

/** Rows between two yields: a row costs a microsecond or a few. */
const rowsPerTurn = 2048;

/** A query whose names and types are known. */
export interface QueryPlan {
  readonly columns: readonly { readonly name: string; readonly type: Type; readonly isJson?: boolean }[];
  run(): Steps<ResultRow[]>;
}

export interface PlanPorts {
  readonly resolver: Resolver;
  readonly budget: ValueBudget;
  /** The table with this name; undefined if there is none. @throws Refusal for those that are not emulated */
  table(name: string): RowSource | undefined;
  readonly tableNames: readonly string[];
  readonly zones: Zones;
}

type Ctes = ReadonlyMap<string, { readonly node: CteNode; readonly ctes: Ctes }>;

/** Names of WITH may use each other; the service gives up at this depth. */
const deepestCte = 50;

/** @throws Refusal */
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
    *run() {
      let rows = yield* first.run();
      for (const { next, isDistinct } of parts) {
        for (const row of yield* next.run()) rows.push(row);
        if (isDistinct) rows = [...new Map(rows.map((it) => [keyOf(it), it])).values()];
      }
      return rows;
    },
  };
}

/** A column of JSON of a query in FROM: the service knows no types of its members, which are texts. */
function derivedJson(read: (row: number) => HogQLValue): (Member & { is: "json" })["json"] {
  let last: { row: number; value: Json | undefined } | undefined;
  const jsonOf = (row: number): Json | undefined => {
    if (last?.row !== row) last = { row, value: parsedJson(String(read(row))) };
    return last.value;
  };
  const nested = (path: readonly (string | number)[]): SourceColumn => ({
    type: { kind: "String", nullable: true },
    read: (row) => propertyText(valueAt(jsonOf(row), path)),
  });
  return {
    property: (name) => nested([name]),
    nested,
    text: (name) => ({
      type: string,
      read(row) {
        const value = valueAt(jsonOf(row), [name]);
        return value === undefined ? "" : JSON.stringify(value);
      },
    }),
    whole: { type: string, isJson: true, read },
  };
}

/** A query in FROM as a table. */
function derivedTable(of: QueryPlan): RowSource {
  let rows: readonly ResultRow[] = [];
  const names = of.columns.map((it) => it.name);
  return {
    names,
    starred: names,
    member(name) {
      const at = names.lastIndexOf(name);
      const { type, isJson } = of.columns[at] ?? {};
      const read = (row: number) => rows[row]?.[at] ?? null;
      if (isJson) return { is: "json", json: derivedJson(read) };
      return type && { is: "column", column: { type, read } };
    },
    length: () => rows.length,
    *prepare() {
      rows = yield* of.run();
    },
  };
}

/** The one row of a query without FROM. */
const noTable: RowSource = { names: [], starred: [], member: () => undefined, length: () => 1, prepare: noWork };

interface From {
  readonly scopeTables: Map<string, RowSource>;
  readonly anonymous: RowSource[];
  readonly source: RowSource;
}

function planSelect(node: SelectNode, outer: Ctes, ports: PlanPorts, depth: number): QueryPlan {
  const ctes = withCtes(node, outer);
  const prerequisites: (() => Steps<void>)[] = [];
  const subquery = (query: QueryNode): Subquery => subqueryOf(plan(query, ctes, ports, depth + 1), prerequisites);
  const aliases = new Map<string, HogQLTerm>();
  const expressions = new Map<string, ExprNode>([...ctes].map(([name, it]) => [name, it.node.expr]));
  const from = planFrom(node.select_from, ctes, ports, depth);
  const { source } = from;
  const scope: NameScope = {
    tables: from.scopeTables,
    anonymous: from.anonymous,
    aliases,
    expressions,
    locals: new Map(),
    subquery,
  };
  const resolve = (it: ExprNode): HogQLTerm => ports.resolver.term(it, scope);
  const columns = node.select
    .flatMap((it) => expanded(it, from))
    .map((it) => ({ name: columnName(it), term: resolve(it) }));
  const where = [node.prewhere, node.where].flatMap((it) => (it ? [condition(resolve(it), "WHERE", it)] : []));
  const byPlace = (it: ExprNode): HogQLTerm => {
    const place = it.node === "Constant" && typeof it.value === "number" ? it.value : undefined;
    if (place === undefined) return resolve(it);
    const found = columns[place - 1];
    if (!found) throw new Refusal(`There is no column ${place} in SELECT`, it);
    return found.term;
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
  for (const it of [...where, ...keys])
    for (const { name, at } of aggregatesIn(it))
      throw new Refusal(`Aggregate function ${name} is found in WHERE or GROUP BY in query`, at);
  const later = [
    ...columns.map((it) => it.term),
    ...(having ? [having] : []),
    ...sortTerms.map((it) => it.term),
    ...limitTerms,
  ];
  const isGrouped = keys.length > 0 || later.some(isAggregated);
  if (node.having && !isGrouped) throw new Refusal("HAVING needs GROUP BY or an aggregation", node.having);

  const shared = { columns, sortTerms, limitTerms, limits, isDistinct: node.distinct ?? false, budget: ports.budget };
  if (isGrouped) for (const it of later) checkGrouped(it, new Set(keys.map((key) => key.key)));
  return {
    columns: columns.map(({ name, term }) => ({
      name,
      type: term.type,
      isJson: term.op === "column" && term.column.isJson === true,
    })),
    *run() {
      yield* source.prepare();
      for (const prepare of prerequisites) yield* prepare();
      const passes = where.map((it) => compile(it));
      const [first, second] = passes;
      const isKept = (row: number) => (!first || isTrue(first(row))) && (!second || isTrue(second(row)));
      if (!isGrouped) return yield* output(source.length(), isKept, undefined, shared);
      const groups = yield* grouped(source.length(), isKept, keys, later, ports.budget);
      const has = having ? compile(having, groups.known) : undefined;
      return yield* output(groups.length, (row) => !has || isTrue(has(row)), groups.known, shared);
    },
  };
}

/** A query in an expression; it runs with the prerequisites. */
export function subqueryOf(of: QueryPlan, prerequisites: (() => Steps<void>)[]): Subquery {
  let rows: readonly ResultRow[] = [];
  prerequisites.push(function* () {
    rows = yield* of.run();
  });
  return { columns: of.columns, rows: () => rows };
}

function withCtes(node: SelectNode, outer: Ctes): Ctes {
  const ctes = new Map(outer);
  for (const cte of node.ctes ?? []) ctes.set(cte.name, { node: cte, ctes: new Map(ctes) });
  return ctes;
}

function planFrom(join: JoinNode | null | undefined, ctes: Ctes, ports: PlanPorts, depth: number): From {
  if (!join) return { scopeTables: new Map(), anonymous: [], source: noTable };
  if (join.next_join) throw new Refusal(`${join.next_join.join_type ?? "JOIN"} is not emulated`, join.next_join);
  const source = tableOf(join, ctes, ports, depth);
  const name = join.alias ?? (join.table?.node === "Field" ? String(join.table.chain.at(-1)) : undefined);
  if (name === undefined) return { scopeTables: new Map(), anonymous: [source], source };
  return { scopeTables: new Map([[name, source]]), anonymous: [], source };
}

function tableOf({ table }: JoinNode, ctes: Ctes, ports: PlanPorts, depth: number): RowSource {
  if (!table) throw new Refusal("FROM needs a table");
  if (isQuery(table)) return derivedTable(plan(table, ctes, ports, depth + 1));
  if (table.node !== "Field") throw new Refusal("Only selecting from a table or a subquery is supported", table);
  const name = table.chain.join(".");
  const cte = table.chain.length === 1 ? ctes.get(name) : undefined;
  if (cte && isQuery(cte.node.expr)) return derivedTable(plan(cte.node.expr, cte.ctes, ports, depth + 1));
  try {
    const found = ports.table(name);
    if (found) return found;
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.message, table) : error;
  }
  const near = nearest(name, [...ports.tableNames, ...ctes.keys()]);
  throw new Refusal(`Unknown table \`${name}\`.${near === undefined ? "" : ` Did you mean: ${near}?`}`, table);
}

/** The columns that `*` stands for. */
function expanded(node: ExprNode, { scopeTables, anonymous }: From): ExprNode[] {
  if (node.node !== "Field" || node.chain.at(-1) !== "*") return [node];
  const all = [...scopeTables.values(), ...anonymous];
  const fields = (table: Table, prefix: readonly string[]): ExprNode[] =>
    table.starred.map((name) => ({ ...node, chain: [...prefix, name] }));
  const [name, ...rest] = node.chain;
  if (rest.length === 0) {
    const [only] = all;
    if (!only) throw new Refusal("Cannot use '*' when there are no tables in the query", node);
    if (all.length > 1)
      throw new Refusal("Cannot use '*' without table name when there are multiple tables in the query", node);
    return fields(only, []);
  }
  const table = rest.length === 1 ? scopeTables.get(String(name)) : undefined;
  if (!table) throw new Refusal(`Unable to resolve field: ${name}`, node);
  return fields(table, [String(name)]);
}

function condition(term: HogQLTerm, clause: string, node: ExprNode): HogQLTerm {
  const { kind } = term.type;
  if (isNumber(kind) || kind === "Nothing") return term;
  throw new Refusal(`Illegal type ${typeName(term.type)} of the condition of ${clause}`, node);
}

/** Value of LIMIT or OFFSET. */
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
    const name = term.key.replace(/^column \d+\./, "");
    throw new Refusal(`Column ${name} is not under aggregate function and not in GROUP BY keys`, term.at);
  }
  if (term.op === "lambda") checkGrouped(term.body, keys);
  if (term.op === "call") for (const it of term.args) checkGrouped(it, keys);
}

interface Groups {
  readonly length: number;
  /** Keys and results of aggregations by number of the group. */
  readonly known: Known;
}

/** Groups the rows by their keys, in order of the first row. */
function* grouped(
  length: number,
  isKept: (row: number) => boolean,
  keys: readonly HogQLTerm[],
  later: readonly HogQLTerm[],
  budget: ValueBudget,
): Steps<Groups> {
  const reads = keys.map((it) => compile(it));
  const aggregation = aggregationOf(later, budget);
  const values: ResultRow[] = [];
  const states: unknown[][] = [];
  const start = (row: ResultRow): unknown[] => {
    budget.take(weightOf(row));
    values.push(row);
    const made = aggregation.start();
    states.push(made);
    return made;
  };
  const numberOf = numbering(reads);
  // Without keys there is one group, also without rows.
  if (keys.length === 0) start([]);
  for (let row = 0; row < length; row++) {
    if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    if (!isKept(row)) continue;
    aggregation.add(states[numberOf(row)] ?? start(reads.map((it) => it(row))), row);
  }
  const results = yield* aggregation.results(states);
  for (const [i, { key }] of keys.entries()) results.set(key, (group) => values[group]?.[i] ?? null);
  return { length: states.length, known: (term) => results.get(term.key) };
}

interface Output {
  readonly columns: readonly { readonly term: HogQLTerm }[];
  readonly sortTerms: readonly { readonly term: HogQLTerm; readonly isDescending: boolean }[];
  readonly limitTerms: readonly HogQLTerm[];
  readonly limits: {
    readonly limit: number | undefined;
    readonly offset: number;
    readonly by: number | undefined;
    readonly byOffset: number;
  };
  readonly isDistinct: boolean;
  readonly budget: ValueBudget;
}

/** The rows of the result: sorted, limited, without repetitions as the query says. */
function* output(
  length: number,
  isKept: (row: number) => boolean,
  known: Known | undefined,
  { columns, sortTerms, limitTerms, limits, isDistinct, budget }: Output,
): Steps<ResultRow[]> {
  const reads = columns.map((it) => compile(it.term, known));
  const keys: SortKey[] = sortTerms.map(({ term, isDescending }) => ({ read: compile(term, known), isDescending }));
  const wanted = limits.limit === undefined ? Number.POSITIVE_INFINITY : limits.offset + limits.limit;
  const isPlain = !isDistinct && limits.by === undefined;
  const most = isPlain ? wanted : Number.POSITIVE_INFINITY;
  const found: number[] = [];
  const seen = new Set<unknown>();
  let work: number[] = found;
  for (let row = 0; row < length; row++) {
    if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    if (!isKept(row)) continue;
    if (isDistinct) {
      const key = keyOf(reads.map((it) => it(row)));
      if (seen.has(key)) continue;
      budget.take(1 + String(key).length / 64);
      seen.add(key);
    }
    work.push(row);
    if (keys.length === 0 && work.length >= wanted && isPlain) break;
    // With a limit only the first rows of the order are kept.
    if (keys.length > 0 && work.length > 2 * most + 100_000) work = (yield* sorted(work, order(keys))).slice(0, most);
  }
  if (keys.length > 0) work = yield* sorted(work, order(keys));
  if (limits.by !== undefined)
    work = limitedBy(
      work,
      limitTerms.map((it) => compile(it, known)),
      limits.by,
      limits.byOffset,
    );
  const rows: ResultRow[] = [];
  for (const row of work.slice(limits.offset, wanted)) {
    if (rows.length % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    const values = reads.map((it) => it(row));
    budget.take(weightOf(values));
    rows.push(values);
  }
  return rows;
}

/** The first rows of each combination of values. */
function limitedBy(rows: readonly number[], reads: readonly Read[], most: number, offset: number): number[] {
  const counts = new Map<unknown, number>();
  return rows.filter((row) => {
    const key = keyOf(reads.map((it) => it(row)));
    const place = counts.get(key) ?? 0;
    counts.set(key, place + 1);
    return place >= offset && place < offset + most;
  });
}
