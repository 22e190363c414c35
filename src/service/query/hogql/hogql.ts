import type { QueryContext, QueryProject } from "../kind.ts";
import type { Steps } from "../table.ts";
import { createBudget } from "./aggregates.ts";
import type { ExprNode } from "./ast.ts";
import { createPatterns } from "./functions/patterns.ts";
import type { FunctionContext } from "./functions/row.ts";
import type { NameScope } from "./names.ts";
import { Refusal } from "./refusal.ts";
import { Resolver } from "./resolve.ts";
import { type PlanPorts, planQuery, subqueryOf } from "./select.ts";
import { createSessions } from "./sessions.ts";
import type { RowSource } from "./source.ts";
import { type DocumentRow, documentTable, eventsTable } from "./tables.ts";
import type { HogQLTerm } from "./term.ts";
import { type ClockZone, zoneOf } from "./time.ts";

/** Tables that the sim has. */
const tableNames = ["events", "persons", "groups", "sessions"];

/** Tables of the service that the sim does not have. */
export const absentTables: readonly string[] = [
  ...["person_distinct_ids", "cohort_people", "static_cohort_people", "log_entries", "session_replay_events"],
  ...["raw_sessions", "raw_persons", "raw_groups", "raw_person_distinct_ids", "heatmaps", "app_metrics", "numbers"],
  ...["query_log", "logs", "error_tracking_issues", "document_embeddings", "exchange_rate", "web_overview"],
];

function zonesOf(): (name: string) => ClockZone {
  const known = new Map<string, ClockZone>();
  return (name) => {
    const zone = known.get(name) ?? zoneOf(name);
    known.set(name, zone);
    return zone;
  };
}

function functionContext({ now, timeZone, weekStart }: QueryProject): FunctionContext {
  return { now, timeZone, weekStart, zones: zonesOf(), patterns: createPatterns() };
}

/** What a plan needs, for the tables of a project. */
export function planPorts(context: QueryContext): PlanPorts {
  const functions = functionContext(context);
  const zone = functions.zones(context.timeZone);
  const tables: Readonly<Record<string, () => RowSource>> = {
    events: () => eventsTable(context, zone),
    sessions: () => createSessions(context.table, zone).source,
    persons: () => documentTable(() => personRows(context), personColumns(zone), zone, context.now),
    groups: () => documentTable(() => groupRows(context), groupColumns(zone), zone, context.now),
  };
  return {
    resolver: new Resolver(functions),
    zones: functions.zones,
    budget: createBudget(),
    tableNames,
    table(name) {
      if (absentTables.includes(name) || /^(?:system|information_schema|postgres|posthog)\./.test(name))
        throw new Refusal(`The table ${name} is not emulated`);
      return Object.hasOwn(tables, name) ? tables[name]?.() : undefined;
    },
  };
}

const personColumns = (zone: ClockZone) =>
  ({
    id: { kind: "UUID" },
    created_at: { kind: "DateTime64", zone: zone.name },
    properties: { kind: "String" },
    is_identified: { kind: "Bool" },
    pdi: "absent",
  }) as const;

function personRows({ persons }: QueryContext): DocumentRow[] {
  if (!persons) throw new Refusal("The table persons is not available");
  return Array.from(persons(), ({ uuid, created_at, is_identified, properties }) => ({
    id: uuid,
    created_at,
    is_identified: Number(is_identified),
    properties,
  }));
}

const groupColumns = (zone: ClockZone) =>
  ({
    index: { kind: "UInt8" },
    key: { kind: "String" },
    created_at: { kind: "DateTime64", zone: zone.name },
    updated_at: "absent",
    properties: { kind: "String" },
  }) as const;

function groupRows({ groups }: QueryContext): DocumentRow[] {
  if (!groups) throw new Refusal("The table groups is not available");
  return Array.from(groups(), ({ type, key, created_at, properties }) => ({
    index: type,
    key,
    created_at,
    properties,
  }));
}

/** Resolves expressions over the events; `prepare` runs what they need. */
export function eventScope(context: QueryContext) {
  const ports = planPorts(context);
  const events = ports.table("events");
  if (!events) throw new Error("there is no table of events");
  const prerequisites: (() => Steps<void>)[] = [() => events.prepare()];
  const scope: NameScope = {
    tables: new Map([["events", events]]),
    anonymous: [],
    aliases: new Map(),
    expressions: new Map(),
    locals: new Map(),
    subquery: (query) => subqueryOf(planQuery(query, ports), prerequisites),
  };
  return {
    zones: ports.zones,
    budget: ports.budget,
    resolve: (node: ExprNode): HogQLTerm => ports.resolver.term(node, scope),
    *prepare(): Steps<void> {
      for (const prepare of prerequisites) yield* prepare();
    },
  };
}
