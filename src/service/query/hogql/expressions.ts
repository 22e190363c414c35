import type { Json } from "../../../kernel/base/json.ts";
import type { QueryContext } from "../kind.ts";
import { rowsPerStep, type Steps, type ValueColumn } from "../table.ts";
import type { ExprNode } from "./ast.ts";
import { parseExpression } from "./grammar/queries.ts";
import { aggregationOf } from "./grouping.ts";
import { eventScope, planPorts } from "./hogql.ts";
import { columnName } from "./print.ts";
import { Refusal, refused, refusing } from "./refusal.ts";
import { checkGrouped, planQuery } from "./select.ts";
import { compile, type HogQLTerm, isAggregated } from "./term.ts";
import { type HogQLValue, isNumber, string, typeName } from "./types.ts";
import { keyOf, shown } from "./values.ts";

/** An expression over the rows of a table of events. */
export interface RowExpression {
  /** As the service names the column. */
  readonly name: string;
  /** ClickHouse's name of the type. */
  readonly type: string;
  /** Runs the queries in the expression; rows can be read after it. */
  prepare(): Steps<void>;
  /** The value of a row, as JSON has it. @throws SimError if it cannot be computed */
  read(row: number): unknown;
}

function placing<T>(text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? refused(error, text) : error;
  }
}

function resolved(text: string, context: QueryContext) {
  const node = parseExpression(text);
  const { resolve, ...scope } = eventScope(context);
  return { node, term: resolve(node), ...scope };
}

function compiled(text: string, context: QueryContext) {
  return placing(text, () => {
    const { node, term, prepare, zones } = resolved(text, context);
    if (isAggregated(term)) throw new Refusal("An aggregation has no place in an expression for single events");
    const read = compile(term);
    return { node, term, prepare, zones, read: (row: number): HogQLValue => placing(text, () => read(row)) };
  });
}

/**
 * Compiles an expression such as `properties.amount > 10` for the events of a table.
 * @throws SimError invalid_input for a mistake, with its line and column
 */
export function compileExpression(text: string, context: QueryContext): RowExpression {
  const { node, term, prepare, zones, read } = compiled(text, context);
  const { type } = term;
  return { name: columnName(node), type: typeName(type), prepare, read: (row) => shown(read(row), type, zones) };
}

/** True if an expression has an aggregation. @throws SimError as `compileExpression` */
export const hasAggregation = (text: string, context: QueryContext): boolean =>
  placing(text, () => isAggregated(resolved(text, context).term));

interface GroupedRows {
  readonly columns: readonly string[];
  readonly isInside: (row: number) => boolean;
  readonly orderBy: readonly { readonly column: string; readonly isDescending: boolean }[];
  readonly limit: number;
  readonly offset: number;
}

/**
 * Columns of events, some of them aggregations: the rows are grouped by the others.
 * @throws SimError as `compileExpression`
 */
export function* groupedRows(
  { columns, isInside, orderBy, limit, offset }: GroupedRows,
  context: QueryContext,
): Steps<{ readonly results: unknown[][]; readonly types: string[] }> {
  const ports = planPorts(context);
  const number = (value: number): ExprNode => ({ node: "Constant", value });
  const plan = placing(columns.join(), () => {
    const select = columns.map(parseExpression);
    return planQuery(
      {
        node: "SelectQuery",
        select,
        select_from: { node: "JoinExpr", table: { node: "Field", chain: ["events"] } },
        where: { node: "RowTest", test: isInside, text: "" },
        group_by: select.filter((_, i) => !hasAggregation(columns[i] ?? "", context)),
        order_by: orderBy.map(({ column, isDescending }) => ({
          node: "OrderExpr",
          expr: parseExpression(column),
          order: isDescending ? "DESC" : "ASC",
        })),
        limit: number(limit),
        offset: number(offset),
      },
      ports,
    );
  });
  const rows = yield* refusing(columns.join(), plan.run());
  const types = plan.columns.map((it) => it.type);
  return {
    results: rows.map((row) => row.map((value, i) => shown(value, types[i] ?? string, ports.zones))),
    types: types.map(typeName),
  };
}

/** Runs steps at once: expressions of filters seldom contain queries. */
function finishNow(steps: Steps<void>): void {
  while (!steps.next().done);
}

const isCondition = ({ type }: HogQLTerm): boolean => isNumber(type.kind) || type.kind === "Nothing";

/** A condition on events. @throws SimError as `compileExpression`, and for an expression that is no condition */
export function expressionTest(text: string, context: QueryContext): (row: number) => boolean {
  const { term, prepare, read } = compiled(text, context);
  placing(text, () => {
    if (!isCondition(term)) throw new Refusal(`A filter needs a condition, got the type ${typeName(term.type)}`);
  });
  let isReady = false;
  return (row) => {
    if (!isReady) finishNow(prepare());
    isReady = true;
    const value = read(row);
    return value !== null && value !== 0;
  };
}

/** The values of an expression for all rows, with a code for each distinct one. @throws SimError */
export function expressionColumn(text: string, context: QueryContext): ValueColumn {
  const { term, prepare, zones, read } = compiled(text, context);
  finishNow(prepare());
  const { length } = context.table;
  const codes = new Uint32Array(length);
  const values: (Json | undefined)[] = [undefined];
  const known = new Map<unknown, number>([[null, 0]]);
  for (let row = 0; row < length; row++) {
    const value = read(row);
    const key = keyOf(value);
    let code = known.get(key);
    if (code === undefined) {
      code = values.push(shown(value, term.type, zones) as Json) - 1;
      known.set(key, code);
    }
    codes[row] = code;
  }
  return { codes, values };
}

/** Rows of events in numbered cells. */
interface RowCells {
  readonly count: number;
  readonly rows: ArrayLike<number>;
  /** The cell of each row. */
  readonly cells: ArrayLike<number>;
}

/**
 * A number made of aggregations, such as `sum(properties.amount) / count()`, for each cell; 0 where it is NULL.
 * @throws SimError as `compileExpression`
 */
export function expressionMeasure(text: string, context: QueryContext): (cells: RowCells) => Steps<Float64Array> {
  const { term, prepare, budget } = placing(text, () => {
    const made = resolved(text, context);
    checkGrouped(made.term, new Set());
    if (!isCondition(made.term))
      throw new Refusal(`The math of a series needs a number, got the type ${typeName(made.term.type)}`);
    return made;
  });
  const measure = function* ({ count, rows, cells }: RowCells): Steps<Float64Array> {
    yield* prepare();
    const aggregation = aggregationOf([term], budget);
    const states = Array.from({ length: count }, () => aggregation.start());
    for (let at = 0; at < rows.length; at++) {
      if (at % rowsPerStep === rowsPerStep - 1) yield undefined;
      aggregation.add(states[cells[at] ?? 0] ?? [], rows[at] ?? 0);
    }
    const results = yield* aggregation.results(states);
    const read = compile(term, (it) => results.get(it.key));
    return Float64Array.from({ length: count }, (_, cell) => Number(read(cell) ?? 0));
  };
  return (cells) => refusing(text, measure(cells));
}
