import type { Path } from "../base/json-pointer.ts";
import { blankDashboard, blankTile } from "../world/blank.ts";
import { tidyTags } from "../world/tags.ts";
import type { Dashboard, DashboardTemplate, Insight, Project, Tile } from "../world/world.ts";
import type { Building } from "./building.ts";
import { derivedToken } from "./derive.ts";
import type { Names } from "./names.ts";
import type { AuthoredDashboard, AuthoredTemplate, AuthoredTile } from "./schemas/dashboard.ts";
import { beginning, timeOr } from "./times.ts";

/** Adds a dashboard with its tiles, collaborators and sharing. */
export function addDashboard(
  building: Building,
  project: Project,
  insights: Names<Insight>,
  authored: AuthoredDashboard,
  at: Path,
): Dashboard {
  const { tiles = [], collaborators = [], sharing, ...given } = authored;
  const bare = blankDashboard(
    {
      ...given,
      id: building.number("dashboards", given.id, at),
      project: project.id,
      tags: tidyTags(given.tags ?? []),
      created_at: timeOr(given.created_at, beginning),
      created_by: building.author(given.created_by, [...at, "created_by"]),
    },
    beginning,
  );
  const tileAt = (tile: AuthoredTile, i: number) =>
    tileOf(building, bare, insights, tile, [...at, "tiles", i]);
  const dashboard: Dashboard = { ...bare, tiles: tiles.map(tileAt) };
  building.world.dashboards.push(dashboard);
  addCollaborators(building, dashboard, collaborators, [...at, "collaborators"]);
  if (sharing) addSharing(building, project, dashboard, sharing, [...at, "sharing"]);
  return dashboard;
}

/** The tiles of a deleted dashboard are deleted with it, and come back with it. */
function tileOf(
  building: Building,
  dashboard: Dashboard,
  insights: Names<Insight>,
  authored: AuthoredTile,
  at: Path,
): Tile {
  const id = building.number("tiles", authored.id, at);
  const { deleted } = dashboard;
  if ("insight" in authored) {
    const insight = insights.find(authored.insight, [...at, "insight"]);
    return blankTile({ ...authored, id, deleted, insight: insight?.id ?? null });
  }
  const text = {
    id: building.number("texts", undefined, at),
    body: authored.text,
    created_by: dashboard.created_by,
    last_modified_by: null,
    last_modified_at: dashboard.created_at,
  };
  return blankTile({ ...authored, id, deleted, text });
}

function addCollaborators(
  building: Building,
  dashboard: Dashboard,
  emails: readonly string[],
  at: Path,
): void {
  for (const [i, email] of emails.entries()) {
    building.claim(`collaborator of dashboard ${dashboard.id}`, email.toLowerCase(), [...at, i]);
    const user = building.users.find(email.toLowerCase(), [...at, i]);
    if (!user) continue;
    building.world.dashboard_collaborators.push({
      id: building.uuid(`collaborator:${dashboard.id}/${email.toLowerCase()}`, undefined, [...at, i]),
      dashboard: dashboard.id,
      user: user.id,
      level: 37,
      added_at: dashboard.created_at,
      updated_at: dashboard.created_at,
    });
  }
}

function addSharing(
  building: Building,
  project: Project,
  dashboard: Dashboard,
  authored: NonNullable<AuthoredDashboard["sharing"]>,
  at: Path,
): void {
  const name = `sharing:${project.api_key}/${dashboard.id}`;
  const accessToken = authored.access_token ?? derivedToken(name);
  building.claim("access token", accessToken, [...at, "access_token"]);
  building.world.sharing_configurations.push({
    settings: null,
    password_required: false,
    ...authored,
    id: building.uuid(name, undefined, at),
    dashboard: dashboard.id,
    created_at: dashboard.created_at,
    access_token: accessToken,
    former_tokens: [],
  });
}

export function addTemplate(
  building: Building,
  project: Project,
  authored: AuthoredTemplate,
  at: Path,
): void {
  const name = `dashboard_template:${project.api_key}/${authored.template_name}`;
  const template: DashboardTemplate = {
    dashboard_description: "",
    dashboard_filters: {},
    tags: [],
    variables: null,
    image_url: null,
    ...authored,
    id: building.uuid(name, authored.id, [...at, "id"]),
    project: project.id,
    created_at: timeOr(authored.created_at, beginning),
  };
  building.world.dashboard_templates.push(template);
}
