import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import type { QueryContext, QueryKind, QueryProject } from "../../../../src/service/query/kind.ts";
import { type TableEvent, tableOf } from "../table-of.ts";

/** Sunday, 19 January 2020. */
const now = Date.parse("2020-01-19T15:00:00Z");

export interface Stage extends Partial<QueryProject> {
  events: readonly TableEvent[];
  table?: Parameters<typeof tableOf>[1];
}

export const contextOf = ({ events, table, ...project }: Stage): QueryContext => ({
  now,
  timeZone: "UTC",
  weekStart: 0,
  ...project,
  table: tableOf(events, table),
});

/** Runs a query as a client sends it. */
export async function runKind<Query>(
  kind: QueryKind<Query>,
  query: JsonObject,
  stage: Stage,
): Promise<Record<string, unknown>> {
  return runIn(contextOf(stage), kind, query);
}

export function runIn<Query>(context: QueryContext, kind: QueryKind<Query>, query: JsonObject) {
  const read = kind.shape.parse({ kind: kind.kind, ...query });
  return kind.run(read, context);
}

/** Events of one person and name at some times. */
export const eventsAt = (
  id: string,
  event: string,
  times: readonly string[],
  more: Partial<TableEvent> = {},
): TableEvent[] => times.map((at) => ({ event, id, at, ...more }));
