import type { z } from "zod";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { EventTable } from "./table.ts";

export interface QueryAction {
  readonly name: string;
  /** An event matches an action if it matches one of its steps; every event matches one without steps. */
  readonly steps: readonly JsonObject[];
}

interface QueryCohort {
  readonly name: string;
  /** True if the person with this uuid is a member now. */
  has(person: string): boolean;
}

export interface QueryExperiment {
  /** Key of its flag. */
  readonly flag: string;
  /** Keys of variants that are not counted. */
  readonly excluded: readonly string[];
}

export interface QueryPerson {
  readonly uuid: string;
  /** ms since the epoch */
  readonly created_at: number;
  readonly is_identified: boolean;
  readonly properties: JsonObject;
}

/** What a query may use apart from its own fields and the events: time and documents of the project. */
export interface QueryProject {
  /** The sim's time, ms since the epoch. */
  readonly now: number;
  /** IANA name, from the project. */
  readonly timeZone: string;
  /** First day of a week: 0 Sunday, 1 Monday. */
  readonly weekStart: 0 | 1;
  /** `test_account_filters` of the project (default: none). */
  readonly testAccountFilters?: readonly Json[];
  /** The action with this id (default: there are none). */
  action?(id: number): QueryAction | undefined;
  /** The experiment with this id (default: there are none). */
  experiment?(id: number): QueryExperiment | undefined;
  /** The cohort with this id (default: there are none). */
  cohort?(id: number): QueryCohort | undefined;
  /** The person with this uuid (default: there are none). */
  person?(uuid: string): QueryPerson | undefined;
}

/** A group, for the table `groups` of HogQL. */
export interface QueryGroup {
  readonly type: number;
  readonly key: string;
  /** ms since the epoch */
  readonly created_at: number;
  readonly properties: JsonObject;
}

export interface QueryContext extends QueryProject {
  readonly table: EventTable;
  /** The persons of the project (default: the table is refused). */
  persons?(): Iterable<QueryPerson>;
  /** The groups of the project (default: the table is refused). */
  groups?(): Iterable<QueryGroup>;
  /** Called now and then by a query that keeps many values. @throws SimError if there is too little memory */
  checkMemory?(): void;
}

export type ProjectFacts = Omit<QueryContext, "table" | "now" | "checkMemory">;

/**
 * A kind of query: `shape` reads and refuses it, `run` computes the fields of the service's response (`results`,
 * `columns`, `types`, `hasMore` …) from the table alone.
 */
export interface QueryKind<Query> {
  readonly kind: string;
  readonly shape: z.ZodType<Query>;
  /** True if a response has the kind's own fields only, and is never cached. */
  readonly isPlain?: boolean;
  /** @throws SimError if the query cannot be computed: what is not supported is named, with its position */
  run(query: Query, context: QueryContext): Record<string, unknown>;
}

export const queryKind = <Query>(
  shape: z.ZodType<Query> & { readonly shape: { readonly kind: { readonly value: string } } },
  run: QueryKind<Query>["run"],
): QueryKind<Query> => ({ kind: shape.shape.kind.value, shape, run });
