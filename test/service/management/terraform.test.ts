import { describe, expect, test } from "vitest";
import { resourceOf } from "../../../src/state/documents/resources.ts";
import { dashboardKind, insightKind } from "../../../src/state/documents/schemas/dashboard.ts";
import { type Answer, manage } from "./manage.ts";
import { acme, startedAt, twoOrganizations, uuidOf } from "./world.ts";

/**
 * The requests of the service's Terraform provider, resource by resource: paths, methods and fields, with the nulls and
 * empty lists that it sends. Upstream PostHog/terraform-provider-posthog internal/httpclient.
 */

const project = "/api/projects/1";
const environment = "/api/environments/1";
const organization = `/api/organizations/${acme}`;
const [paid, sent] = [uuidOf("paid"), uuidOf("sent")];
const [contact, address] = [uuidOf("contact"), uuidOf("address")];
const editors = uuidOf("editors");
const ben = uuidOf("ben@example.test");

function sim() {
  const world = twoOrganizations();
  world.insights = [insightKind.blank({ id: 1, short_id: "aaaaaaaa", project: 1, name: "Visits" }, startedAt)];
  world.dashboards = [dashboardKind.blank({ id: 1, project: 1, name: "Board" }, startedAt)];
  world.resources = [
    resourceOf("event_definitions", 1, paid, { name: "paid" }),
    resourceOf("event_definitions", 1, sent, { name: "sent" }),
    resourceOf("schema_property_groups", 1, contact, { name: "Contact", created_at: startedAt }),
    resourceOf("schema_property_groups", 1, address, { name: "Address", created_at: startedAt }),
    {
      ...resourceOf("roles", 1, editors, { name: "Editors", created_at: startedAt }),
      id: `roles/${acme}/${editors}`,
      project: null,
      organization: acme,
    },
  ];
  return manage({ world });
}

type Sim = ReturnType<typeof sim>;

const asked = { headers: { "user-agent": "posthog/terraform-provider; version: 1.0.0" } };

interface Row {
  readonly list: string;
  readonly create: object;
  /** Absent if the provider replaces the resource. */
  readonly change?: object;
  readonly method?: "PUT";
  /** The body that deletes it, by PATCH; without it DELETE is sent. */
  readonly deleted?: object;
  /** What responses have for what was sent, where it is not the same. */
  readonly shown?: (sent: Record<string, unknown>) => object;
  /** The provider reads the list and looks for the id. */
  readonly isListed?: true;
  /** The response has the deleted resource with a mark, which the provider looks for. */
  readonly stays?: true;
}

const survey = {
  name: "How was it?",
  type: "popover",
  linked_flag_id: null,
  linked_insight_id: null,
  questions: [{ type: "open", question: "Well?" }],
  responses_limit: null,
  iteration_count: null,
  iteration_frequency_days: null,
  response_sampling_interval: null,
  response_sampling_limit: null,
};

const subscription = {
  target_type: "email",
  target_value: "ada@example.test",
  integration_id: null,
  insight: 1,
  dashboard_export_insights: [],
  frequency: "weekly",
  interval: 1,
  start_date: "2026-01-01T00:00:00Z",
  byweekday: [],
  bysetpos: null,
  enabled: true,
  title: "Visits",
};

const alert = {
  name: "Few",
  insight: 1,
  enabled: true,
  subscribed_users: [1],
  threshold: { configuration: { type: "absolute", bounds: { lower: 10 } } },
  condition: { type: "absolute_value" },
  config: { type: "TrendsAlertConfig", series_index: 0, check_ongoing_interval: false },
  calculation_interval: "daily",
  skip_weekend: true,
};

const rows: Readonly<Record<string, Row>> = {
  actions: {
    list: `${project}/actions/`,
    create: {
      name: "Paid",
      description: "",
      tags: ["money"],
      post_to_slack: false,
      slack_message_format: "",
      steps: [{ event: "paid" }],
    },
    change: { name: "Sent", steps: [{ event: "sent" }] },
    deleted: { deleted: true },
    shown: ({ steps, ...fields }) => ({ ...fields, steps: [expect.objectContaining((steps as object[])[0])] }),
    stays: true,
  },
  alerts: { list: `${environment}/alerts/`, create: alert, change: { ...alert, name: "Fewer", enabled: false } },
  cohorts: {
    list: `${project}/cohorts/`,
    create: {
      name: "Payers",
      description: "Who paid",
      filters: {
        properties: {
          type: "OR",
          values: [{ type: "AND", values: [{ key: "plan", type: "person", value: ["pro"], operator: "exact" }] }],
        },
      },
      is_static: false,
    },
    change: { name: "Customers", description: "Who paid once" },
    deleted: { deleted: true },
    stays: true,
  },
  dashboards: {
    list: `${project}/dashboards/`,
    create: { name: "Money", description: "What comes in", pinned: true, tags: ["money"] },
    change: { name: "Cash", description: "", pinned: false },
    deleted: { deleted: true },
  },
  event_schemas: {
    list: `${project}/event_schemas/`,
    create: { event_definition: paid, property_group_id: contact },
    change: { event_definition: paid, property_group_id: address },
    isListed: true,
  },
  feature_flags: {
    list: `${project}/feature_flags/`,
    create: {
      key: "new-page",
      name: "New page",
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
      tags: ["page"],
    },
    change: { key: "new-page", name: "The page", active: false },
    deleted: { key: "new-page", deleted: true },
    stays: true,
  },
  hog_functions: {
    list: `${environment}/hog_functions/`,
    create: {
      type: "destination",
      name: "Hook",
      description: "",
      enabled: true,
      hog: "return event",
      inputs_schema: [{ key: "url", type: "string", label: "URL" }],
      inputs: { url: { value: "https://example.test" } },
      filters: { events: [{ id: "paid", type: "events" }] },
    },
    change: { name: "Second hook", enabled: false },
    deleted: { deleted: true },
  },
  insights: {
    list: `${project}/insights/`,
    create: {
      name: "Sales",
      description: "",
      query: { kind: "InsightVizNode", source: { kind: "TrendsQuery", series: [{ kind: "EventsNode" }] } },
      tags: ["money"],
      dashboards: [1],
    },
    change: { name: "All sales", tags: ["all"] },
    deleted: { deleted: true },
    shown: ({ query: _query, ...fields }) => fields,
  },
  insight_variables: {
    list: `${project}/insight_variables/`,
    create: { name: "Limit", type: "Number", default_value: 10 },
    change: { name: "Limit", type: "List", default_value: "a", values: ["a", "b"] },
  },
  projects: {
    list: `${organization}/projects/`,
    create: { name: "Shop", timezone: "Europe/Berlin" },
    change: { name: "Store", timezone: "UTC" },
  },
  roles: { list: `${organization}/roles/`, create: { name: "Writers" }, change: { name: "Authors" } },
  role_memberships: { list: `${organization}/roles/${editors}/role_memberships/`, create: { user_uuid: ben } },
  schema_property_groups: {
    list: `${project}/schema_property_groups/`,
    create: {
      name: "Order",
      description: "What was bought",
      properties: [
        { name: "amount", property_type: "Numeric", is_required: true, is_optional_in_types: false },
        { name: "currency", property_type: "String", description: "ISO 4217" },
      ],
    },
    change: { name: "Purchase", properties: [{ name: "total", property_type: "Numeric" }] },
  },
  subscriptions: {
    list: `${project}/subscriptions/`,
    create: subscription,
    change: { ...subscription, frequency: "daily", byweekday: ["monday"], bysetpos: 1 },
    deleted: { deleted: true },
  },
  surveys: {
    list: `${project}/surveys/`,
    create: survey,
    change: { ...survey, name: "And now?", responses_limit: 10 },
    method: "PUT",
    shown: ({ linked_flag_id: _flag, questions: _questions, ...fields }) => fields,
  },
};

/** As the provider reads one; undefined if the list has none with the id. */
async function read(it: Sim, { list, isListed }: Row, id: string | number): Promise<Answer | undefined> {
  if (!isListed) return it.get(`${list}${id}/`, asked);
  const answer = await it.get(`${list}?event_definition=${paid}`, asked);
  const found = answer.json.results.find((one: { id: unknown }) => one.id === id);
  return found && { ...answer, json: found };
}

describe.each(Object.entries(rows))("%s", (_, row) => {
  const { list, create, change, method = "PATCH", deleted, shown = (it: object) => it, stays } = row;

  test("are created, read, changed, read and deleted", async () => {
    const it = sim();
    const created = await it.post(list, create, asked);
    expect([created.status, created.header("x-phx-ignored")]).toEqual([201, undefined]);
    const { id } = created.json;
    const target = `${list}${id}/`;
    expect(created.json).toMatchObject(shown({ ...create }));
    expect((await read(it, row, id))?.json).toMatchObject(shown({ ...create }));
    if (change) {
      const changed = await it.ask(method, target, { ...asked, body: change });
      expect([changed.status, changed.header("x-phx-ignored")]).toEqual([200, undefined]);
      expect((await read(it, row, id))?.json).toMatchObject(shown({ ...create, ...change }));
    }
    const gone = deleted ? await it.patch(target, deleted, asked) : await it.delete(target, asked);
    expect(gone.status).toBe(deleted ? 200 : 204);
    const last = await read(it, row, id);
    if (stays) expect([last?.status, last?.json.deleted]).toEqual([200, true]);
    else expect(last?.status ?? 404).toBe(404);
  });
});

test("organizations are found by @current and by their slugs", async () => {
  const it = sim();
  const current = await it.get("/api/organizations/@current/", asked);
  expect(current.json).toMatchObject({ id: acme, slug: "acme", name: "Acme" });
  const { results } = (await it.get("/api/organizations/", asked)).json;
  expect(results.map((one: { slug: string }) => one.slug)).toContain("acme");
});

test("settings of an environment are changed and read", async () => {
  const it = sim();
  const settings = {
    heatmaps_opt_in: true,
    autocapture_exceptions_opt_in: true,
    session_recording_opt_in: true,
    surveys_opt_in: false,
    cookieless_server_hash_mode: 2,
    autocapture_web_vitals_opt_in: true,
    capture_performance_opt_in: true,
    session_recording_network_payload_capture_config: { recordHeaders: true, recordBody: false },
    app_urls: ["https://app.example.test"],
    recording_domains: ["https://app.example.test"],
  };
  const changed = await it.patch(`${environment}/`, settings, asked);
  expect([changed.status, changed.header("x-phx-ignored")]).toEqual([200, undefined]);
  expect((await it.get(`${environment}/`, asked)).json).toMatchObject({ id: 1, ...settings });
});

test("members of an organization are listed, changed and removed", async () => {
  const it = sim();
  const levelOf = async () => {
    const { results } = (await it.get(`${organization}/members/`, asked)).json;
    return results.find((one: { user: { uuid: string } }) => one.user.uuid === ben)?.level;
  };
  expect(await levelOf()).toBe(8);
  const changed = await it.patch(`${organization}/members/${ben}/`, { level: 1 }, asked);
  expect(changed.json).toMatchObject({ level: 1, user: { uuid: ben } });
  expect(await levelOf()).toBe(1);
  expect((await it.delete(`${organization}/members/${ben}/`, asked)).status).toBe(204);
  expect(await levelOf()).toBeUndefined();
});

/** The paths of access controls and what the requests name; `member` is who gets a level. */
const member = uuidOf("membership ben");
const controls: Readonly<Record<string, readonly [path: string, subject: object, levels: [string, string]]>> = {
  "a project's": [`${project}/access_controls/`, { organization_member: member }, ["member", "admin"]],
  "a role's in a project": [`${project}/access_controls/`, { role: editors }, ["member", "admin"]],
  "all dashboards'": [
    `${project}/resource_access_controls/`,
    { resource: "dashboard", role: editors },
    ["viewer", "editor"],
  ],
  "a dashboard's": [
    `${project}/dashboards/1/access_controls/`,
    { resource: "dashboard", resource_id: "1", organization_member: member },
    ["viewer", "editor"],
  ],
};

test.each(Object.entries(controls))("%s access controls are set, read and taken back", async (_, control) => {
  const [path, subject, levels] = control;
  const it = sim();
  const { resource_id: _id, resource: _resource, ...who } = subject as Record<string, unknown>;
  const isTheirs = (one: Record<string, unknown>) => Object.entries(who).every(([name, id]) => one[name] === id);
  const level = async () => {
    const { json } = await it.get(path, asked);
    return json.access_controls.find(isTheirs)?.access_level;
  };
  for (const access_level of levels) {
    const set = await it.put(path, { access_level, ...subject }, asked);
    expect([set.status, set.json]).toEqual([200, expect.objectContaining({ access_level, ...who })]);
    expect(await level()).toBe(access_level);
  }
  expect((await it.put(path, { access_level: null, ...subject }, asked)).status).toBeLessThan(300);
  expect((await level()) ?? null).toBeNull();
});

test("an access control is claimed and released", async () => {
  const it = sim();
  const rule = { resource: "dashboard", role: editors };
  await it.put(`${project}/resource_access_controls/`, { access_level: "viewer", ...rule }, asked);
  const claim = (managed_by: string | null) =>
    it.put(`${project}/access_control_management/`, { ...rule, managed_by }, asked);
  expect((await claim("terraform")).json).toMatchObject({ managed_by: "terraform" });
  expect((await claim(null)).json).toMatchObject({ managed_by: null });
});

test("tiles of a dashboard are laid out", async () => {
  const it = sim();
  const added = await it.patch(`${project}/dashboards/1/`, { tiles: [{ text: { body: "Hello" } }] }, asked);
  expect(added.json.tiles).toHaveLength(1);
  const [{ id }] = added.json.tiles;
  const layouts = { sm: { x: 0, y: 0, w: 6, h: 2 } };
  await it.patch(`${project}/dashboards/1/`, { tiles: [{ id, color: "blue", layouts }] }, asked);
  const { json } = await it.get(`${project}/dashboards/1/`, asked);
  expect(json.tiles).toMatchObject([{ id, color: "blue", layouts, text: { body: "Hello" } }]);
  await it.patch(`${project}/dashboards/1/`, { tiles: [{ id, deleted: true }] }, asked);
  expect((await it.get(`${project}/dashboards/1/`, asked)).json.tiles).toEqual([]);
});

test("event definitions are made, found by name and read", async () => {
  const it = sim();
  const path = `${project}/event_definitions/`;
  const made = await it.post(path, { name: "refunded" }, asked);
  const { results } = (await it.get(`${path}?search=refunded`, asked)).json;
  expect(results.map((one: { id: string; name: string }) => [one.id, one.name])).toEqual([[made.json.id, "refunded"]]);
  expect((await it.get(`${path}${made.json.id}/`, asked)).json.name).toBe("refunded");
  expect((await it.delete(`${path}${made.json.id}/`, asked)).status).toBe(204);
  expect((await it.get(`${path}${made.json.id}/`, asked)).status).toBe(404);
});
