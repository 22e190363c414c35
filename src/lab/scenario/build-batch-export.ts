import type { Path } from "../../kernel/base/json.ts";
import { readDuration } from "../../kernel/base/time-text.ts";
import { maskSecrets } from "../../state/documents/batch-export-secrets.ts";
import { backfillKind, exportKind, runKind } from "../../state/documents/kind-values.ts";
import type { AuthoredOutcome } from "../../state/documents/schemas/batch-export.ts";
import type { BatchExport, BatchExportBackfill, StoredProject } from "../../state/documents/world.ts";
import type { AuthoredBackfill, AuthoredBatchExport, AuthoredLogs, AuthoredRun } from "./project-schema.ts";
import { beginning, each, Names, timeOr, type WorldBuilder } from "./world-builder.ts";

interface Target {
  readonly builder: WorldBuilder;
  readonly project: StoredProject;
}

export function addBatchExport({ builder, project }: Target, authored: AuthoredBatchExport, at: Path): void {
  const { runs, backfills, logs = [], scripted_runs: scripted, ...given } = authored;
  const created = timeOr(given.created_at, beginning);
  const id = builder.uuid(`batch_export:${project.api_key}/${given.name}`, given.id, [...at, "id"]);
  const batchExport = exportKind.blank(
    {
      ...builder.fields(exportKind, given, at),
      ...(scripted && { scripted_runs: scripted.map(outcomeOf) }),
      id,
      project: project.id,
      name: given.name,
      interval: given.interval,
      destination: maskSecrets(given.destination),
      last_updated_at: created,
    },
    beginning,
  );
  builder.world.batch_exports.push(batchExport);
  addLogs(builder, { batch_export: id, run: "" }, created, logs, at);
  const names = new Names<BatchExportBackfill>("backfill", builder.problems);
  each(backfills, [...at, "backfills"], (it, here, i) => {
    const document = addBackfill(builder, batchExport, it, i, here);
    names.add(document, { id: document.id });
  });
  each(runs, [...at, "runs"], (it, here, i) => addRun(builder, id, names, it, i, here));
}

const outcomeOf = ({ status, after = 0, latest_error: error }: AuthoredOutcome) => ({
  status,
  after: typeof after === "string" ? (readDuration(after) ?? 0) : after,
  latest_error: error ?? null,
});

/** Creation, end and last update; without a given end, an ended one ended when it was created. */
function timesOf({ status, finished_at: given }: Pick<AuthoredRun, "status" | "finished_at">, created: string) {
  const hasEnded = status !== "Starting" && status !== "Running";
  const finished = given === undefined ? (hasEnded ? created : null) : timeOr(given, null);
  return { created_at: created, finished_at: finished, last_updated_at: finished ?? created };
}

function addBackfill(
  builder: WorldBuilder,
  { id: batch_export, created_at }: BatchExport,
  authored: AuthoredBackfill,
  i: number,
  at: Path,
): BatchExportBackfill {
  const backfill = backfillKind.blank({
    ...builder.fields(backfillKind, authored, at),
    id: builder.uuid(`backfill:${batch_export}/${i}`, authored.id, [...at, "id"]),
    batch_export,
    status: authored.status,
    ...timesOf(authored, timeOr(authored.created_at, created_at)),
  });
  builder.world.batch_export_backfills.push(backfill);
  return backfill;
}

function addRun(
  builder: WorldBuilder,
  batch_export: string,
  backfills: Names<BatchExportBackfill>,
  { logs = [], backfill: named, ...given }: AuthoredRun,
  i: number,
  at: Path,
): void {
  const end = timeOr(given.data_interval_end, beginning);
  const created = timeOr(given.created_at, end);
  const id = builder.uuid(`batch_export_run:${batch_export}/${i}`, given.id, [...at, "id"]);
  const backfill = named === undefined ? undefined : backfills.find(named.toLowerCase(), [...at, "backfill"]);
  const run = runKind.blank({
    data_interval_start: null,
    data_interval_end: end,
    ...builder.fields(runKind, given, at),
    id,
    batch_export,
    backfill: backfill?.id ?? null,
    status: given.status,
    ...timesOf(given, created),
  });
  builder.world.batch_export_runs.push(run);
  addLogs(builder, { batch_export, run: id }, created, logs, at);
}

function addLogs(
  builder: WorldBuilder,
  owner: { batch_export: string; run: string },
  time: string,
  authored: AuthoredLogs,
  at: Path,
): void {
  for (const { level, message, timestamp } of authored) {
    builder.world.batch_export_logs.push({
      id: builder.number("batch_export_logs", undefined, at),
      ...owner,
      timestamp: timeOr(timestamp, time),
      level,
      message,
    });
  }
}
