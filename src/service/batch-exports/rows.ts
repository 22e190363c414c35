import { z } from "zod";
import { type SimClock, timeRange } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { runStatuses } from "../../state/documents/run-statuses.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExportRun, Worlds } from "../../state/documents/world.ts";
import { type DrivenExportEngine, type ExportFiles, isOpen, type ScriptedOutcome } from "./ports.ts";
import { exportsIn, filesOf, filesRoot, runOf, runsIn, shownRun, shownRunWithLogs } from "./run-views.ts";
import { Export, ExportOutcome, ExportPerformed, ExportRunPage, ExportRunWithLogs, ScriptedRun } from "./shapes.ts";

interface ExportRowPorts {
  readonly worlds: Pick<Worlds, "current" | "get">;
  readonly clock: Pick<SimClock, "now" | "isFrozen">;
  readonly exports: { readonly engine: DrivenExportEngine; readonly files: ExportFiles };
  readonly agenda: { changed(): void };
  readonly log: { commit(): void };
}

export const exportSlice = slice(["worlds", "clock", "exports", "agenda", "log"], (ports: ExportRowPorts) => [
  row({
    method: "GET",
    path: "/__sim/exports",
    access: "control",
    summary: "Lists batch exports with their next and last runs",
    query: z.strictObject({ project: z.int().min(0).optional().describe("Only this project's") }),
    reply: z.strictObject({ exports: z.array(Export) }),
    handle: ({ query }) => ({ exports: exportsIn(ports.worlds, query.project, ports.clock.now()) }),
  }),
  row({
    method: "GET",
    path: "/__sim/exports/runs",
    access: "control",
    summary: "Lists runs with their files, newest first",
    query: z.strictObject({
      project: z.int().min(0).optional().describe("Only this project's"),
      batch_export: z.string().optional().describe("Only this export's: its id or its name"),
      status: z.enum(runStatuses).optional().describe("Only runs in this status"),
      before: z.string().optional().meta({ description: "Only runs before the one with this id", format: "uuid" }),
      limit: z.int().min(1).max(10_000).default(100).describe("Maximum number of results"),
    }),
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

/** A header's extended value (RFC 8187). */
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
