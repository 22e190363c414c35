import { z } from "zod";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply, withHeaders } from "../../http/reply.ts";
import type { Note } from "../../model/traffic.ts";
import { hasFeature } from "../access.ts";
import { openRights } from "../dashboards/rights.ts";
import { DashboardDetail, openDashboardViews } from "../dashboards/show.ts";
import type { ResourceDesk } from "../desk.ts";
import { jsonSchemaOf } from "../row.ts";
import { openSharing } from "./configurations.ts";
import { dashboardPage, noticePage } from "./page.ts";
import { pageSettings, shownSettings } from "./settings.ts";
import { openViewer, type SharedDashboard } from "./viewer.ts";

const SharedData = z
  .object({
    type: z.enum(["scene", "embed"]),
    accessToken: z.string(),
    dashboard: DashboardDetail,
    themes: z.array(z.json()),
    whitelabel: z.literal(true).optional(),
    noHeader: z.literal(true).optional(),
    showInspector: z.literal(true).optional(),
    legend: z.literal(true).optional(),
    detailed: z.literal(true).optional(),
    hideExtraDetails: z.literal(true).optional(),
    theme: z.enum(["light", "dark", "system"]).optional(),
  })
  .meta({ title: "SharedDashboard" });

/** Addresses of shared pages; embedded ones may stand in frames. */
const rows = [
  { path: "/shared/:token", summary: "A shared dashboard, without a key", isEmbedded: false },
  { path: "/shared_dashboard/:token", summary: "The same at its old address", isEmbedded: false },
  { path: "/embedded/:token", summary: "A shared dashboard for a frame", isEmbedded: true },
];

/** The address without its query, of one page. */
interface Address {
  token: string;
  /** What stands behind the first dot: `json`, `png`; any other is the page itself. */
  format: string | undefined;
}

function addressIn(call: Call): Address {
  const [token = "", format] = (call.params.token ?? "").split(".");
  return { token, format };
}

/**
 * What a sharing token opens: a page, or its data with `.json`. Upstream PostHog/posthog
 * posthog/api/sharing.py; flags in the query count whatever the age of the configuration. As there, CORS stops at /api.
 */
export function publicSharingEndpoints(desk: ResourceDesk): Endpoint[] {
  const viewer = openViewer(desk);
  const views = openDashboardViews(desk, { rights: openRights(desk), sharing: openSharing(desk) });

  const settingsOf = ({ configuration, organization }: SharedDashboard, call: Call) => {
    const settings = pageSettings(configuration.settings, call.query);
    const mayHide = hasFeature(organization, "white_labelling");
    return { ...settings, whitelabel: settings.whitelabel === true && mayHide };
  };

  function dataOf(shared: SharedDashboard, call: Call, isEmbedded: boolean, token: string): Reply {
    const isEmbed = isEmbedded || call.query.has("embedded");
    const dashboard = views.shared(shared.dashboard);
    const data: z.infer<typeof SharedData> = {
      type: isEmbed ? "embed" : "scene",
      accessToken: token,
      dashboard,
      themes: [],
      ...shownSettings(settingsOf(shared, call)),
    };
    return withHeaders(json(data), "cache-control", "no-store");
  }

  function open(shared: SharedDashboard, call: Call, isEmbedded: boolean, { token, format }: Address): Reply {
    if (shared.configuration.password_required) {
      const text = "It needs a password, and phx-sim does not emulate passwords. Share it without one.";
      return noticePage(200, "This dashboard is protected", text, isEmbedded);
    }
    if (format === "png") {
      return noticePage(404, "No image", "phx-sim does not draw images of dashboards.", isEmbedded);
    }
    viewer.saw(shared.dashboard);
    if (format === "json") return dataOf(shared, call, isEmbedded, token);
    const dashboard = views.shared(shared.dashboard);
    return dashboardPage(dashboard, settingsOf(shared, call), isEmbedded);
  }

  const notThere = (isEmbedded: boolean): Reply<Note> => ({
    ...noticePage(404, "Page not found", "Nothing is shared here, or not any more.", isEmbedded),
    note: { rejected: { reason: "not_found", detail: "no enabled sharing configuration has this token" } },
  });

  /** For the journal; the page tells the reader. */
  const noteOf = (reply: Reply, project: number): Note => ({
    project,
    ...(reply.status === 404 && { rejected: { reason: "not_found", detail: "images are not made" } }),
  });

  return rows.map(({ path, summary, isEmbedded }) => ({
    methods: ["GET"],
    path,
    family: "service",
    cors: false,
    summary,
    docs: () => ({
      replies: {
        200: {
          description: "With `.json` its data, else a page",
          schema: jsonSchemaOf(SharedData, "output"),
          type: "text/html",
        },
        404: { description: "A page that says so", type: "text/html" },
      },
    }),
    handle(call): Reply<Note> {
      // A scenario's tokens are no secrets: they are written in it, or follow from its names.
      desk.keys.checkHost(call);
      const address = addressIn(call);
      const shared = viewer.find(address.token);
      if (!shared) return notThere(isEmbedded);
      const reply = open(shared, call, isEmbedded, address);
      return { ...reply, note: noteOf(reply, shared.dashboard.project) };
    },
  }));
}
