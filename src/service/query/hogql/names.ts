import { nearest } from "../../../kernel/base/nearest.ts";
import type { ExprNode, Located, QueryNode, WindowNode } from "./ast.ts";
import { Refusal } from "./refusal.ts";
import type { Member, Table, TableNames } from "./source.ts";
import type { HogQLTerm, SourceColumn } from "./term.ts";
import type { HogQLValue, Type } from "./types.ts";

export type Chain = readonly (string | number)[];

/** A query in an expression: its columns, and its rows once it ran. */
export interface Subquery {
  readonly columns: readonly { readonly name: string; readonly type: Type }[];
  rows(): readonly (readonly HogQLValue[])[];
}

export interface NameScope extends TableNames {
  readonly aliases: Map<string, HogQLTerm>;
  readonly expressions: ReadonlyMap<string, ExprNode>;
  readonly locals: ReadonlyMap<string, HogQLTerm>;
  /** The row of the table below a row, where ARRAY JOIN repeats rows. */
  readonly below?: (row: number) => number;
  /** Windows of WINDOW; undefined where there can be no window function. */
  readonly windows?: Readonly<Record<string, WindowNode>>;
  /** Plans a query inside the expression; it runs before the rows are read. */
  subquery(node: QueryNode): Subquery;
}

/** What the beginning of a chain stands for, and the rest of the chain. */
type Named = { readonly rest: Chain } & (
  | { readonly is: "term"; readonly term: HogQLTerm }
  | { readonly is: "column"; readonly column: SourceColumn; readonly key: string }
  | { readonly is: "expression"; readonly expression: ExprNode }
);

const sourcesOf = ({ tables, anonymous }: NameScope): [name: string, Table][] => [
  ...tables,
  ...anonymous.map((it): [string, Table] => ["", it]),
];

const hint = (name: string, known: readonly string[], before: string): string => {
  const near = nearest(name, known);
  return near === undefined ? "" : `${before} Did you mean: ${near}?`;
};

/** Resolves the beginning of `a.b.c`: a local, a table, an alias, a column or an expression of WITH. @throws Refusal */
export function nameIn(chain: Chain, scope: NameScope, at: Located): Named {
  const [first = "", ...rest] = chain;
  const name = String(first);
  if (name === "*") throw new Refusal("'*' can only be used as a column of SELECT, and in count(*)", at);
  const local = scope.locals.get(name);
  if (local) return { is: "term", term: local, rest };
  const all = sourcesOf(scope);
  const inSource = (source: Table, path: Chain) =>
    inTable(source, path, chain, `column ${all.findIndex(([, it]) => it === source)}`, at);
  const table = rest.length > 0 ? scope.tables.get(name) : undefined;
  if (table) return inSource(table, rest);
  const alias = scope.aliases.get(name);
  if (alias) return { is: "term", term: alias, rest };
  const sources = all.filter(([, it]) => it.member(name) !== undefined);
  if (sources.length > 1) {
    const names = sources.map(([of], i) => `${of || `anonymous source ${i + 1}`}.${name}`).join(", ");
    throw new Refusal(
      `Ambiguous query. Found multiple sources for field: ${name} (${names}). Use a qualified field name.`,
      at,
    );
  }
  const [source] = sources;
  if (source) return inSource(source[1], chain);
  const expression = scope.expressions.get(name);
  if (expression) return { is: "expression", expression, rest };
  const known = [...all.flatMap(([, it]) => it.names), ...scope.aliases.keys(), ...scope.tables.keys()];
  throw new Refusal(`Unable to resolve field: ${name}${hint(name, known, ".")}`, at);
}

function inTable(table: Table, path: Chain, chain: Chain, key: string, at: Located): Named {
  const [first = "", ...rest] = path;
  const name = String(first);
  const member = table.member(name);
  if (!member)
    throw new Refusal(
      `Cannot resolve type ${chain.join(".")}. Unable to resolve ${name}.${hint(name, table.names, "")}`,
      at,
    );
  const here = `${key}.${name}`;
  if (member.is === "column") return { is: "column", column: member.column, key: here, rest };
  if (member.is === "json") return inJson(member, rest, here);
  if (rest.length > 0) return inTable(member.table, rest, chain, here, at);
  throw new Refusal(`Can't select a table when a column is expected: ${chain.join(".")}`, at);
}

function inJson({ json }: Member & { is: "json" }, path: Chain, key: string): Named {
  const [name, ...below] = path;
  if (name === undefined) return { is: "column", column: json.whole, key, rest: [] };
  const column = below.length === 0 ? json.property(String(name)) : json.nested([String(name), ...below]);
  return { is: "column", column, key: `${key}.${JSON.stringify(path)}`, rest: [] };
}

/** The JSON column that a chain begins with, and the path below it; undefined if it begins with something else. */
export function jsonIn(chain: Chain, scope: NameScope): ((Member & { is: "json" }) & { path: Chain }) | undefined {
  const [first = "", ...rest] = chain;
  const name = String(first);
  if (scope.locals.has(name) || scope.aliases.has(name)) return undefined;
  const named = rest.length > 0 ? scope.tables.get(name) : undefined;
  let tables: readonly Table[] = named ? [named] : sourcesOf(scope).map(([, it]) => it);
  const steps = named ? rest : chain;
  for (const [i, step] of steps.entries()) {
    const member = tables.map((it) => it.member(String(step))).find((it) => it !== undefined);
    if (member?.is === "json") return { ...member, path: steps.slice(i + 1) };
    if (member?.is !== "table") return undefined;
    tables = [member.table];
  }
  return undefined;
}
