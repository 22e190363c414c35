import type { EndpointDocs } from "../../http/endpoint.ts";
import {
  anyOf,
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  oneOf,
  text,
  time,
  titled,
  uuid,
} from "../../http/json-schema.ts";
import { logLevels, runStatuses } from "../../model/run-statuses.ts";
import { bodyErrors, bodyOf, docsOf, parameter, whole } from "../docs-row.ts";
import { endStatuses } from "./script.ts";

const file = titled(
  "ExportFile",
  exact({ name: text, bytes: integer, url: described(text, "Path of the control API that serves it") }),
);

const outcome = {
  status: oneOf(...runStatuses),
  records_completed: nullable(integer),
  latest_error: nullable(text),
};

const runFields = {
  id: uuid,
  batch_export: described(text, "Id of its export"),
  name: described(nullable(text), "The export's name; null when the export is gone"),
  project: nullable(integer),
  interval: nullable(text),
  data_interval_start: described(nullable(time), "null: from the beginning"),
  data_interval_end: time,
  ...outcome,
  bytes_exported: nullable(integer),
  backfill: described(nullable(text), "Id of the backfill that made it; null: it was scheduled"),
  created_at: time,
  finished_at: nullable(time),
  files: described(listOf(file), "Only a completed run has files"),
};

const log = titled("ExportLog", exact({ timestamp: time, level: oneOf(...logLevels), message: text }));

const detailed = { ...runFields, logs: described(listOf(log), "Oldest first") };

const batchExport = titled(
  "ExportSummary",
  exact({
    id: text,
    project: integer,
    name: text,
    model: text,
    interval: text,
    destination: described(text, "Its type"),
    paused: boolean,
    next_run: described(nullable(time), "The next boundary of its schedule, by the sim's clock"),
    last_runs: described(
      listOf(titled("ExportRunSummary", exact({ id: uuid, data_interval_end: time, ...outcome }))),
      "The last five, newest first",
    ),
  }),
);

const performed = titled(
  "ExportPerformed",
  exact({ at: time, kind: text, batch_export: text, run: nullable(text) }),
);

const ofProject = parameter("project", "Only this project's", whole(0));

/** The rows of the exports, by method and path. */
export const exportDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/exports": docsOf("The exports", exact({ exports: listOf(batchExport) }), {
    errors: [400],
    query: [ofProject],
  }),
  "GET /__sim/exports/runs": docsOf(
    "The runs",
    titled("ExportRunPage", exact({ runs: listOf(titled("ExportRun", exact(runFields))), more: boolean })),
    {
      errors: [400, 404],
      query: [
        ofProject,
        parameter("batch_export", "Only this export's: its id or its name"),
        parameter("status", "Only those in this status", oneOf(...runStatuses)),
        parameter("before", "Only runs before the one with this id", uuid),
        parameter("limit", "Most results, 100 unless told", whole(1, 10_000)),
      ],
    },
  ),
  "GET /__sim/exports/runs/:id": docsOf("The run", titled("ExportRunWithLogs", exact(detailed)), {
    errors: [404],
  }),
  "PUT /__sim/exports/runs/:id": docsOf(
    "The run as it is now",
    titled(
      "ScriptedExportRun",
      exact({
        ...detailed,
        ends_at: described(nullable(time), "When it ends; null: its time counts from its start"),
        hint: nullable(text),
      }),
    ),
    {
      errors: [...bodyErrors, 404],
      body: bodyOf(
        {
          after: described(
            anyOf(text, integer),
            "How long it is Running before, e.g. 30s; or ms. At once unless told",
          ),
          latest_error: nullable(text),
        },
        { status: described(oneOf(...endStatuses), "Completed exports the data then") },
      ),
    },
  ),
  "POST /__sim/exports/tick": docsOf(
    "What came about, in order",
    titled("ExportTick", exact({ happened: listOf(performed) })),
    { errors: bodyErrors, body: bodyOf({}) },
  ),
  "GET /__sim/exports/files/:batch_export/:run/:name": fileDocs(),
};

function fileDocs(): EndpointDocs {
  const { replies } = docsOf("", text, { errors: [404] });
  const content = { description: "The file, as an attachment", type: "application/octet-stream" };
  return { replies: { ...replies, 200: content } };
}
