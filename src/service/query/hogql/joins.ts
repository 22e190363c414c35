import type { ExprNode, JoinNode } from "./ast.ts";
import { checkMembers } from "./compare.ts";
import { attempt, Refusal } from "./refusal.ts";
import type { Member, RowSource, Rows, Table, TableNames } from "./source.ts";
import { compileAll, type HogQLTerm, type SourceColumn, type ValueBudget } from "./term.ts";
import { type HogQLValue, isNumber, typeName } from "./types.ts";
import { defaultOf, isTrue, keyOf } from "./values.ts";

/** What FROM stands for: tables whose rows go together. */
export interface From extends TableNames, Rows {
  /** Conditions that rows have to pass, in addition to WHERE. */
  readonly conditions: readonly ExprNode[];
}

export interface Part {
  readonly name: string | undefined;
  readonly source: RowSource;
  readonly node: JoinNode;
}

/** The row of a table below a row; -1 for none, where columns have the default of their type. */
type Below = (row: number) => number;

function columnThrough(column: SourceColumn, below: Below): SourceColumn {
  const other = defaultOf(column.type);
  const read = (row: number): HogQLValue => {
    const at = below(row);
    return at < 0 ? other : column.read(at);
  };
  return { type: column.type, read, ...(column.isJson && { isJson: true }) };
}

function tableThrough({ names, starred, member }: Table, below: Below): Table {
  const through = (column: SourceColumn) => columnThrough(column, below);
  const memberThrough = (of: Member): Member => {
    if (of.is === "column") return { is: "column", column: through(of.column) };
    if (of.is === "table") return { is: "table", table: tableThrough(of.table, below) };
    const { property, nested, text, whole } = of.json;
    const json = {
      property: (name: string) => through(property(name)),
      nested: (path: Parameters<typeof nested>[0]) => through(nested(path)),
      text: (name: string) => through(text(name)),
      whole: through(whole),
    };
    return { is: "json", json };
  };
  return {
    ...{ names, starred },
    member(name) {
      const of = member(name);
      return of && memberThrough(of);
    },
  };
}

export const tableNames = (parts: readonly { name: string | undefined; table: Table }[]): TableNames => ({
  tables: new Map(parts.flatMap(({ name, table }) => (name === undefined ? [] : [[name, table] as const]))),
  anonymous: parts.flatMap(({ name, table }) => (name === undefined ? [table] : [])),
});

/** Rows match if they pass the tests and their keys are equal. */
interface Side {
  readonly tests: HogQLTerm[];
  readonly keys: HogQLTerm[];
}

/** How the rows of a table are added to those of the tables before it. */
interface Join {
  readonly left: Side;
  readonly right: Side;
  readonly rest: readonly ExprNode[];
  /** Rows without a match stay. */
  readonly keepsLeft: boolean;
  readonly keepsRight: boolean;
}

export type Resolve = (node: ExprNode, names: TableNames) => HogQLTerm;

function planJoin({ node }: Part, left: TableNames, right: TableNames, both: TableNames, resolve: Resolve): Join {
  const type = (node.join_type ?? "").replace(/^(?:INNER|CROSS) /, "").replace(" OUTER ", " ");
  if (!["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"].includes(type))
    throw new Refusal(`${node.join_type} is not emulated`, node);
  const { constraint } = node;
  if (constraint && constraint.constraint_type !== "ON")
    throw new Refusal(`JOIN … ${constraint.constraint_type} is not emulated; use ON`, constraint.expr);
  const isOuter = type !== "JOIN";
  if (!constraint && (isOuter || node.join_type !== "CROSS JOIN"))
    throw new Refusal(`${node.join_type} needs a condition: ON …`, node);
  if (constraint) condition(resolve(constraint.expr, both), "ON", constraint.expr);
  const sides = { left: { tests: [], keys: [] } as Side, right: { tests: [], keys: [] } as Side };
  /** True if `a` needs the tables on the left only, and `b` the one on the right. */
  const addKey = (a: ExprNode, b: ExprNode, at: ExprNode): boolean => {
    const [x, y] = [attempt(() => resolve(a, left)), attempt(() => resolve(b, right))];
    if (!x || !y || x.op === "constant" || y.op === "constant") return false;
    checkMembers(x.type, y.type, at, "JOIN");
    sides.left.keys.push(x);
    sides.right.keys.push(y);
    return true;
  };
  const rest: ExprNode[] = [];
  for (const it of constraint?.expr.node === "And" ? constraint.expr.exprs : constraint ? [constraint.expr] : []) {
    const isEqual = it.node === "CompareOperation" && it.op === "==";
    if (isEqual && (addKey(it.left, it.right, it) || addKey(it.right, it.left, it))) continue;
    const ofLeft = attempt(() => resolve(it, left));
    const ofRight = ofLeft ? undefined : attempt(() => resolve(it, right));
    if (ofLeft) sides.left.tests.push(ofLeft);
    else if (ofRight) sides.right.tests.push(ofRight);
    else if (isOuter) throw new Refusal(`A condition of ${node.join_type} with both tables must be an equality`, it);
    else rest.push(it);
  }
  return { ...sides, rest, keepsLeft: /LEFT|FULL/.test(type), keepsRight: /RIGHT|FULL/.test(type) };
}

/** The key of a row; NULL if it can have no match. */
function keyReader({ tests, keys }: Side): (row: number) => unknown {
  const [passes, reads] = [compileAll(tests), compileAll(keys)];
  return (row) => {
    if (!passes.every((it) => isTrue(it(row)))) return null;
    const values = reads.map((it) => it(row));
    return values.includes(null) ? null : keyOf(values);
  };
}

/** The tables of several parts as one. @throws Refusal */
export function joined(parts: readonly Part[], resolve: Resolve, budget: ValueBudget): From {
  /** For each part the row of each joined row. */
  let rows: number[][] = [];
  const through = parts.map(({ name, source }, i) => ({
    name,
    table: tableThrough(source, (row) => rows[i]?.[row] ?? -1),
  }));
  const joins = parts.slice(1).map((part, i) => {
    const [left, both] = [tableNames(through.slice(0, i + 1)), tableNames(through.slice(0, i + 2))];
    const right = tableNames([{ name: part.name, table: part.source }]);
    return { ...planJoin(part, left, right, both, resolve), source: part.source };
  });
  function added(join: (typeof joins)[number]): number[][] {
    const matches = new Map<unknown, number[]>();
    const count = join.source.length();
    const [leftKey, rightKey] = [keyReader(join.left), keyReader(join.right)];
    budget.take(count);
    for (let row = 0; row < count; row++) {
      const key = rightKey(row);
      const same = matches.get(key);
      if (same) same.push(row);
      else if (key !== null) matches.set(key, [row]);
    }
    const next = [...rows, []].map((): number[] => []);
    const emit = (left: number, right: number): void => {
      budget.take(next.length);
      for (const [i, column] of next.entries()) column.push(i === rows.length ? right : (rows[i]?.[left] ?? -1));
    };
    const isMatched = new Uint8Array(count);
    const length = rows[0]?.length ?? 0;
    for (let row = 0; row < length; row++) {
      const partners = matches.get(leftKey(row)) ?? [];
      for (const right of partners) {
        isMatched[right] = 1;
        emit(row, right);
      }
      if (partners.length === 0 && join.keepsLeft) emit(row, -1);
    }
    for (let row = 0; join.keepsRight && row < count; row++) if (!isMatched[row]) emit(-1, row);
    return next;
  }
  return {
    ...tableNames(through),
    conditions: joins.flatMap((it) => it.rest),
    length: () => rows[0]?.length ?? 0,
    prepare() {
      for (const { source } of parts) source.prepare?.();
      rows = [Array.from({ length: parts[0]?.source.length() ?? 0 }, (_, row) => row)];
      for (const join of joins) rows = added(join);
    },
  };
}

/** The rows of tables once for each item of arrays, which go together; `isLeft`: also for empty arrays. */
export function arrayJoined(
  from: From,
  arrays: readonly { readonly name: string; readonly array: HogQLTerm }[],
  isLeft: boolean,
  budget: ValueBudget,
): From & { readonly items: ReadonlyMap<string, SourceColumn>; readonly below: Below } {
  const rows: number[] = [];
  const below: Below = (row) => rows[row] ?? -1;
  const through = (table: Table): Table => tableThrough(table, below);
  const columns = arrays.map(({ name, array }) => {
    if (array.type.kind !== "Array")
      throw new Refusal(`ARRAY JOIN requires an array, got the type ${typeName(array.type)}`, array.at);
    const values: HogQLValue[] = [];
    return { name, values, type: array.type.item, other: defaultOf(array.type.item) };
  });
  return {
    tables: new Map([...from.tables].map(([name, table]) => [name, through(table)])),
    anonymous: from.anonymous.map(through),
    conditions: from.conditions,
    below,
    items: new Map(columns.map(({ name, type, values }) => [name, { type, read: (row) => values[row] ?? null }])),
    length: () => rows.length,
    prepare() {
      from.prepare?.();
      const reads = compileAll(arrays.map(({ array }) => array));
      for (let row = 0; row < from.length(); row++) {
        const all = reads.map((it) => it(row)).map((it) => (typeof it === "object" && it !== null ? it : []));
        const size = all[0]?.length ?? 0;
        if (all.some((it) => it.length !== size)) throw new Refusal("The arrays of ARRAY JOIN have different sizes");
        const count = isLeft ? Math.max(1, size) : size;
        budget.take(count * (1 + columns.length));
        for (let i = 0; i < count; i++) {
          rows.push(row);
          for (const [k, { values, other }] of columns.entries()) values.push(i < size ? (all[k]?.[i] ?? null) : other);
        }
      }
    },
  };
}

/** @throws Refusal for a value that is no condition */
export function condition(term: HogQLTerm, clause: string, node: ExprNode): HogQLTerm {
  const { kind } = term.type;
  if (isNumber(kind) || kind === "Nothing") return term;
  throw new Refusal(`Illegal type ${typeName(term.type)} of the condition of ${clause}`, node);
}
