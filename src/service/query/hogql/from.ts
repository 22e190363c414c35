import { type Json, parsedJson } from "../../../kernel/base/json.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import { type CteNode, type ExprNode, isQuery, type JoinNode, type QueryNode } from "./ast.ts";
import { type From, joined, type Part, type Resolve, tableNames } from "./joins.ts";
import type { ResultRow } from "./output.ts";
import { propertyText, valueAt } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import type { Member, RowSource, Table, TableNames } from "./source.ts";
import type { SourceColumn, ValueBudget } from "./term.ts";
import { type HogQLValue, string, type Type } from "./types.ts";

export interface QueryPlan {
  readonly columns: readonly { readonly name: string; readonly type: Type; readonly isJson?: boolean }[];
  run(): ResultRow[];
}

export type Ctes = ReadonlyMap<string, { readonly node: CteNode; readonly ctes: Ctes }>;

export interface TablePorts {
  readonly budget: ValueBudget;
  /** The table with this name; undefined if there is none. @throws Refusal for those that are not emulated */
  table(name: string): RowSource | undefined;
  readonly tableNames: readonly string[];
}

interface FromPorts extends TablePorts {
  readonly resolve: Resolve;
  plan(query: QueryNode, ctes: Ctes): QueryPlan;
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
    prepare() {
      rows = of.run();
    },
  };
}

/** The one row of a query without FROM. */
const noTable: From = { ...tableNames([]), conditions: [], length: () => 1 };

export function planFrom(first: JoinNode | null | undefined, ctes: Ctes, ports: FromPorts): From {
  const parts: Part[] = [];
  for (let node = first; node; node = node.next_join) {
    const source = tableOf(node, ctes, ports);
    const name = node.alias ?? (node.table?.node === "Field" ? String(node.table.chain.at(-1)) : undefined);
    if (name !== undefined && parts.some((it) => it.name === name))
      throw new Refusal(
        `Already have joined a table called "${name}". Can't join another one with the same name.`,
        node,
      );
    parts.push({ name, source, node });
  }
  const [only, ...others] = parts;
  if (!only) return noTable;
  if (others.length > 0) return joined(parts, ports.resolve, ports.budget);
  const { name, source } = only;
  return {
    ...tableNames([{ name, table: source }]),
    conditions: [],
    length: () => source.length(),
    prepare: () => source.prepare?.(),
  };
}

function tableOf({ table }: JoinNode, ctes: Ctes, ports: FromPorts): RowSource {
  if (!table) throw new Refusal("FROM needs a table");
  if (isQuery(table)) return derivedTable(ports.plan(table, ctes));
  if (table.node !== "Field") throw new Refusal("Only selecting from a table or a subquery is supported", table);
  const name = table.chain.join(".");
  const cte = table.chain.length === 1 ? ctes.get(name) : undefined;
  if (cte && isQuery(cte.node.expr)) return derivedTable(ports.plan(cte.node.expr, cte.ctes));
  try {
    const source = ports.table(name);
    if (source) return source;
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.message, table) : error;
  }
  const near = nearest(name, [...ports.tableNames, ...ctes.keys()]);
  throw new Refusal(`Unknown table \`${name}\`.${near === undefined ? "" : ` Did you mean: ${near}?`}`, table);
}

export function expanded(node: ExprNode, { tables, anonymous }: TableNames): ExprNode[] {
  if (node.node !== "Field" || node.chain.at(-1) !== "*") return [node];
  const all = [...tables.values(), ...anonymous];
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
  const table = rest.length === 1 ? tables.get(String(name)) : undefined;
  if (!table) throw new Refusal(`Unable to resolve field: ${name}`, node);
  return fields(table, [String(name)]);
}
