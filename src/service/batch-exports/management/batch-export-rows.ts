import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { maskSecrets } from "../../../state/documents/batch-export-secrets.ts";
import { exportKind } from "../../../state/documents/schemas/batch-export.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { BatchExport, Organization, StoredProject } from "../../../state/documents/world.ts";
import { found, hasFeature } from "../../api-frame/access.ts";
import { given } from "../../api-frame/body.ts";
import { invalid } from "../../api-frame/fields.ts";
import { pageOf, pageQuery, pageSchema } from "../../api-frame/lists.ts";
import type { Request } from "../../api-frame/row.ts";
import type { ExportDesk } from "../engine.ts";
import { isOpen } from "../ports.ts";
import { backfillRows, startingRows } from "./backfill-rows.ts";
import {
  ExportChanges,
  exportShape,
  mergedDestination,
  NewExport,
  showExport,
  UnpauseBody,
  type WrittenExport,
} from "./batch-export-shapes.ts";
import { everywhere, type Home, openRecords, type Records, requireProject } from "./records.ts";
import { logRows, runActionRows, runRows } from "./run-rows.ts";

const isHighFrequency = (interval: BatchExport["interval"]): boolean => interval.startsWith("every");

function checkModel({ destination, model }: Partial<WrittenExport>): void {
  if (destination?.type === "HTTP" && model !== undefined && model !== "events") {
    throw invalid("HTTP batch exports only support the events model");
  }
}

/** The model, which must be available to all. @throws SimError permission_denied */
function allowedModel(model: WrittenExport["model"]): BatchExport["model"] | undefined {
  if (model !== "sessions") return model;
  throw new SimError("permission_denied", "Sessions batch exports are not enabled for this team.");
}

/** Only new exports need the feature, as upstream. @throws SimError permission_denied */
function checkInterval(interval: BatchExport["interval"], organization: Organization): void {
  if (!isHighFrequency(interval) || hasFeature(organization, "high_frequency_batch_exports")) return;
  throw new SimError("permission_denied", "Higher frequency batch exports are not enabled for this team.");
}

const plainFields = [
  "name",
  "interval",
  "paused",
  "last_paused_at",
  "start_at",
  "end_at",
  "filters",
] as const satisfies readonly (keyof WrittenExport)[];

/** What was written as the document has it, without the destination. @throws SimError permission_denied */
function fieldsOf(body: Partial<WrittenExport>) {
  const model = allowedModel(body.model);
  const { hogql_query: query } = body;
  return {
    ...given(body, plainFields),
    ...(model !== undefined && { model }),
    ...(query && { schema: { ...query }, hogql_query: query.hogql_query }),
  };
}

/** At an organization's URL: the caller's project if it is one of the organization's, else its first. */
function homeOf(desk: ExportDesk, { project, organization, caller }: Request<unknown> & Home): StoredProject {
  if (project) return project;
  const current =
    caller.user.current_project === null ? undefined : desk.worlds.projectById(caller.user.current_project);
  if (current?.organization === organization.id) return current;
  const first = desk.worlds.current.projects.find((it) => it.organization === organization.id);
  return found(first, "Project");
}

function createExport(desk: ExportDesk, request: Request<WrittenExport> & Home): BatchExport {
  const body = request.body();
  checkModel(body);
  requireProject(desk, request);
  checkInterval(body.interval, request.organization);
  const document = exportKind.blank(
    {
      ...fieldsOf(body),
      name: body.name,
      interval: body.interval,
      id: desk.ids.uuid(),
      project: homeOf(desk, request).id,
      destination: maskSecrets(body.destination),
    },
    wireTime(desk.clock.now()),
  );
  return save(desk, document);
}

/** Changes an export: what is not written stays as it is; one that is paused now has the time of it. @throws SimError */
function updateExport(desk: ExportDesk, stored: BatchExport, body: Partial<WrittenExport>): BatchExport {
  checkModel(body);
  const { destination = stored.destination } = body;
  const now = wireTime(desk.clock.now());
  return save(desk, {
    ...stored,
    ...(body.paused === true && !stored.paused && { last_paused_at: now }),
    ...fieldsOf(body),
    destination: maskSecrets(mergedDestination(stored.destination, destination)),
    last_updated_at: now,
  });
}

function save(desk: ExportDesk, document: BatchExport): BatchExport {
  const saved = desk.worlds.change((draft) => draft.put("batch_exports", document));
  desk.exports.scheduled(saved);
  return saved;
}

const Paused = z.object({ paused: z.boolean() }).meta({ title: "BatchExportPaused" });

function pause(desk: ExportDesk, it: BatchExport): void {
  const now = wireTime(desk.clock.now());
  save(desk, { ...it, paused: true, last_paused_at: now, last_updated_at: now });
}

/** The backfill comes first: when the pause was too long to be filled, all stays as it was. */
function unpause(desk: ExportDesk, it: BatchExport, isFilled: boolean): void {
  const now = wireTime(desk.clock.now());
  if (isFilled) desk.exports.backfill(it, { start_at: it.last_paused_at, end_at: now });
  save(desk, { ...it, paused: false, last_updated_at: now });
}

function deleteExport(desk: ExportDesk, records: Records, it: BatchExport): void {
  for (const backfill of records.backfillsOf(it).filter(isOpen)) desk.exports.cancelBackfill(backfill);
  save(desk, { ...it, deleted: true, last_updated_at: wireTime(desk.clock.now()) });
}

const list = "/batch_exports";
const one = `${list}/:id`;
const reads = "batch_export:read";
const writes = "batch_export:write";

function ownRows(desk: ExportDesk, records: Records): Endpoint[] {
  const reply = exportShape(desk.dialect);
  const show = (it: BatchExport) => showExport(it, records.runsOf(it), desk.dialect);
  const update = (request: Request<z.infer<typeof ExportChanges>> & Home) => {
    const stored = records.exportOf(request);
    return show(updateExport(desk, stored, request.body()));
  };
  return [
    ...everywhere(desk, {
      method: "GET",
      path: list,
      contract: true,
      summary: "Batch exports, the newest first",
      scope: reads,
      query: pageQuery,
      reply: pageSchema(reply),
      handle: (request) => pageOf(request.call, records.exportsAt(request), show),
    }),
    ...everywhere(desk, {
      method: "GET",
      path: one,
      contract: true,
      summary: "One batch export",
      scope: reads,
      reply,
      handle: (request) => show(records.exportOf(request)),
    }),
    ...everywhere<z.infer<typeof NewExport>>(desk, {
      method: "POST",
      path: list,
      contract: true,
      summary: "A new batch export",
      scope: writes,
      status: 201,
      body: NewExport,
      reply,
      handle: (request) => show(createExport(desk, request)),
    }),
    ...everywhere<z.infer<typeof ExportChanges>>(desk, {
      method: "PATCH",
      path: one,
      contract: true,
      summary: "Changes a batch export; its configuration is merged, secrets that are not sent stay",
      scope: writes,
      body: ExportChanges,
      reply,
      handle: update,
    }),
    ...everywhere<z.infer<typeof NewExport>>(desk, {
      method: "PUT",
      path: one,
      summary: "Changes a batch export; name, destination and interval are required",
      scope: writes,
      body: NewExport,
      reply,
      handle: update,
    }),
    ...everywhere(desk, {
      method: "DELETE",
      path: one,
      contract: true,
      summary: "Deletes a batch export and cancels its backfills",
      scope: writes,
      status: 204,
      handle: (request) => deleteExport(desk, records, records.exportOf(request)),
    }),
    ...everywhere(desk, {
      method: "POST",
      path: `${one}/pause`,
      summary: "Pauses a batch export",
      scope: writes,
      reply: Paused,
      handle(request) {
        const it = records.exportOf(request);
        if (!it.paused) pause(desk, it);
        return { paused: true };
      },
    }),
    ...everywhere<z.infer<typeof UnpauseBody>>(desk, {
      method: "POST",
      path: `${one}/unpause`,
      summary: "Unpauses a batch export; with `backfill`, runs what was missed",
      scope: writes,
      body: UnpauseBody,
      reply: Paused,
      handle(request) {
        const it = records.exportOf(request);
        const { backfill = false } = request.body();
        if (it.paused) unpause(desk, it, backfill);
        return { paused: false };
      },
    }),
  ];
}

/** Batch exports at projects' and organizations' URLs; their runs and backfills at projects' only. */
export function batchExportEndpoints(desk: ExportDesk): Endpoint[] {
  const records = openRecords(desk);
  return [ownRows, runRows, runActionRows, startingRows, backfillRows, logRows].flatMap((rows) => rows(desk, records));
}
