import type { Json } from "../../../kernel/base/json.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn, Steps } from "../table.ts";
import type { ExprNode } from "./ast.ts";
import { parseExpression } from "./grammar/queries.ts";
import { aggregationOf } from "./grouping.ts";
import { eventScope, planPorts } from "./hogql.ts";
import { columnName } from "./print.ts";
import { Refusal, refused, refusing } from "./refusal.ts";
import { checkGrouped, planQuery } from "./select.ts";
import { compile, type HogQLTerm, isAggregated } from "./term.ts";
import { type HogQLValue, isNumber, string, typeName } from "./types.ts";
import { shown } from "./values.ts";

export interface RowExpression {
  /** As the service names the column. */
  readonly name: string;
  /** ClickHouse's name of the type. */
  readonly type: string;
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
    let isReady = false;
    return {
      ...{ node, term, zones },
      /** Runs the queries in the expression first; there are seldom any. */
      read(row: number): HogQLValue {
        if (!isReady) finishNow(prepare());
        isReady = true;
        return placing(text, () => read(row));
      },
    };
  });
}

function finishNow<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Compiles an expression such as `properties.amount > 10` for the events of a table.
 * @throws SimError invalid_input for a mistake, with its line and column
 */
export function compileExpression(text: string, context: QueryContext): RowExpression {
  const { node, term, zones, read } = compiled(text, context);
  const { type } = term;
  return { name: columnName(node), type: typeName(type), read: (row) => shown(read(row), type, zones) };
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
export function groupedRows(
  { columns, isInside, orderBy, limit, offset }: GroupedRows,
  context: QueryContext,
): { readonly results: unknown[][]; readonly types: string[] } {
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
  const rows = finishNow(refusing(columns.join(), plan.run()));
  const types = plan.columns.map((it) => it.type);
  return {
    results: rows.map((row) => row.map((value, i) => shown(value, types[i] ?? string, ports.zones))),
    types: types.map(typeName),
  };
}

const isCondition = ({ type }: HogQLTerm): boolean => isNumber(type.kind) || type.kind === "Nothing";

/** A condition on events. @throws SimError as `compileExpression`, and for an expression that is no condition */
export function expressionTest(text: string, context: QueryContext): (row: number) => boolean {
  const { term, read } = compiled(text, context);
  placing(text, () => {
    if (!isCondition(term)) throw new Refusal(`A filter needs a condition, got the type ${typeName(term.type)}`);
  });
  return (row) => {
    const value = read(row);
    return value !== null && value !== 0;
  };
}

/** The values of an expression. @throws SimError as `compileExpression` */
export function expressionColumn(text: string, context: QueryContext): EventColumn {
  const { term, zones, read } = compiled(text, context);
  return (row) => {
    const value = read(row);
    return value === null ? undefined : (shown(value, term.type, zones) as Json);
  };
}

/**
 * A number made of aggregations, such as `sum(properties.amount) / count()`, for some rows; 0 for NULL.
 * @throws SimError as `compileExpression`
 */
export function expressionMeasure(text: string, context: QueryContext): (rows: readonly number[]) => number {
  const { term, prepare, budget } = placing(text, () => {
    const made = resolved(text, context);
    checkGrouped(made.term, new Set());
    if (!isCondition(made.term))
      throw new Refusal(`The math of a series needs a number, got the type ${typeName(made.term.type)}`);
    return made;
  });
  const aggregation = aggregationOf([term], budget);
  let isReady = false;
  return (rows) =>
    placing(text, () => {
      if (!isReady) finishNow(prepare());
      isReady = true;
      const states = aggregation.start();
      for (const row of rows) aggregation.add(states, row);
      const results = finishNow(aggregation.results([states]));
      return Number(compile(term, (it) => results.get(it.key))(0) ?? 0);
    });
}
