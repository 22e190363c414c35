import { SimError } from "../../../kernel/base/errors.ts";
import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { derived } from "../../../state/documents/derived.ts";
import { compareTimes } from "../../../state/documents/time.ts";
import type {
  BatchExport,
  BatchExportBackfill,
  BatchExportLog,
  BatchExportRun,
  StoredProject,
} from "../../../state/documents/world.ts";
import { type CallPlace, found } from "../../api-frame/access.ts";
import {
  inOrganization,
  inProject,
  type ManagementRow,
  managementRow,
  organizationRoot,
  projectRoot,
  type Request,
} from "../../api-frame/row.ts";
import type { ExportDesk } from "../engine.ts";

/** Where a call is about: a project, or at an organization's URL all of its projects. */
export type Home = CallPlace & { readonly project?: StoredProject };

/** The last first; of those of one moment, the one that was added last. */
const newestFirst = <D>(documents: readonly D[], timeOf: (document: D) => string): D[] =>
  documents.toReversed().sort((a, b) => compareTimes(timeOf(b), timeOf(a)));

/** The exports and what belongs to them, through indexes. All lists are newest first. */
export function openRecords({ worlds }: Pick<ExportDesk, "worlds">) {
  const live = derived(worlds, ["batch_exports"], () =>
    newestFirst(
      worlds.current.batch_exports.filter((it) => !it.deleted),
      (it) => it.created_at,
    ),
  );
  const byProject = derived(worlds, ["batch_exports"], () => groupedBy(live(), (it) => it.project));
  const byOrganization = derived(worlds, ["batch_exports", "projects"], () =>
    groupedBy(live(), (it) => worlds.projectById(it.project)?.organization ?? ""),
  );
  const runs = derived(worlds, ["batch_export_runs"], () =>
    groupedBy(
      newestFirst(worlds.current.batch_export_runs, (it) => it.created_at),
      (it) => it.batch_export,
    ),
  );
  const runsByBackfill = derived(worlds, ["batch_export_runs"], () =>
    groupedBy(worlds.current.batch_export_runs, (it) => it.backfill ?? ""),
  );
  const backfills = derived(worlds, ["batch_export_backfills"], () =>
    groupedBy(
      newestFirst(worlds.current.batch_export_backfills, (it) => it.created_at),
      (it) => it.batch_export,
    ),
  );
  const logs = derived(worlds, ["batch_export_logs"], () =>
    groupedBy(
      newestFirst(worlds.current.batch_export_logs, (it) => it.timestamp),
      (it) => it.batch_export,
    ),
  );

  const isAt = ({ project, organization }: Home, it: BatchExport): boolean =>
    project ? it.project === project.id : worlds.projectById(it.project)?.organization === organization.id;

  const id = (request: Request<unknown>, name: string): string => request.param(name).toLowerCase();

  return {
    exportsAt: ({ project, organization }: Home): readonly BatchExport[] =>
      (project ? byProject().get(project.id) : byOrganization().get(organization.id)) ?? [],
    runsOf: (it: BatchExport): readonly BatchExportRun[] => runs().get(it.id) ?? [],
    runsOfBackfill: (it: BatchExportBackfill): readonly BatchExportRun[] => runsByBackfill().get(it.id) ?? [],
    backfillsOf: (it: BatchExport): readonly BatchExportBackfill[] => backfills().get(it.id) ?? [],
    logsOf: (it: BatchExport): readonly BatchExportLog[] => logs().get(it.id) ?? [],

    exportOf(request: Request<unknown> & Home, what?: string): BatchExport {
      const it = worlds.get("batch_exports", id(request, "id"));
      return found(it && !it.deleted && isAt(request, it) ? it : undefined, what);
    },
    runOf(request: Request<unknown>, { id: batchExport }: BatchExport): BatchExportRun {
      const it = worlds.get("batch_export_runs", id(request, "run_id"));
      return found(it?.batch_export === batchExport ? it : undefined);
    },
    backfillOf(request: Request<unknown>, { id: batchExport }: BatchExport): BatchExportBackfill {
      const it = worlds.get("batch_export_backfills", id(request, "backfill_id"));
      return found(it?.batch_export === batchExport ? it : undefined);
    },
  };
}

export type Records = ReturnType<typeof openRecords>;

/** A row that projects and organizations have alike; `path` begins below their roots. */
interface Row<Body> extends Omit<ManagementRow<"organization", Body>, "access" | "handle"> {
  readonly scope: string;
  handle(request: Request<Body> & Home): ReturnType<ManagementRow<"organization", Body>["handle"]>;
}

/** The contract has batch exports at organizations' URLs, the service's tools use projects'. */
export function everywhere<Body = never>(
  desk: ExportDesk,
  { contract = false, scope, path, ...row }: Row<Body>,
): Endpoint[] {
  return [
    ...managementRow(desk, { ...row, contract, path: organizationRoot + path, access: inOrganization(scope) }),
    ...managementRow(desk, { ...row, path: projectRoot + path, access: inProject(scope) }),
  ];
}

/** Some of the service's code looks for a project in the URL. @throws SimError error, in the production dialect */
export function requireProject({ dialect }: Pick<ExportDesk, "dialect">, { project }: Home): void {
  if (project || dialect === "documented") return;
  throw new SimError("error", "A server error occurred.");
}
