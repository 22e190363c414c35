import type { z } from "zod";
import type { EventTable, Needs, Steps } from "./table.ts";

/** What a query may use besides its own fields. */
export interface QueryContext {
  readonly table: EventTable;
  /** The sim's time, ms since the epoch. */
  readonly now: number;
  /** IANA name, from the project. */
  readonly timeZone: string;
  /** First day of a week: 0 Sunday, 1 Monday. */
  readonly weekStart: 0 | 1;
}

/**
 * A kind of query: `shape` reads and refuses it, `needs` names the columns it uses, `run` computes the fields of the
 * service's response (`results`, `columns`, `types`, `hasMore` …) from the table alone.
 */
export interface QueryKind<Query> {
  /** `TrendsQuery`. */
  readonly kind: string;
  readonly shape: z.ZodType<Query>;
  needs(query: Query): Needs;
  /** @throws SimError if the query cannot be computed: what is not supported is named, with its position */
  run(query: Query, context: QueryContext): Steps<Record<string, unknown>>;
}
