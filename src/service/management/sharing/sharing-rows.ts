import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { derived } from "../../../state/documents/derived.ts";
import { boolean, json } from "../../../state/documents/lenient-fields.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Dashboard, SharingConfiguration } from "../../../state/documents/world.ts";
import { denied, hasFeature } from "../../api-frame/access.ts";
import { fieldsOf, given } from "../../api-frame/body.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { shownAs } from "../../api-frame/fields.ts";
import { inProject, managementRow } from "../../api-frame/row.ts";
import { type Asker, dashboardOf, dashboardPath, openRights } from "../collaborators.ts";
import { newAccessToken } from "../keys.ts";

/** Stored sharing configurations by dashboard, through an index. A dashboard that was never shared has none. */
export function openSharing(desk: ResourceDesk) {
  const byDashboard = derived(
    desk.worlds,
    ["sharing_configurations"],
    () => new Map(desk.worlds.current.sharing_configurations.map((it) => [it.dashboard, it])),
  );
  const of = (dashboard: number): SharingConfiguration | undefined => byDashboard().get(dashboard);
  return { of, isShared: (dashboard: number): boolean => of(dashboard)?.enabled ?? false };
}

export type Sharing = ReturnType<typeof openSharing>;

/** What a shared page may have, in the order in which the service adds it to a page's data. */
const switches = ["whitelabel", "noHeader", "showInspector", "legend", "detailed", "hideExtraDetails"] as const;
type Switch = (typeof switches)[number];
type Theme = "light" | "dark" | "system";

/** How a shared page looks. What is not set is off. */
type PageSettings = { [N in Switch]?: boolean } & { theme?: Theme };

const isTheme = (value: unknown): value is Theme => value === "light" || value === "dark" || value === "system";

const Settings = z.object({
  ...Object.fromEntries(switches.map((name) => [name, boolean().nullish()])),
  theme: z.custom(isTheme).nullish(),
});

/** Settings in a body: null, or an object, kept without unknown ones. Upstream PostHog/posthog posthog/api/sharing.py. */
const settingsField = json().transform((value, context): JsonObject | null => {
  if (value === null) return null;
  const { data } = safeParse(Settings, value);
  if (data) return Object.fromEntries(Object.entries(data).filter(([, it]) => (it ?? null) !== null)) as JsonObject;
  context.addIssue({ code: "custom", params: { detail: "Invalid settings format" } });
  return z.NEVER;
});

const off = new Set(["0", "false", "no", "off"]);

/** The kept settings under those that the address asks for: `?noHeader`, `?legend=false`. */
export function pageSettings(kept: JsonObject | null, query: URLSearchParams): PageSettings {
  const settings: PageSettings = {};
  for (const name of switches) {
    const asked = query.get(name);
    settings[name] = asked === null ? kept?.[name] === true : !off.has(asked.trim().toLowerCase());
  }
  const theme = [query.get("theme"), kept?.theme].find(isTheme);
  return theme ? { ...settings, theme } : settings;
}

/** The enabled settings, as the page's data has them. */
export function shownSettings(settings: PageSettings): { [N in Switch]?: true } & { theme?: Theme } {
  const on = switches.filter((name) => settings[name] === true).map((name) => [name, true]);
  return { ...Object.fromEntries(on), ...(settings.theme && { theme: settings.theme }) };
}

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

const show = (it: Shown) => shownAs(SharingShape, { ...it, share_passwords: [] });

/** The replaced tokens that still work, the one that is replaced now among them. */
const formerTokens = (it: SharingConfiguration, now: number): SharingConfiguration["former_tokens"] => [
  ...it.former_tokens.filter(({ expires_at }) => Date.parse(expires_at) > now),
  { access_token: it.access_token, expires_at: wireTime(now + grace) },
];

function checkPassword(wanted: boolean, { organization }: Asker): void {
  if (wanted && !hasFeature(organization, "advanced_permissions")) {
    throw denied("Sharing with password requires the Advanced Permissions feature");
  }
}

/**
 * Whether and how a dashboard is shared by link.
 * Upstream PostHog/posthog posthog/api/sharing.py, posthog/models/sharing_configuration.py.
 */
export function sharingEndpoints(desk: ResourceDesk): Endpoint[] {
  const sharing = openSharing(desk);
  const rights = openRights(desk);
  const path = `${dashboardPath}/sharing`;

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

  /** @throws SimError permission_denied */
  function requireRight(dashboard: Dashboard, asker: Asker, isEnabling: boolean): void {
    if (isEnabling && !asker.organization.allow_publicly_shared_resources) {
      throw denied("Public sharing is disabled for this organization.");
    }
    rights.requireEdit(dashboard, asker);
  }

  const put = (configuration: SharingConfiguration): SharingConfiguration =>
    desk.worlds.change((draft) => draft.put("sharing_configurations", configuration));

  function change(dashboard: Dashboard, changes: Changes) {
    const before = sharing.of(dashboard.id) ?? unsaved(dashboard);
    return put({
      ...before,
      created_at: before.created_at ?? wireTime(desk.clock.now()),
      ...given(changes, ["enabled", "settings", "password_required"]),
    });
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
    ...managementRow(desk, {
      method: "GET",
      path,
      summary: "How a dashboard is shared; a new token each time for one that never was",
      contract: true,
      access: inProject("sharing_configuration:read"),
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(desk, request);
        return show(sharing.of(dashboard.id) ?? unsaved(dashboard));
      },
    }),
    ...managementRow(desk, {
      method: "PATCH",
      path,
      summary: "Shares a dashboard, or stops sharing it",
      access: inProject("sharing_configuration:write"),
      body: Changes,
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(desk, request);
        const sent = fieldsOf(request.call);
        requireRight(dashboard, request, Boolean(sent.enabled));
        checkPassword(Boolean(sent.password_required), request);
        return show(change(dashboard, request.body()));
      },
    }),
    ...managementRow(desk, {
      method: "POST",
      path: `${path}/refresh`,
      summary: "Gives a shared dashboard a new token; the old one works for five more minutes",
      access: inProject("sharing_configuration:write"),
      reply: SharingShape,
      handle(request) {
        const dashboard = dashboardOf(desk, request);
        requireRight(dashboard, request, false);
        return show(refresh(dashboard));
      },
    }),
  ];
}
