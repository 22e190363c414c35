import { SimError } from "../../../../src/kernel/base/errors.ts";
import { hogQLKind } from "../../../../src/service/query/hogql/hogql-query.ts";
import type { QueryContext } from "../../../../src/service/query/kind.ts";

export interface Answer {
  readonly results: unknown[][];
  readonly columns: string[];
  readonly types: [string, string][];
  readonly hogql: string;
  readonly hasMore: boolean | null;
  readonly limit: number | null;
}

/** The response to a query of a table. */
export async function ask(query: string, context: QueryContext, more: object = {}): Promise<Answer> {
  const shaped = hogQLKind.shape.parse({ kind: "HogQLQuery", query, ...more });
  return hogQLKind.run(shaped, context) as unknown as Answer;
}

/** The rows of a query of a table; for a refused one its error. */
export async function rowsOf(query: string, context: QueryContext, more: object = {}): Promise<unknown> {
  try {
    return (await ask(query, context, more)).results;
  } catch (error) {
    if (error instanceof SimError) return error.message;
    throw error;
  }
}
