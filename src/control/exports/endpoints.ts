import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { runStatuses } from "../../model/run-statuses.ts";
import { allowKeys, bodyOf, queryChoice, queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";
import { filesRoot, serveFile } from "./files.ts";
import { exportsIn, runOf, runsIn, shownRun, shownRunWithLogs } from "./list.ts";
import { outcomeIn, scriptRun } from "./script.ts";

type Handle = (desk: ControlDesk, call: Call) => Reply | Promise<Reply>;

const most = Number.MAX_SAFE_INTEGER;
const defaultPage = 100;
const largestPage = 10_000;

const projectIn = (call: Call) => queryNumber(call, "project", { min: 0, max: most });

const list: Handle = (desk, call) => json({ exports: exportsIn(desk, projectIn(call)) });

const runs: Handle = async (desk, call) => {
  const limit = queryNumber(call, "limit", { min: 1, max: largestPage }) ?? defaultPage;
  const found = runsIn(desk, {
    project: projectIn(call),
    batchExport: call.query.get("batch_export") || undefined,
    status: queryChoice(call, "status", runStatuses),
    before: call.query.get("before") || undefined,
  });
  const shown = await Promise.all(found.slice(0, limit).map((it) => shownRun(desk, it)));
  return json({ runs: shown, more: found.length > limit });
};

const run: Handle = async (desk, call) =>
  json(await shownRunWithLogs(desk, runOf(desk, call.params.id ?? "")));

const script: Handle = async (desk, call) => {
  const outcome = outcomeIn(bodyOf(call));
  return json(await scriptRun(desk, runOf(desk, call.params.id ?? ""), outcome));
};

const tick: Handle = async (desk, call) => {
  allowKeys(bodyOf(call), []);
  const happened = await desk.exports.engine.tick(desk.clock.now());
  desk.agenda.changed();
  desk.log.commit();
  return json({ happened });
};

const root = "/__sim/exports";

const rows: readonly ControlRow<ControlDesk>[] = [
  ["GET", root, "Batch exports with their next and last runs: project", list],
  [
    "GET",
    `${root}/runs`,
    "Runs, newest first, with their files: project, batch_export, status, before, limit",
    runs,
  ],
  ["GET", `${root}/runs/:id`, "One run with its log and its files", run],
  ["PUT", `${root}/runs/:id`, "Says how a run that has not ended ends: after, status, latest_error", script],
  ["POST", `${root}/tick`, "Performs what is due now, the clock stays; answers with what came about", tick],
  ["GET", `${filesRoot}/:batch_export/:run/:name`, "A file of a completed run", serveFile],
];

/** What batch exports did, and how to drive them. */
export const exportEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
