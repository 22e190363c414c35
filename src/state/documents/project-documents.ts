import type { CollectionName, ReadonlyWorld, StoredProject } from "./world.ts";

const owned = [
  "dashboards",
  "dashboard_templates",
  "insights",
  "feature_flags",
  "flag_overrides",
  "cohorts",
  "batch_exports",
  "resources",
] as const satisfies readonly CollectionName[];

const ofDashboard = ["dashboard_collaborators", "sharing_configurations"] as const;
const ofBatchExport = ["batch_export_runs", "batch_export_backfills", "batch_export_logs"] as const;

export function documentsOf(world: ReadonlyWorld, projects: ReadonlySet<number>) {
  const isTheirs = (it: { project: number | null }) => it.project !== null && projects.has(it.project);
  const dashboards = new Set(world.dashboards.filter(isTheirs).map(({ id }) => id));
  const exports = new Set(world.batch_exports.filter(isTheirs).map(({ id }) => id));
  return [
    ...owned.map((name) => [name, world[name].filter(isTheirs)] as const),
    ...ofDashboard.map((name) => [name, world[name].filter((it) => dashboards.has(it.dashboard))] as const),
    ...ofBatchExport.map((name) => [name, world[name].filter((it) => exports.has(it.batch_export))] as const),
  ];
}

/** The project whose product tours and prompts a project shows: no request changes them, so copies of a project share them. */
export const listsOwner = ({ id, ephemeral }: StoredProject): number => ephemeral?.like ?? id;
