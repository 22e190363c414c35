import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import { differences } from "../../model/dialect.ts";
import { queryNumber } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";
import { showKey, showOrganization } from "./accounts.ts";
import { showDashboard } from "./dashboards.ts";
import type { ShownDashboards, ShownWorld } from "./types.ts";

type WorldDesk = Pick<ControlDesk, "worlds" | "dialect" | "keys">;

const most = Number.MAX_SAFE_INTEGER;

function show({ worlds, keys, dialect }: WorldDesk): Reply {
  const { current } = worlds;
  const answer: ShownWorld = {
    organizations: current.organizations.map((it) => showOrganization(current, keys, it)),
    personal_api_keys: current.personal_api_keys.map((it) => showKey(current, keys, it)),
    dialect: {
      current: dialect,
      differences: Object.entries(differences).map(([id, row]) => ({ id, ...row })),
    },
  };
  return json(answer);
}

function dashboards({ worlds }: WorldDesk, call: Call): Reply {
  const { current } = worlds;
  const project = queryNumber(call, "project", { min: 0, max: most });
  const limit = queryNumber(call, "limit", { min: 1, max: 10_000 }) ?? 100;
  const offset = queryNumber(call, "offset", { min: 0, max: most }) ?? 0;
  const chosen = current.dashboards.filter(
    (it) => !it.deleted && (project === undefined || it.project === project),
  );
  const insights = new Map(current.insights.map((it) => [it.id, it]));
  const answer: ShownDashboards = {
    dashboards: chosen.slice(offset, offset + limit).map((it) => showDashboard(current, insights, it)),
    count: chosen.length,
  };
  return json(answer);
}

/** The one answer that has a key in full: somebody wants to see it. */
function reveal({ worlds, keys }: WorldDesk, call: Call): Reply {
  const id = call.params.id ?? "";
  const personal = worlds.current.personal_api_keys.find((it) => it.id === id);
  const project = worlds.current.projects.find((it) => String(it.id) === id);
  const key = personal ? keys.shownPersonal(personal) : project && keys.shownSecret(project);
  if (key !== undefined) return json({ id, key });
  throw new SimError("not_found", `there is no key "${id}"`, {
    hint: "give the id of a personal key, or a project's number for its secret key",
  });
}

const rows: readonly ControlRow<WorldDesk>[] = [
  [
    "GET",
    "/__sim/world",
    "Organizations, members, projects and keys (masked), and what the dialect changes",
    show,
  ],
  ["GET", "/__sim/world/dashboards", "Dashboards with their tiles: project, limit, offset", dashboards],
  ["GET", "/__sim/world/keys/:id", "A personal key, or a project's secret key, in full", reveal],
];

/** What people edit, as the inspector shows it. */
export const worldEndpoints = (desk: WorldDesk): Endpoint[] => endpointsOf(rows, desk);
