import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { wireTime } from "../../model/time.ts";
import type { Dashboard, SharingConfiguration } from "../../model/world.ts";
import { denied, hasFeature } from "../access.ts";
import { fieldsOf } from "../body.ts";
import { type Asker, liveDashboard, openRights } from "../dashboards/rights.ts";
import type { ResourceDesk } from "../desk.ts";
import { boolean } from "../fields.ts";
import { newAccessToken } from "../new-keys.ts";
import { projectEndpoints, type Request } from "../row.ts";
import { openSharing } from "./configurations.ts";
import { settingsField } from "./settings.ts";

const SharingShape = z
  .object({
    created_at: z.string().nullable(),
    enabled: z.boolean(),
    access_token: z.string(),
    settings: z.record(z.string(), z.json()).nullable(),
    password_required: z.boolean(),
    share_passwords: z.array(z.json()),
  })
  .meta({ title: "SharingConfiguration" });

const Changes = z.object({
  enabled: boolean().optional(),
  settings: settingsField.optional(),
  password_required: boolean().optional(),
});
type Changes = z.infer<typeof Changes>;

/** A configuration; one that is not stored was not created. */
type Shown = Omit<SharingConfiguration, "created_at"> & { created_at: string | null };

/** How long a replaced token still opens the page, in ms. */
const grace = 5 * 60_000;

/**
 * Whether and how a dashboard is shared with whoever has its link.
 * Upstream PostHog/posthog posthog/api/sharing.py, posthog/models/sharing_configuration.py.
 */
export function sharingEndpoints(desk: ResourceDesk): Endpoint[] {
  const sharing = openSharing(desk);
  const rights = openRights(desk);
  const path = "/dashboards/:dashboard_id/sharing";

  const show = (it: Shown): z.infer<typeof SharingShape> => ({
    created_at: it.created_at,
    enabled: it.enabled,
    access_token: it.access_token,
    settings: it.settings,
    password_required: it.password_required,
    share_passwords: [],
  });

  /** What a dashboard has that was never shared: it is stored with the first change. */
  const unsaved = (dashboard: Dashboard) => ({
    id: desk.ids.uuid(),
    dashboard: dashboard.id,
    created_at: null,
    enabled: false,
    access_token: newAccessToken(),
    settings: null,
    password_required: false,
    former_tokens: [],
  });

  const dashboardOf = ({ param }: Pick<Request<unknown>, "param">, project: { id: number }) =>
    liveDashboard(desk, project.id, param("dashboard_id"), "Dashboard");

  /** @throws SimError permission_denied */
  function requireRight(dashboard: Dashboard, asker: Asker, isEnabling: boolean): void {
    if (isEnabling && !asker.organization.allow_publicly_shared_resources) {
      throw denied("Public sharing is disabled for this organization.");
    }
    rights.requireEdit(dashboard, asker);
  }

  function checkPassword(wanted: boolean, { organization }: Asker): void {
    if (wanted && !hasFeature(organization, "advanced_permissions")) {
      throw denied("Sharing with password requires the Advanced Permissions feature");
    }
  }

  const put = (configuration: SharingConfiguration): SharingConfiguration =>
    desk.worlds.change((draft) => draft.put("sharing_configurations", configuration));

  function change(dashboard: Dashboard, { enabled, settings, password_required }: Changes) {
    const before = sharing.of(dashboard.id) ?? unsaved(dashboard);
    return put({
      ...before,
      created_at: before.created_at ?? wireTime(desk.clock.now()),
      ...(enabled !== undefined && { enabled }),
      ...(settings !== undefined && { settings }),
      ...(password_required !== undefined && { password_required }),
    });
  }

  /** The replaced tokens that still work, the one that is replaced now among them. */
  function formerTokens(it: SharingConfiguration, now: number): SharingConfiguration["former_tokens"] {
    return [
      ...it.former_tokens.filter(({ expires_at }) => Date.parse(expires_at) > now),
      { access_token: it.access_token, expires_at: wireTime(now + grace) },
    ];
  }

  function refresh(dashboard: Dashboard): SharingConfiguration {
    const now = desk.clock.now();
    const before = sharing.of(dashboard.id);
    return put({
      ...(before ?? unsaved(dashboard)),
      created_at: wireTime(now),
      access_token: newAccessToken(),
      former_tokens: before ? formerTokens(before, now) : [],
    });
  }

  return [
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path,
      summary: "How a dashboard is shared; a new token each time for one that never was",
      contract: "GET /api/projects/:project_id/dashboards/:dashboard_id/sharing",
      scope: "sharing_configuration:read",
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(request, request.project);
        return show(sharing.of(dashboard.id) ?? unsaved(dashboard));
      },
    }),
    ...projectEndpoints<Changes>(desk, {
      methods: ["PATCH"],
      path,
      summary: "Shares a dashboard, or stops sharing it",
      scope: "sharing_configuration:write",
      body: Changes,
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(request, request.project);
        const sent = fieldsOf(request.call);
        requireRight(dashboard, request, Boolean(sent.enabled));
        checkPassword(Boolean(sent.password_required), request);
        return show(change(dashboard, request.body()));
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: `${path}/refresh`,
      summary: "Gives a shared dashboard a new token; the old one works for five more minutes",
      scope: "sharing_configuration:write",
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(request, request.project);
        requireRight(dashboard, request, false);
        return show(refresh(dashboard));
      },
    }),
  ];
}
