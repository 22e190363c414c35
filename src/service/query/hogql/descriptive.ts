import { tableOf } from "../event-table.ts";
import type { QueryContext, QueryKind } from "../kind.ts";

const noEvents = tableOf({ events: [], owner: () => undefined, person: () => undefined, group: () => undefined });

/** A kind that reads no events: it describes tables and queries. The service neither caches nor stamps its results. */
export const descriptiveKind = <Query>(
  kind: Pick<QueryKind<Query>, "kind" | "shape"> & {
    describe(query: Query, project: QueryContext): Record<string, unknown>;
  },
): QueryKind<Query> => ({
  kind: kind.kind,
  shape: kind.shape,
  isPlain: true,
  // biome-ignore lint/correctness/useYield: there is nothing to wait for
  *run(query, context) {
    return kind.describe(query, { ...context, table: noEvents });
  },
});
