import { z } from "zod";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { isSecretKey } from "../../../state/documents/batch-export-secrets.ts";
import type { Dialect } from "../../../state/documents/dialect.ts";
import { boolean, choice, datetime, dictionary, list, text } from "../../../state/documents/lenient-fields.ts";
import { logLevels } from "../../../state/documents/run-statuses.ts";
import { backfillKind, exportKind, RunShape } from "../../../state/documents/schemas/batch-export.ts";
import type {
  BatchExport,
  BatchExportBackfill,
  BatchExportLog,
  BatchExportRun,
} from "../../../state/documents/world.ts";
import { shownAs } from "../../api-frame/fields.ts";
import { isQuery, type JoinNode, type Located, type QueryNode, type SelectNode } from "../../query/hogql/ast.ts";
import { parseQuery } from "../../query/hogql/grammar/queries.ts";
import { Refusal } from "../../query/hogql/refusal.ts";
import { isOpen } from "../ports.ts";

type Destination = BatchExport["destination"];

/**
 * Where data may go; each `config` is kept as sent. The types that take their credentials from an integration are
 * missing: the sim has none. Upstream PostHog/posthog posthog/batch_exports/service.py.
 */
const destinations = ["S3", "Snowflake", "Postgres", "Redshift", "BigQuery", "HTTP", "NoOp"] as const;

/** The destination without secrets, also inside objects; they are removed, not masked. */
const withoutSecrets = ({ type, config }: Destination): Destination => ({
  type,
  config: withoutSecretKeys(type, config),
});

const withoutSecretKeys = (type: string, config: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => !isSecretKey(type, key))
      .map(([key, value]): [string, Json] => [key, isObject(value) ? withoutSecretKeys(type, value) : value]),
  );

const mergedConfig = (old: JsonObject, changes: JsonObject): JsonObject => ({
  ...old,
  ...Object.fromEntries(
    Object.entries(changes).map(([key, value]): [string, Json] => {
      const before = own(old, key);
      return [key, before !== undefined && isObject(before) && isObject(value) ? mergedConfig(before, value) : value];
    }),
  ),
});

/** Keys that the update lacks stay, secrets included; those of another type would no longer be recognized. */
export const mergedDestination = (stored: Destination, update: Destination): Destination => ({
  type: update.type,
  config: mergedConfig(update.type === stored.type ? stored.config : withoutSecrets(stored).config, update.config),
});

type Field = { expression: string; alias: string };

type ExportSchema = { fields: Field[]; values: Record<string, string>; hogql_query: string };

type ReadQuery = { schema: ExportSchema; problem?: undefined } | { problem: string };

function refusedSource({ table, next_join }: JoinNode, { ctes, array_join_list }: SelectNode): string | undefined {
  const noSubqueries = "Subqueries or CTEs are not supported";
  if (table && isQuery(table)) return noSubqueries;
  if (table?.node !== "Field" || table.chain.join(".") !== "events") {
    return ctes ? noSubqueries : "Query must only SELECT FROM events";
  }
  return next_join || array_join_list ? "JOINs are not supported" : undefined;
}

/**
 * Reads the query that chooses what an export of events holds: `SELECT … FROM events [WHERE …]`. Upstream
 * PostHog/posthog posthog/batch_exports/http.py; the texts are the service's, with the cause where it cannot be parsed.
 */
export function readHogqlQuery(query: string): ReadQuery {
  let node: QueryNode;
  try {
    node = parseQuery(query);
  } catch (error) {
    if (error instanceof Refusal) return { problem: `Failed to parse query: ${error.message}` };
    throw error;
  }
  if (node.node === "SelectSetQuery") return { problem: "UNIONs are not supported" };
  if (!node.select_from) return { problem: "Query must SELECT FROM events" };
  const problem = refusedSource(node.select_from, node);
  if (problem !== undefined) return { problem };
  const textOf = ({ start, end }: Located): string => query.slice(start, end).replace(/\s+/g, " ");
  const fields = node.select.map((it): Field => {
    const expression = textOf(it.node === "Alias" ? it.expr : it);
    return { expression, alias: it.node === "Alias" ? it.alias : expression };
  });
  return { schema: { fields, values: {}, hogql_query: query.trim() } };
}

const anything = () => z.custom<Json>();

/** An empty model is the default one; `sessions` is known, but always refused. */
const model = () =>
  z.preprocess((it) => (it === null || it === "" ? "events" : it), choice(["events", "persons", "sessions"]));

/** A query, read; null changes nothing, because the contract's answers have it where there is none. */
const hogqlQuery = () =>
  anything()
    .transform((value, context) => {
      if (value === null) return null;
      const read = readHogqlQuery(typeof value === "string" ? value : "");
      if (read.problem === undefined) return read.schema;
      context.addIssue({ code: "custom", params: { detail: read.problem } });
      return z.NEVER;
    })
    .meta({ type: ["string", "null"] });

const fields = {
  name: text(),
  model: model().optional(),
  destination: z.object({ type: choice(destinations), config: dictionary() }),
  interval: exportKind.Stored.shape.interval,
  paused: boolean().optional(),
  last_paused_at: datetime().nullable().optional(),
  start_at: datetime().nullable().optional(),
  end_at: datetime().nullable().optional(),
  hogql_query: hogqlQuery().optional(),
  filters: list(z.json()).nullable().optional(),
};

export const NewExport = z.object(fields).meta({ title: "BatchExportCreate" });
export const ExportChanges = z.object(fields).partial().meta({ title: "BatchExportUpdate" });

export type WrittenExport = z.infer<typeof NewExport>;

const bound = () =>
  anything()
    .optional()
    .meta({ type: ["string", "null"], format: "date-time" });

/** Bounds of a backfill are checked one by one (backfill-rows.ts). */
export const BackfillBody = z
  .object({ start_at: bound(), end_at: bound() })
  .meta({ title: "BatchExportBackfillCreate" });
export type BackfillBody = z.infer<typeof BackfillBody>;

export const UnpauseBody = z.object({ backfill: boolean().optional() }).meta({ title: "BatchExportUnpause" });

export const showRun = (run: BatchExportRun): z.infer<typeof RunShape> => shownAs(RunShape, run);

const title = "BatchExport";
const Documented = exportKind.Shown.meta({ title });
const Production = exportKind.Shown.omit({ hogql_query: true }).meta({ title });

/** The service leaves the query out: it is kept as `schema` only. */
export const exportShape = (dialect: Dialect) => (dialect === "documented" ? Documented : Production);

const latest = 10;

export const showExport = (
  it: BatchExport,
  runs: readonly BatchExportRun[],
  dialect: Dialect,
): z.infer<typeof Documented> | z.infer<typeof Production> =>
  shownAs(exportShape(dialect), {
    ...it,
    team_id: it.project,
    destination: withoutSecrets(it.destination),
    latest_runs: runs.slice(0, latest).map(showRun),
  });

export const BackfillShape = backfillKind.Shown.meta({ title: "BatchExportBackfill" });

type Shown = z.infer<typeof BackfillShape>;

/** null for a run that did not complete, and for the run without a start. */
function progressOf(it: BatchExportBackfill, finished: () => number): Shown["progress"] {
  const { total_runs } = it;
  if (it.status === "Completed") return { total_runs, finished_runs: total_runs, progress: 1 };
  if (!isOpen(it) || !total_runs || it.start_at === null) return null;
  const finished_runs = finished();
  const total = Math.max(total_runs, finished_runs);
  return { total_runs: total, finished_runs, progress: Math.round((finished_runs / total) * 10) / 10 };
}

export const showBackfill = (it: BatchExportBackfill, project: number, finished: () => number): Shown =>
  shownAs(BackfillShape, { ...it, progress: progressOf(it, finished), team: project });

const time = z.string().meta({ format: "date-time" });
const uuid = z.string().meta({ format: "uuid" });

export const LogShape = z
  .object({
    log_source_id: uuid,
    instance_id: z.string().meta({ description: "Id of the run; empty for the export itself" }),
    timestamp: time,
    level: z.enum(logLevels),
    message: z.string(),
  })
  .meta({ title: "BatchExportLog" });

export const showLog = (it: BatchExportLog): z.infer<typeof LogShape> =>
  shownAs(LogShape, { ...it, log_source_id: it.batch_export, instance_id: it.run });
