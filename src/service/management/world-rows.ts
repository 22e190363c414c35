import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json } from "../../kernel/base/json.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { type Dialect, differences } from "../../state/documents/dialect.ts";
import type { Keyring } from "../../state/documents/keyring.ts";
import { liveResources } from "../../state/documents/resources.ts";
import type {
  Dashboard,
  Insight,
  Organization,
  PersonalApiKey,
  ReadonlyWorld,
  StoredProject,
  Tile,
  User,
} from "../../state/documents/world.ts";
import { shownAs } from "../api-frame/fields.ts";
import {
  DashboardSummaries,
  DashboardSummary,
  KeySummary,
  OrganizationSummary,
  ProjectSummary,
  RevealedKey,
  type TileSummary,
  WorldSummary,
} from "./world-shapes.ts";

interface WorldRowPorts {
  readonly worlds: { readonly current: ReadonlyWorld };
  readonly keys: Pick<Keyring, "shownPersonal" | "shownSecret">;
  readonly dialect: Dialect;
}

export const worldSlice = slice(["worlds", "keys", "dialect"], ({ worlds, keys, dialect }: WorldRowPorts) => [
  row({
    method: "GET",
    path: "/__sim/world",
    access: "control",
    summary: "Lists organizations, members, projects and keys (masked), and what the dialect changes",
    reply: WorldSummary,
    handle() {
      const { current } = worlds;
      return {
        organizations: current.organizations.map((it) => showOrganization(current, keys, it)),
        personal_api_keys: current.personal_api_keys.map((it) => showKey(current, keys, it)),
        dialect: {
          current: dialect,
          differences: Object.entries(differences).map(([id, difference]) => ({ id, ...difference })),
        },
      };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/world/dashboards",
    access: "control",
    summary: "Lists dashboards with their tiles, without deleted ones",
    query: z.strictObject({
      project: z.int().min(0).optional().describe("Only this project's"),
      limit: z.int().min(1).max(10_000).default(100).describe("Maximum number of results"),
      offset: z.int().min(0).default(0).describe("Index of the first result"),
    }),
    reply: DashboardSummaries,
    handle({ query: { project, limit, offset } }) {
      const { current } = worlds;
      const chosen = current.dashboards.filter(
        (it) => !it.deleted && (project === undefined || it.project === project),
      );
      const insights = new Map(current.insights.map((it) => [it.id, it]));
      return {
        dashboards: chosen.slice(offset, offset + limit).map((it) => showDashboard(current, insights, it)),
        count: chosen.length,
      };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/world/keys/:id",
    access: "control",
    summary: "Reveals a personal key, or a project's secret key",
    errors: [404],
    reply: RevealedKey,
    handle({ params: { id } }) {
      const personal = worlds.current.personal_api_keys.find((it) => it.id === id);
      const project = worlds.current.projects.find((it) => String(it.id) === id);
      const key = personal ? keys.shownPersonal(personal) : project && keys.shownSecret(project);
      if (key !== undefined) return { id, key };
      throw new SimError("not_found", `there is no key "${id}"`, {
        hint: "give the id of a personal key, or a project's number for its secret key",
      });
    },
  }),
]);

const levels = { 1: "member", 8: "admin", 15: "owner" } as const;

/** A secret's kind and last characters: enough to distinguish two. */
function masked(key: string): string {
  const kind = /^ph[a-z]_/.exec(key)?.[0] ?? "";
  return key.length - kind.length > 12 ? `${kind}…${key.slice(-4)}` : `${kind}…`;
}

function countsOf(world: ReadonlyWorld, project: number): ProjectSummary["counts"] {
  const count = (documents: readonly { project: number; deleted?: boolean }[]): number =>
    documents.filter((it) => it.project === project && it.deleted !== true).length;
  return {
    dashboards: count(world.dashboards),
    insights: count(world.insights),
    feature_flags: count(world.feature_flags),
    cohorts: count(world.cohorts),
    batch_exports: count(world.batch_exports),
    surveys: liveResources(world, "surveys", project).length,
  };
}

type Keys = WorldRowPorts["keys"];

const showProject = (world: ReadonlyWorld, keys: Keys, it: StoredProject): ProjectSummary =>
  shownAs(ProjectSummary, {
    ...it,
    week_start_day: it.settings.week_start_day === 1 ? 1 : 0,
    secret_api_key: masked(keys.shownSecret(it)),
    ephemeral: it.ephemeral !== undefined,
    counts: countsOf(world, it.id),
  });

const nameOf = ({ first_name, last_name }: User): string => `${first_name} ${last_name}`.trim();

function showOrganization(world: ReadonlyWorld, keys: Keys, it: Organization): OrganizationSummary {
  const members = world.memberships.flatMap(({ organization, user: id, level }) => {
    const user = organization === it.id ? world.users.find((one) => one.id === id) : undefined;
    return user ? [{ user: id, name: nameOf(user), email: user.email, level: levels[level] }] : [];
  });
  const projects = world.projects
    .filter(({ organization }) => organization === it.id)
    .map((project) => showProject(world, keys, project));
  return shownAs(OrganizationSummary, { ...it, members, projects });
}

function showKey(world: ReadonlyWorld, keys: Keys, it: PersonalApiKey): KeySummary {
  const owner = world.users.find(({ id }) => id === it.user);
  const nameIn = <Id>(documents: readonly { id: Id; name: string }[], id: Id): string =>
    documents.find((one) => one.id === id)?.name ?? stringOf(id);
  return shownAs(KeySummary, {
    ...it,
    // a key without a label is stored with itself as label
    label: it.label === it.key ? "" : it.label,
    key: masked(keys.shownPersonal(it)),
    owner: owner?.email ?? stringOf(it.user),
    limited_to: [
      ...it.scoped_organizations.map((id) => nameIn(world.organizations, id)),
      ...it.scoped_teams.map((id) => nameIn(world.projects, id)),
    ],
  });
}

const wide = "sm";

function placeOf({ layouts }: Tile): TileSummary["place"] {
  const layout = Object.hasOwn(layouts, wide) ? layouts[wide] : undefined;
  if (!isObject(layout)) return null;
  const { x, y, w, h } = layout as Record<string, Json>;
  const isPlace = [x, y, w, h].every((it) => typeof it === "number");
  return isPlace ? { x: Number(x), y: Number(y), w: Number(w), h: Number(h) } : null;
}

/** A tile of either kind; its insight may have been deleted. */
function showTile(insights: ReadonlyMap<number, Insight>, tile: Tile): TileSummary {
  const insight = tile.insight === null ? undefined : insights.get(tile.insight);
  return {
    id: tile.id,
    kind: tile.text === null ? "insight" : "text",
    title: tile.text?.body ?? insight?.name ?? insight?.derived_name ?? "",
    color: tile.color,
    place: placeOf(tile),
    query: insight?.query ?? null,
  };
}

function showDashboard(world: ReadonlyWorld, insights: ReadonlyMap<number, Insight>, it: Dashboard): DashboardSummary {
  const collaborators = world.dashboard_collaborators.flatMap(({ dashboard, user }) => {
    const found = dashboard === it.id ? world.users.find(({ id }) => id === user) : undefined;
    return found ? [found.email] : [];
  });
  return shownAs(DashboardSummary, {
    ...it,
    restricted: it.restriction_level === 37,
    collaborators,
    shared: world.sharing_configurations.some(({ dashboard, enabled }) => dashboard === it.id && enabled),
    tiles: it.tiles.filter(({ deleted }) => !deleted).map((tile) => showTile(insights, tile)),
  });
}
