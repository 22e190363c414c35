import type { Json } from "../../base/json.ts";
import type { QueryContext } from "../kind.ts";
import type { Column, Steps } from "../table.ts";
import { parseExpression } from "./grammar/queries.ts";
import { eventScope } from "./hogql.ts";
import { columnName } from "./print.ts";
import { Refusal, refused } from "./refusal.ts";
import { compile, isAggregated, type Term } from "./term.ts";
import { isNumber, typeName, type Value } from "./types.ts";
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

function compiled(text: string, context: QueryContext) {
  return placing(text, () => {
    const node = parseExpression(text);
    const { resolve, prepare, zones } = eventScope(context);
    const term = resolve(node);
    if (isAggregated(term))
      throw new Refusal("An aggregation has no place in an expression for single events");
    const read = compile(term);
    return { node, term, prepare, zones, read: (row: number): Value => placing(text, () => read(row)) };
  });
}

/**
 * Compiles an expression such as `properties.amount > 10` for the events of a table.
 * @throws SimError invalid_input for a mistake, with its line and column
 */
export function compileExpression(text: string, context: QueryContext): RowExpression {
  const { node, term, prepare, zones, read } = compiled(text, context);
  return {
    name: columnName(node),
    type: typeName(term.type),
    prepare,
    read: (row) => shown(read(row), term.type, zones),
  };
}

/** Runs steps at once: expressions of filters seldom contain queries. */
function finishNow(steps: Steps<void>): void {
  while (!steps.next().done);
}

function isCondition({ type }: Term): boolean {
  return isNumber(type.kind) || type.kind === "Nothing";
}

/** A condition on events. @throws SimError as `compileExpression`, and for an expression that is no condition */
export function expressionTest(text: string, context: QueryContext): (row: number) => boolean {
  const { term, prepare, read } = compiled(text, context);
  placing(text, () => {
    if (!isCondition(term))
      throw new Refusal(`A filter needs a condition, got the type ${typeName(term.type)}`);
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
export function expressionColumn(text: string, context: QueryContext): Column {
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
