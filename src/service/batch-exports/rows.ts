import { z } from "zod";
import { type SimClock, timeRange } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun, Worlds } from "../../state/documents/world.ts";
import { shownAs } from "../api-frame/fields.ts";
import type { ExportEngine } from "./engine.ts";
import { type ExportFiles, isOpen, type ScriptedOutcome } from "./ports.ts";
import { nextDue } from "./schedules.ts";
import {
  Export,
  type ExportFile,
  ExportListQuery,
  ExportOutcome,
  ExportPerformed,
  ExportRun,
  ExportRunPage,
  ExportRunQuery,
  ExportRunSummary,
  ExportRunWithLogs,
  ScriptedRun,
} from "./shapes.ts";

interface ExportRowPorts {
  readonly worlds: Pick<Worlds, "current" | "get">;
  readonly clock: Pick<SimClock, "now" | "isFrozen">;
  readonly exports: { readonly engine: ExportEngine; readonly files: ExportFiles };
  readonly agenda: { changed(): void };
  readonly log: { commit(): void };
}

const newestFirst = (runs: readonly BatchExportRun[]): BatchExportRun[] =>
  runs.toReversed().sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));

/** Absent keys do not restrict. */
interface RunFilter {
  readonly project?: number | undefined;
  /** Id or name of an export. */
  readonly batch_export?: string | undefined;
  readonly status?: BatchExportRun["status"] | undefined;
  /** Id of a run: only runs before it. */
  readonly before?: string | undefined;
}

/** The runs that match, newest first. @throws SimError not_found of `before` */
function runsIn(worlds: ExportRowPorts["worlds"], filter: RunFilter): BatchExportRun[] {
  const { batch_exports, batch_export_runs } = worlds.current;
  const exports = new Map(batch_exports.map((it) => [it.id, it]));
  const matches = (run: BatchExportRun): boolean => {
    const its = exports.get(run.batch_export);
    const named = filter.batch_export;
    return (
      (filter.project === undefined || its?.project === filter.project) &&
      (!named || run.batch_export === named || its?.name === named) &&
      (filter.status === undefined || run.status === filter.status)
    );
  };
  const runs = newestFirst(batch_export_runs);
  const first = filter.before ? runs.indexOf(runOf(worlds, filter.before)) + 1 : 0;
  return runs.slice(first).filter(matches);
}

function runOf(worlds: ExportRowPorts["worlds"], id: string): BatchExportRun {
  const run = worlds.get("batch_export_runs", id);
  if (run) return run;
  throw new SimError("not_found", `there is no run ${id}`, { hint: "GET /__sim/exports/runs lists them" });
}

async function shownRun({ worlds, exports }: ExportRowPorts, run: BatchExportRun): Promise<ExportRun> {
  const batchExport = worlds.get("batch_exports", run.batch_export);
  return shownAs(ExportRun, {
    ...run,
    name: batchExport?.name ?? null,
    project: batchExport?.project ?? null,
    interval: batchExport?.interval ?? null,
    files: (await filesOf(exports.files, run)).map(({ name, bytes, url }) => ({ name, bytes, url })),
  });
}

async function shownRunWithLogs(stored: ExportRowPorts, run: BatchExportRun): Promise<ExportRunWithLogs> {
  const logs = stored.worlds.current.batch_export_logs.filter((it) => it.run === run.id);
  return {
    ...(await shownRun(stored, run)),
    logs: logs.map(({ timestamp, level, message }) => ({ timestamp, level, message })),
  };
}

const lastRuns = 5;

function exportsIn(worlds: ExportRowPorts["worlds"], project: number | undefined, now: number): Export[] {
  const { batch_exports, batch_export_runs } = worlds.current;
  return batch_exports
    .filter((it) => !it.deleted && (project === undefined || it.project === project))
    .map((it) => {
      const runs = batch_export_runs.filter((run) => run.batch_export === it.id);
      return shownExport(it, runs, now);
    });
}

function shownExport(it: BatchExport, runs: readonly BatchExportRun[], now: number): Export {
  const next = nextDue(it, now);
  return shownAs(Export, {
    ...it,
    destination: it.destination.type,
    next_run: next === undefined ? null : wireTime(next),
    last_runs: newestFirst(runs)
      .slice(0, lastRuns)
      .map((run) => shownAs(ExportRunSummary, run)),
  });
}

const filesRoot = "/__sim/exports/files";

/** Files of a completed run; an unfinished run may leave files behind, which its next start removes. */
async function filesOf(files: ExportFiles, run: BatchExportRun): Promise<(ExportFile & { readonly path: string })[]> {
  if (run.status !== "Completed") return [];
  const folder = `${run.batch_export}/${run.id}/`;
  return (await files.list(run.batch_export, run.id)).map(({ path, bytes }) => {
    const name = path.slice(folder.length);
    return { name, bytes, url: `${filesRoot}/${folder}${encodeURIComponent(name)}`, path };
  });
}

export const exportSlice = slice(["worlds", "clock", "exports", "agenda", "log"], (ports: ExportRowPorts) => [
  row({
    method: "GET",
    path: "/__sim/exports",
    access: "control",
    summary: "Lists batch exports with their next and last runs",
    query: ExportListQuery,
    reply: z.strictObject({ exports: z.array(Export) }),
    handle: ({ query }) => ({ exports: exportsIn(ports.worlds, query.project, ports.clock.now()) }),
  }),
  row({
    method: "GET",
    path: "/__sim/exports/runs",
    access: "control",
    summary: "Lists runs with their files, newest first",
    query: ExportRunQuery,
    errors: [404],
    reply: ExportRunPage,
    async handle({ query: { limit, ...filter } }) {
      const found = runsIn(ports.worlds, filter);
      const runs = await Promise.all(found.slice(0, limit).map((it) => shownRun(ports, it)));
      return { runs, more: found.length > limit };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/exports/runs/:id",
    access: "control",
    summary: "Shows a run with its log and its files",
    errors: [404],
    reply: ExportRunWithLogs,
    handle: ({ params }) => shownRunWithLogs(ports, runOf(ports.worlds, params.id)),
  }),
  row({
    method: "PUT",
    path: "/__sim/exports/runs/:id",
    access: "control",
    summary: "Sets how a run that has not ended ends",
    body: ExportOutcome,
    errors: [404],
    reply: ScriptedRun,
    handle: ({ params, body: { after = 0, status, latest_error = null } }) =>
      scriptRun(ports, runOf(ports.worlds, params.id), { after, status, latest_error }),
  }),
  row({
    method: "POST",
    path: "/__sim/exports/tick",
    access: "control",
    summary: "Performs what is due now, without moving the clock; lists what happened, in order",
    body: z.strictObject({}),
    reply: z.strictObject({ happened: z.array(ExportPerformed) }).meta({ title: "ExportTick" }),
    async handle() {
      const happened = await ports.exports.engine.tick(ports.clock.now());
      ports.agenda.changed();
      ports.log.commit();
      return { happened };
    },
  }),
  row({
    method: "GET",
    path: `${filesRoot}/:batch_export/:run/:name`,
    access: "control",
    summary: "Downloads a file of a completed run",
    errors: [404],
    replies: { 200: { description: "The file, as an attachment", type: "application/octet-stream" } },
    handle: ({ params }) => serveFile(ports, params),
  }),
]);

/** What must be done until the run ends; null if the clock gets there by itself. */
function hintFor(isStarting: boolean, isDueNow: boolean, isFrozen: boolean): string | null {
  if (!isFrozen) return null;
  return isStarting || isDueNow
    ? "the clock is frozen: POST /__sim/exports/tick starts or ends the run"
    : "the clock is frozen: POST /__sim/clock/advance ends the run";
}

/**
 * Sets how an open run ends; from then on the engine does only that with it.
 * @throws SimError invalid_input if it has ended; the system's error, and then nothing has changed
 */
async function scriptRun(ports: ExportRowPorts, run: BatchExportRun, outcome: ScriptedOutcome): Promise<ScriptedRun> {
  const { worlds, clock, exports, log } = ports;
  if (!isOpen(run))
    throw new SimError("invalid_input", `run ${run.id} has ended: it is ${run.status}`, {
      hint: "an ended run cannot change; a retry or a backfill makes new runs",
    });
  const end = clock.now() + outcome.after;
  if (end > timeRange.last)
    throw new SimError("invalid_input", "the clock ends with the year 9999", { pointer: "/after" });
  exports.engine.script(run, outcome);
  log.commit();
  const current = worlds.get("batch_export_runs", run.id) ?? run;
  const isStarting = current.status === "Starting";
  return {
    ...(await shownRunWithLogs(ports, current)),
    ends_at: isStarting ? null : wireTime(end),
    hint: hintFor(isStarting, outcome.after === 0, clock.isFrozen),
  };
}

/** Media types by the end of a name. The service names Parquet files by the compression inside of them. */
const types: readonly (readonly [end: RegExp, type: string])[] = [
  [/\.parquet(\.(gz|br|sz))?$/, "application/vnd.apache.parquet"],
  [/\.gz$/, "application/gzip"],
  [/\.jsonl$/, "application/x-ndjson"],
  [/\.json$/, "application/json"],
];

const extendedValue = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

const attachment = (name: string, body: Buffer): Reply => ({
  status: 200,
  headers: [
    ...["content-type", types.find(([end]) => end.test(name))?.[1] ?? "application/octet-stream"],
    ...["content-disposition", `attachment; filename*=UTF-8''${extendedValue(name.split("/").at(-1) ?? name)}`],
  ],
  body,
});

/** A file of a completed run. Only listed files are read, whatever the path contains. @throws SimError not_found */
async function serveFile(
  { worlds, exports }: ExportRowPorts,
  { batch_export, run: id, name }: { batch_export: string; run: string; name: string },
): Promise<Reply> {
  const run = worlds.get("batch_export_runs", id);
  const known = run?.batch_export === batch_export ? await filesOf(exports.files, run) : [];
  const file = known.find((it) => it.name === name);
  const content = file && (await exports.files.read(file.path));
  if (content) return attachment(name, content);
  throw new SimError("not_found", `there is no file "${name}" of run ${id}`, {
    hint: `GET /__sim/exports/runs/${id} lists its files`,
  });
}
