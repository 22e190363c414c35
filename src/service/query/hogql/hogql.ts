import type { QueryContext, QueryPerson } from "../kind.ts";
import { memo } from "../memo.ts";
import type { ExprNode } from "./ast.ts";
import { createPatterns } from "./functions/patterns.ts";
import type { NameScope } from "./names.ts";
import { Refusal } from "./refusal.ts";
import { Resolver } from "./resolve.ts";
import { type PlanPorts, planQuery, subqueryOf } from "./select.ts";
import { createSessions } from "./sessions.ts";
import type { RowSource } from "./source.ts";
import { type DocumentRow, documentTable, eventsTable } from "./tables.ts";
import { type HogQLTerm, ValueBudget } from "./term.ts";
import { zoneOf } from "./time.ts";
import { flag, string, type Type } from "./types.ts";

const tableNames = ["events", "persons", "groups", "sessions"];

/** Tables of the service that the sim does not have. */
export const absentTables: readonly string[] = [
  ...["person_distinct_ids", "cohort_people", "static_cohort_people", "log_entries", "session_replay_events"],
  ...["raw_sessions", "raw_persons", "raw_groups", "raw_person_distinct_ids", "heatmaps", "app_metrics", "numbers"],
  ...["query_log", "logs", "error_tracking_issues", "document_embeddings", "exchange_rate", "web_overview"],
];

/** What a plan needs, for the tables of a project. */
export function planPorts(context: QueryContext): PlanPorts {
  const { now, timeZone, weekStart } = context;
  const zones = memo(zoneOf);
  const zone = zones(timeZone);
  const time: Type = { kind: "DateTime64", zone: zone.name };
  const tables: Readonly<Record<string, () => RowSource>> = {
    events: () => eventsTable(context, zone),
    sessions: () => createSessions(context.table, zone).source,
    persons() {
      const columns = { id: uuid, created_at: time, properties: string, is_identified: bool, pdi: "absent" } as const;
      const rows = () => Array.from(available(context.persons, "persons")(), personRow);
      return documentTable(rows, columns, zone, context.now);
    },
    groups() {
      const columns = { index: flag, key: string, created_at: time, updated_at: "absent", properties: string } as const;
      const rows = () =>
        Array.from(available(context.groups, "groups")(), ({ type, ...row }) => ({ ...row, index: type }));
      return documentTable(rows, columns, zone, context.now);
    },
  };
  return {
    resolver: new Resolver({ now, timeZone, weekStart, zones, patterns: createPatterns() }),
    zones,
    budget: new ValueBudget(context.checkMemory),
    tableNames,
    table(name) {
      if (absentTables.includes(name) || /^(?:system|information_schema|postgres|posthog)\./.test(name))
        throw new Refusal(`The table ${name} is not emulated`);
      return Object.hasOwn(tables, name) ? tables[name]?.() : undefined;
    },
  };
}

const uuid: Type = { kind: "UUID" };
const bool: Type = { kind: "Bool" };

const personRow = ({ uuid, is_identified, created_at, properties }: QueryPerson): DocumentRow => ({
  ...{ id: uuid, is_identified: Number(is_identified), created_at, properties },
});

/** @throws Refusal if the query has no such rows */
function available<T>(rows: T | undefined, name: string): T {
  if (!rows) throw new Refusal(`The table ${name} is not available`);
  return rows;
}

export function eventScope(context: QueryContext) {
  const ports = planPorts(context);
  const events = ports.table("events");
  if (!events) throw new Error("there is no table of events");
  const scope: NameScope = {
    ...{ tables: new Map([["events", events]]), anonymous: [], aliases: new Map(), expressions: new Map() },
    locals: new Map(),
    subquery: (query) => subqueryOf(planQuery(query, ports)),
  };
  return {
    zones: ports.zones,
    budget: ports.budget,
    resolve: (node: ExprNode): HogQLTerm => ports.resolver.term(node, scope),
  };
}
