import type { Json } from "../../../kernel/base/json.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn } from "../table.ts";
import type { ExprNode } from "./ast.ts";
import { parseExpression } from "./grammar/queries.ts";
import { eventScope, planPorts } from "./hogql.ts";
import { aggregationOf } from "./output.ts";
import { columnName } from "./print.ts";
import { Refusal, refusing } from "./refusal.ts";
import { checkGrouped, planQuery } from "./select.ts";
import { compile, type HogQLTerm, isAggregated } from "./term.ts";
import { type HogQLValue, isNumber, string, typeName } from "./types.ts";
import { isTrue, shown } from "./values.ts";

export interface RowExpression {
  readonly name: string;
  /** ClickHouse's name of the type. */
  readonly type: string;
  /** The value of a row, as JSON has it. @throws SimError if it cannot be computed */
  read(row: number): unknown;
}

function resolved(text: string, context: QueryContext) {
  const node = parseExpression(text);
  const { resolve, ...scope } = eventScope(context);
  return { node, term: resolve(node), ...scope };
}

function compiled(text: string, context: QueryContext) {
  return refusing(text, () => {
    const { node, term, zones } = resolved(text, context);
    if (isAggregated(term)) throw new Refusal("An aggregation has no place in an expression for single events");
    const read = compile(term);
    return { node, term, zones, read: (row: number): HogQLValue => refusing(text, () => read(row)) };
  });
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
  refusing(text, () => isAggregated(resolved(text, context).term));

interface GroupedRows {
  readonly columns: readonly string[];
  readonly isInside: (row: number) => boolean;
  readonly orderBy: readonly { readonly column: string; readonly isDescending: boolean }[];
  readonly limit: number;
  readonly offset: number;
}

/** Columns of events, some of them aggregations: the rows are grouped by the others. @throws SimError as `compileExpression` */
export function groupedRows(
  { columns, isInside, orderBy, limit, offset }: GroupedRows,
  context: QueryContext,
): { readonly results: unknown[][]; readonly types: string[] } {
  const ports = planPorts(context);
  const number = (value: number): ExprNode => ({ node: "Constant", value });
  return refusing(columns.join(), () => {
    const select = columns.map(parseExpression);
    const plan = planQuery(
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
    const types = plan.columns.map((it) => it.type);
    return {
      results: plan.run().map((row) => row.map((value, i) => shown(value, types[i] ?? string, ports.zones))),
      types: types.map(typeName),
    };
  });
}

const isCondition = ({ type }: HogQLTerm): boolean => isNumber(type.kind) || type.kind === "Nothing";

/** A condition on events. @throws SimError as `compileExpression`, and for an expression that is no condition */
export function expressionTest(text: string, context: QueryContext): (row: number) => boolean {
  const { term, read } = compiled(text, context);
  refusing(text, () => {
    if (!isCondition(term)) throw new Refusal(`A filter needs a condition, got the type ${typeName(term.type)}`);
  });
  return (row) => isTrue(read(row));
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
  const { term, budget } = refusing(text, () => {
    const made = resolved(text, context);
    checkGrouped(made.term, new Set());
    if (!isCondition(made.term))
      throw new Refusal(`The math of a series needs a number, got the type ${typeName(made.term.type)}`);
    return made;
  });
  const aggregation = aggregationOf([term], budget);
  return (rows) =>
    refusing(text, () => {
      const states = aggregation.start();
      for (const row of rows) aggregation.add(states, row);
      const results = aggregation.results([states]);
      return Number(compile(term, (it) => results.get(it.key))(0) ?? 0);
    });
}
