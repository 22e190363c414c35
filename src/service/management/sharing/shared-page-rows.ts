import { readFile } from "node:fs/promises";
import { z } from "zod";
import { builtFile, htmlWithData } from "../../../kernel/base/built-file.ts";
import { onFirstUse } from "../../../kernel/base/on-first-use.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { json, type Reply, withHeaders } from "../../../kernel/http/reply.ts";
import { jsonSchemaOf } from "../../../kernel/http/row.ts";
import { derived } from "../../../state/documents/derived.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Dashboard, Organization, SharingConfiguration } from "../../../state/documents/world.ts";
import { hasFeature } from "../../api-frame/access.ts";
import { openRights } from "../collaborators.ts";
import { DashboardDetail, openDashboardViews } from "../dashboards/dashboard-views.ts";
import type { ManagementDesk } from "../desk.ts";
import { openSharing, pageSettings, shownSettings } from "./sharing-rows.ts";

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
type SharedData = z.infer<typeof SharedData>;

/** What the page of a shared dashboard gets: the dashboard, or a message. */
type SharedPageData =
  /** `source`: where the page reads the same data again; null: it does not. */
  (SharedData & { readonly source: string | null }) | { readonly notice: { title: string; text: string } };

/** A host of a content security policy; addresses in brackets cannot be written in one. */
const hostShape = /^[\w.-]+(?::\d+)?$/;

/**
 * The page may connect to its own data and to nothing else of the sim: neither the control API nor the management API.
 * Its scripts and styles are in the policy that the page itself has.
 */
function policyOf(connections: string, isFrameable: boolean): string {
  const rules = [`connect-src ${connections}`, "base-uri 'none'", "form-action 'none'"];
  return [...rules, ...(isFrameable ? [] : ["frame-ancestors 'none'"])].join("; ");
}

interface SharedPage {
  readonly call: Call;
  readonly data: SharedPageData;
  readonly status?: number;
  /** True if other pages may show it in a frame. */
  readonly isFrameable: boolean;
}

/** Pages for people: one file each, with its code, its styles and its data. */
function openSharedPages() {
  const template = onFirstUse(async () => readFile(builtFile("shared/shared.html"), "utf8"));
  return async ({ call, data, status = 200, isFrameable }: SharedPage): Promise<Reply> => {
    const { host = "" } = call.headers;
    const source = "source" in data && hostShape.test(host) ? data.source : null;
    return {
      status,
      headers: [
        ...["content-type", "text/html; charset=utf-8"],
        ...["content-security-policy", policyOf(source === null ? "'none'" : host + source, isFrameable)],
        ...["referrer-policy", "no-referrer"],
        ...["x-content-type-options", "nosniff"],
        ...["cache-control", "no-store"],
        ...(isFrameable ? [] : ["x-frame-options", "DENY"]),
      ],
      body: htmlWithData(await template(), "notice" in data ? data : { ...data, source }),
    };
  };
}

/** A dashboard that can be seen without a key. */
interface SharedDashboard {
  readonly dashboard: Dashboard;
  readonly organization: Organization;
  readonly configuration: SharingConfiguration;
}

/** Where a token leads; a replaced one only for a while. */
interface Way {
  readonly configuration: SharingConfiguration;
  /** ms since the epoch. */
  readonly until: number;
}

/** An access within this time after another one is not recorded, ms. */
const accessEvery = 60_000;

/** Finds shared dashboards by their tokens, through an index. */
function openViewer(desk: ManagementDesk) {
  const { worlds } = desk;
  const ways = derived(worlds, ["sharing_configurations"], () => {
    const index = new Map<string, Way>();
    for (const configuration of worlds.current.sharing_configurations) {
      for (const { access_token, expires_at } of configuration.former_tokens) {
        index.set(access_token, { configuration, until: Date.parse(expires_at) });
      }
      index.set(configuration.access_token, { configuration, until: Number.POSITIVE_INFINITY });
    }
    return index;
  });

  function placeOf(dashboard: Dashboard): Organization | undefined {
    const project = worlds.projectById(dashboard.project);
    return project && worlds.get("organizations", project.organization);
  }

  return {
    /** What the token opens now; undefined when sharing is off, expired or forbidden, or the dashboard deleted. */
    find(token: string): SharedDashboard | undefined {
      const way = ways().get(token);
      if (!way?.configuration.enabled || way.until <= desk.clock.now()) return undefined;
      const dashboard = worlds.get("dashboards", way.configuration.dashboard);
      if (!dashboard || dashboard.deleted) return undefined;
      const organization = placeOf(dashboard);
      if (!organization?.allow_publicly_shared_resources) return undefined;
      return { dashboard, organization, configuration: way.configuration };
    },
    /** Records the access to the dashboard; a page that is open reads its data again and again. */
    saw(dashboard: Dashboard): void {
      const now = desk.clock.now();
      const before = dashboard.last_accessed_at === null ? Number.NaN : Date.parse(dashboard.last_accessed_at);
      if (Math.abs(now - before) < accessEvery) return;
      worlds.change((draft) => draft.put("dashboards", { ...dashboard, last_accessed_at: wireTime(now) }));
    },
  };
}

/** Addresses of shared pages; embedded ones may be shown in frames. */
const rows = [
  { path: "/shared/:token", summary: "A shared dashboard, without a key", isEmbedded: false },
  { path: "/shared_dashboard/:token", summary: "The same at its old address", isEmbedded: false },
  { path: "/embedded/:token", summary: "A shared dashboard for a frame", isEmbedded: true },
];

/** The address without its query, of one page. */
interface Address {
  token: string;
  /** What follows the first dot: `json`, `png`; anything else is the page itself. */
  format: string | undefined;
}

interface Visit extends Address {
  readonly call: Call;
  readonly isEmbedded: boolean;
  readonly root: string;
}

function addressIn(call: Call): Address {
  const [token = "", format] = (call.params.token ?? "").split(".");
  return { token, format };
}

/**
 * What a sharing token opens: a page, or its data with `.json`. Upstream PostHog/posthog
 * posthog/api/sharing.py; flags in the query count whatever the age of the configuration. As there, CORS stops at /api.
 */
export function publicSharingEndpoints(desk: ManagementDesk): Endpoint[] {
  const viewer = openViewer(desk);
  const views = openDashboardViews(desk, { rights: openRights(desk), sharing: openSharing(desk) });
  const page = openSharedPages();

  const settingsOf = ({ configuration, organization }: SharedDashboard, call: Call) => {
    const settings = pageSettings(configuration.settings, call.query);
    const mayHide = hasFeature(organization, "white_labelling");
    return { ...settings, whitelabel: settings.whitelabel === true && mayHide };
  };

  async function dataOf(shared: SharedDashboard, { call, isEmbedded, token }: Visit): Promise<SharedData> {
    const isEmbed = isEmbedded || call.query.has("embedded");
    return {
      type: isEmbed ? "embed" : "scene",
      accessToken: token,
      dashboard: await views.shared(shared.dashboard),
      themes: [],
      ...shownSettings(settingsOf(shared, call)),
    };
  }

  const notice = ({ call, isEmbedded }: Visit, status: number, title: string, text: string): Promise<Reply> =>
    page({ call, data: { notice: { title, text } }, status, isFrameable: isEmbedded });

  async function open(shared: SharedDashboard, visit: Visit): Promise<Reply> {
    const { call, isEmbedded, token, format, root } = visit;
    if (shared.configuration.password_required) {
      const text = "It needs a password, and phx-sim does not emulate passwords. Share it without one.";
      return notice(visit, 200, "This dashboard is protected", text);
    }
    if (format === "png") return notice(visit, 404, "No image", "phx-sim does not draw images of dashboards.");
    viewer.saw(shared.dashboard);
    const data = await dataOf(shared, visit);
    if (format === "json") return withHeaders(json(data), "cache-control", "no-store");
    return page({ call, data: { ...data, source: `${root}/${token}.json` }, isFrameable: isEmbedded });
  }

  const refused = (detail: string) => ({ reason: "not_found", detail });

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
        404: { description: "A page with the message", type: "text/html" },
      },
    }),
    async handle(call) {
      // A scenario's tokens are no secrets: they are written in it, or follow from its names.
      desk.keys.checkHost(call);
      const visit: Visit = { call, isEmbedded, root: path.replace("/:token", ""), ...addressIn(call) };
      const shared = viewer.find(visit.token);
      if (!shared) {
        call.record.rejected = refused("no enabled sharing configuration has this token");
        return notice(visit, 404, "Page not found", "Nothing is shared here, or not any more.");
      }
      call.record.project = shared.dashboard.project;
      const reply = await open(shared, visit);
      if (reply.status === 404) call.record.rejected = refused("images are not made");
      return reply;
    },
  }));
}
