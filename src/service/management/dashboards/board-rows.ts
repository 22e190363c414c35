import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { invalid, pathNumber } from "../../../kernel/http/control-body.ts";
import { row } from "../../../kernel/http/row.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { dashboardKind } from "../../../state/documents/schemas/dashboard.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Dashboard, StoredProject } from "../../../state/documents/world.ts";
import { openRights } from "../collaborators.ts";
import type { ManagementDesk } from "../desk.ts";
import { putOn } from "../insights/insight-changes.ts";
import { makeInsight } from "../insights/insight-views.ts";
import { openSharing } from "../sharing/sharing-rows.ts";
import { DashboardDetail, openDashboardViews } from "./dashboard-views.ts";

interface BoardPorts {
  /** Of the management API. */
  readonly resources: ManagementDesk;
}

const DashboardWithResults = z.object({
  now: z.number().describe("The sim's time, ms"),
  timezone: z.string().describe("Of the project"),
  shared_at: z.string().nullable().describe("Path of its shared page"),
  dashboard: DashboardDetail,
});

const InsightOrder = z.strictObject({
  project: z.int().describe("Id of the project"),
  name: z.string().min(1).max(400).describe("The insight's name"),
  query: z.record(z.string(), z.json()).describe("A query with its kind, or a node around one"),
  dashboard: z.int().nullish().describe("Id of a dashboard that shows it"),
  new_dashboard: z.string().min(1).max(400).optional().describe("Name of a dashboard that is made to show it"),
});
type InsightOrder = z.infer<typeof InsightOrder>;

const NewInsight = z.object({
  id: z.int(),
  short_id: z.string(),
  dashboard: z.int().nullable().describe("Id of the dashboard that shows it"),
});
type NewInsight = z.infer<typeof NewInsight>;

const date = z.string().min(1).max(40).optional();

/** Dashboards with results, and new insights, for the inspector: without a key, and not journaled. */
export const boardSlice = slice(["resources"], ({ resources: desk }: BoardPorts) => {
  const { worlds, clock, ids, queries } = desk;
  const sharing = openSharing(desk);
  const views = openDashboardViews(desk, { rights: openRights(desk), sharing });

  /** @throws SimError not_found */
  function projectWith(id: number): StoredProject {
    const project = worlds.projectById(id);
    if (project) return project;
    throw new SimError("not_found", `there is no project ${id}`, { pointer: "/project" });
  }

  /** @throws SimError not_found */
  function dashboardWith(id: number, pointer?: string): Dashboard {
    const dashboard = worlds.get("dashboards", id);
    if (dashboard && !dashboard.deleted) return dashboard;
    throw new SimError("not_found", `there is no dashboard ${id}`, {
      ...(pointer !== undefined && { pointer }),
      hint: "GET /__sim/world/dashboards lists them",
    });
  }

  /** The user that makes what the inspector makes. @throws SimError conflict */
  function authorIn({ organization }: StoredProject): number {
    const found = worlds.current.memberships.find((it) => it.organization === organization);
    if (found) return found.user;
    throw new SimError("conflict", "an insight needs an author, and the project's organization has no member", {
      hint: "give the organization a member in the scenario",
    });
  }

  function save({ project: id, name, query, dashboard, new_dashboard: title }: InsightOrder): NewInsight {
    const project = projectWith(id);
    const board = typeof dashboard === "number" ? dashboardWith(dashboard, "/dashboard") : undefined;
    if (board && title !== undefined)
      throw invalid('"dashboard" and "new_dashboard" exclude each other', "/new_dashboard");
    if (board && board.project !== id) throw invalid(`dashboard ${board.id} is of another project`, "/dashboard");
    queries.read({ query, at: ["query"] });
    const user = authorIn(project);
    const now = wireTime(clock.now());
    return worlds.change((draft) => {
      const insight = makeInsight({ draft, ids, project: id, user, now }, { name, query, saved: true });
      const made =
        title === undefined
          ? undefined
          : draft.put(
              "dashboards",
              dashboardKind.blank({ id: draft.nextId("dashboards"), project: id, name: title, created_by: user }, now),
            );
      const on = board ?? made;
      if (on) putOn(draft, insight, on);
      return { id: insight.id, short_id: insight.short_id, dashboard: on?.id ?? null };
    });
  }

  return [
    row({
      method: "GET",
      path: "/__sim/dashboards/:id",
      access: "control",
      summary: "A dashboard with the results of its tiles",
      query: z.strictObject({
        date_from: date.describe("Start of the range of all tiles, e.g. -14d (default: the dashboard's own)"),
        date_to: date.describe("End of the range of all tiles"),
      }),
      reply: DashboardWithResults,
      errors: [404],
      async handle({ call, query: { date_from, date_to } }) {
        const dashboard = dashboardWith(pathNumber(call, "id", "dashboard"));
        const range = { ...(date_from && { date_from }), ...(date_to && { date_to }) };
        const filters = { ...dashboard.filters, ...range };
        const shared = sharing.of(dashboard.id);
        return {
          now: clock.now(),
          timezone: projectWith(dashboard.project).timezone,
          shared_at: shared?.enabled ? `/shared/${shared.access_token}` : null,
          dashboard: await views.shared(dashboard, { filters }),
        };
      },
    }),
    row({
      method: "POST",
      path: "/__sim/insights",
      access: "control",
      summary: "Makes an insight, on a dashboard if one is named",
      body: InsightOrder,
      reply: NewInsight,
      errors: [404, 409],
      handle: ({ body }) => save(body),
    }),
  ];
});
