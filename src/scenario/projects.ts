import type { Path } from "../base/json-pointer.ts";
import { blankProject } from "../world/blank.ts";
import type { Dashboard, Organization, Project } from "../world/world.ts";
import { addBatchExport } from "./batch-exports.ts";
import type { Building } from "./building.ts";
import { addDashboard, addTemplate } from "./dashboards.ts";
import { addCohort, addFlag } from "./flags.ts";
import { addInsights } from "./insights.ts";
import { createNames } from "./names.ts";
import { addPeople } from "./people.ts";
import type { AuthoredProject } from "./schemas/project.ts";
import { beginning, timeOr } from "./times.ts";

/** Adds a project and everything in it. */
export function addProject(
  building: Building,
  organization: Organization,
  authored: AuthoredProject,
  at: Path,
): void {
  const project = projectOf(building, organization, authored, at);
  const primary = addDashboards(building, project, authored, at);
  building.world.projects.push({ ...project, primary_dashboard: primary });
  building.projects.add(project, project);
  for (const [key, flag] of Object.entries(authored.flags ?? {})) {
    addFlag(building, project, key, flag, [...at, "flags", key]);
  }
  const persons = addPeople(building, project, authored, at);
  for (const [i, it] of (authored.cohorts ?? []).entries()) {
    addCohort(building, project, persons, it, [...at, "cohorts", i]);
  }
  for (const [i, it] of (authored.batch_exports ?? []).entries()) {
    addBatchExport(building, project, it, [...at, "batch_exports", i]);
  }
  addPublicLists(building, project, authored);
}

function projectOf(
  building: Building,
  organization: Organization,
  { api_key, secret_api_key, name, ...authored }: AuthoredProject,
  at: Path,
): Project {
  const project = blankProject(
    {
      id: building.number("projects", authored.id, at),
      uuid: building.uuid(`project:${api_key}`, authored.uuid, [...at, "uuid"]),
      organization: organization.id,
      name,
      api_key,
      ...(secret_api_key !== undefined && { secret_api_key }),
      timezone: authored.timezone ?? "UTC",
      is_demo: authored.is_demo ?? false,
      created_at: timeOr(authored.created_at, beginning),
      settings: authored.settings ?? {},
      remote_config: authored.remote_config ?? {},
    },
    beginning,
  );
  const isNew = building.claim("project key", project.api_key, [...at, "api_key"]);
  // The secret key follows from the project key: its being there twice would say nothing more.
  if (isNew || secret_api_key !== undefined) {
    building.claim("secret key", project.secret_api_key, [...at, "secret_api_key"]);
  }
  return project;
}

/** Adds insights, dashboards and templates. @returns id of the primary dashboard. */
function addDashboards(
  building: Building,
  project: Project,
  authored: AuthoredProject,
  at: Path,
): number | null {
  const insights = addInsights(building, project, authored.insights ?? [], [...at, "insights"]);
  const names = createNames<Dashboard>("dashboard", building.problems);
  for (const [i, it] of (authored.dashboards ?? []).entries()) {
    const dashboard = addDashboard(building, project, insights, it, [...at, "dashboards", i]);
    names.add(dashboard, dashboard);
  }
  for (const [i, it] of (authored.dashboard_templates ?? []).entries()) {
    addTemplate(building, project, it, [...at, "dashboard_templates", i]);
  }
  const { primary_dashboard: primary } = authored;
  return primary === undefined ? null : (names.find(primary, [...at, "primary_dashboard"])?.id ?? null);
}

/** Lists that the public endpoints serve as they stand. */
const publicLists = ["surveys", "early_access_features", "product_tours", "web_experiments"] as const;

function addPublicLists({ world }: Building, project: Project, authored: AuthoredProject): void {
  const owned = { project: project.id };
  for (const name of publicLists) {
    world[name].push(...(authored[name] ?? []).map((it) => ({ ...it, ...owned })));
  }
  world.prompts.push(...(authored.prompts ?? []).map((it) => ({ version: 1, ...it, ...owned })));
}
