import { describe, expect, test } from "vitest";
import { resourceKinds } from "../../../src/service/management/resources/kinds.ts";
import { actionOf } from "../../../src/service/query/named-documents.ts";
import { blankDashboard, blankInsight } from "../../../src/state/documents/blank.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import { manage } from "./manage.ts";
import { acme, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const project = "/api/projects/1";
const organization = `/api/organizations/${acme}`;

/** Acme with insight 1, dashboard 1 and insight 2 of another organization. */
function sim() {
  const world = twoOrganizations();
  world.insights = [
    blankInsight({ id: 1, short_id: "aaaaaaaa", project: 1, name: "Visits" }, startedAt),
    blankInsight({ id: 2, short_id: "bbbbbbbb", project: 3 }, startedAt),
  ];
  world.dashboards = [blankDashboard({ id: 1, project: 1, name: "Board" }, startedAt)];
  return manage({ world });
}

/** A body that each kind accepts, and one that it refuses, with the field to blame. */
const bodies: Readonly<Record<string, readonly [good: object, bad: object, attr: string]>> = {
  actions: [
    { name: "Paid", steps: [{ event: "paid" }] },
    { steps: [{ url_matching: "near" }] },
    "steps__0__url_matching",
  ],
  annotations: [{ content: "Release", scope: "project" }, { date_marker: "soon" }, "date_marker"],
  alerts: [
    { insight: 1, subscribed_users: [1], threshold: { configuration: { type: "absolute", bounds: { lower: 1 } } } },
    { insight: 2, subscribed_users: [], threshold: { configuration: {} } },
    "insight",
  ],
  hog_functions: [{ type: "destination", hog: "return event" }, { type: "destination" }, "hog"],
  subscriptions: [
    {
      insight: 1,
      target_type: "email",
      target_value: "a@b.test",
      frequency: "weekly",
      start_date: "2026-01-01T00:00:00Z",
    },
    { insight: 1, target_type: "fax", target_value: "1", frequency: "weekly", start_date: "2026-01-01T00:00:00Z" },
    "target_type",
  ],
  notebooks: [{ title: "Notes", content: { type: "doc" } }, { version: "x" }, "version"],
  insight_variables: [{ name: "My size", type: "Number" }, { name: "My size", type: "Colour" }, "type"],
  schema_property_groups: [
    { name: "Order", properties: [{ name: "total", property_type: "Numeric" }] },
    { name: "Order", properties: [{ name: "total", property_type: "Money" }] },
    "properties__0__property_type",
  ],
  groups_metrics: [{ name: "Seats", filters: {} }, { name: "Seats", filters: [] }, "filters"],
  roles: [{ name: "Editors" }, { name: "" }, "name"],
  invites: [{ target_email: "new@example.TEST" }, { target_email: "new" }, "target_email"],
};

const places: Readonly<Record<string, string>> = {
  groups_metrics: `${project}/groups_types/0/metrics`,
  roles: `${organization}/roles`,
  invites: `${organization}/invites`,
};

const written = resourceKinds.filter((it) => bodies[it.kind]);
const has = (methods: readonly string[] | undefined, method: string) => methods?.includes(method) ?? true;

describe.each(written.map((it) => [it.kind, it] as const))("%s", (name, kind) => {
  const [good, bad, attr] = bodies[name] ?? [{}, {}, ""];
  const list = places[name] ?? `${project}/${name}`;

  test("are created, listed, changed and deleted", async () => {
    const it = sim();
    const created = await it.post(`${list}/`, { ...good, nonsense: 1 });
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    expect(created.header("x-phx-ignored")).toBe("nonsense");
    const key = created.json.short_id ?? created.json.id;
    const listed = await it.get(`${list}/?type=destination`);
    expect(listed.json.results).toEqual([created.json]);
    if (has(kind.methods, "read")) expect((await it.get(`${list}/${key}/`)).json).toEqual(created.json);
    if (has(kind.methods, "change")) {
      const changed = await it.patch(`${list}/${key}/`, {});
      expect(changed.status).toBe(200);
      expect((await it.put(`${list}/${key}`, good)).status).toBe(200);
    }
    expect((await it.get(`${list}/999999`)).status).toBe(has(kind.methods, "read") ? 404 : 403);
    const removed =
      kind.deletion === "hard"
        ? await it.delete(`${list}/${key}`)
        : await it.patch(`${list}/${key}`, { deleted: true });
    expect(removed.status).toBe(kind.deletion === "hard" ? 204 : 200);
    expect((await it.get(list)).json.results).toEqual([]);
    if (kind.deletion !== "hard") {
      expect((await it.delete(`${list}/${key}`)).status).toBe(405);
      expect((await it.patch(`${list}/${key}`, { deleted: false })).status).toBe(200);
      expect((await it.get(list)).json.results).toHaveLength(1);
    }
    const world = JSON.parse(JSON.stringify(it.worlds.current));
    expect(WorldSchema.parse(world)).toEqual(world);
  });

  test("are refused with the field to blame", async () => {
    const it = sim();
    const { status, json } = await it.post(list, bad);
    expect([status, json.attr]).toEqual([400, attr]);
    expect(it.worlds.current.resources).toEqual([]);
  });

  test("need the scope, and a place that the caller may enter", async () => {
    const it = sim();
    const denied = await it.post(list, good, { key: "phx_nothing" });
    expect(denied.json.detail).toBe(`API key missing required scope '${kind.scope}:write'`);
    expect((await it.get(list, { key: "phx_nothing" })).json.detail).toContain(`'${kind.scope}:read'`);
    expect((await it.post(list, good, { key: "phx_eve" })).status).toBe(403);
  });
});

describe("actions", () => {
  const step = { event: "paid", properties: [{ key: "plan", value: "pro" }], url: "/pay", url_matching: "contains" };

  test("show what the service shows, without pages", async () => {
    const it = sim();
    const { json } = await it.post(`${project}/actions/`, { name: "Paid", tags: ["B", "a"], steps: [step] });
    expect(json).toEqual({
      id: 1,
      name: "Paid",
      description: "",
      tags: ["a", "b"],
      post_to_slack: false,
      slack_message_format: "",
      steps: [expect.objectContaining({ ...step, selector_regex: null, url_matching: "contains" })],
      created_at: "2026-03-04T05:06:07.089000Z",
      created_by: expect.objectContaining({ id: 1, email: "ada@example.test" }),
      deleted: false,
      is_calculating: false,
      last_calculated_at: "2026-03-04T05:06:07.089000Z",
      team_id: 1,
      is_action: true,
      bytecode_error: null,
      pinned_at: null,
      creation_context: null,
      user_access_level: "editor",
    });
    expect((await it.get(`${project}/actions/?limit=1`)).json).toEqual({ results: [json] });
  });

  test("have names of their own, until they are deleted", async () => {
    const it = sim();
    await it.post(`${project}/actions`, { name: "Paid" });
    expect((await it.post(`${project}/actions`, { name: "Paid" })).json).toEqual({
      type: "validation_error",
      code: "unique",
      detail: "This project already has an action with this name, ID 1",
      attr: "name",
    });
    expect((await it.post(`${project}/actions`, { name: " " })).json.code).toBe("blank");
    expect((await it.patch(`${project}/actions/1`, { name: "Paid" })).status).toBe(200);
    await it.patch(`${project}/actions/1`, { deleted: true });
    expect((await it.post(`${project}/actions`, { name: "Paid" })).json.id).toBe(2);
  });

  test("give their steps to queries", async () => {
    const it = sim();
    await it.post(`${project}/actions`, { name: "Paid", steps: [step] });
    expect(actionOf(it.worlds, 1, 1)?.steps).toEqual([step]);
    expect(actionOf(it.worlds, 2, 1)).toBeUndefined();
    await it.patch(`${project}/actions/1`, { deleted: true });
    expect(actionOf(it.worlds, 1, 1)).toBeUndefined();
  });
});

describe("annotations", () => {
  test("are listed by their dates, and narrowed", async () => {
    const it = sim();
    const add = (content: string, date_marker: string, more = {}) =>
      it.post(`${project}/annotations`, { content, date_marker, ...more });
    await add("first", "2026-01-01T00:00:00Z", { dashboard_item: 1, dashboard_id: 1 });
    await add("third", "2026-03-01T00:00:00Z", { scope: "organization" });
    await add("second", "2026-02-01T00:00:00Z", { scope: "project", hidden_in_user_interface: true });
    const contents = async (query: string, at = project) =>
      (await it.get(`${at}/annotations/?${query}`)).json.results.map((one: { content: string }) => one.content);
    expect(await contents("")).toEqual(["third", "second", "first"]);
    expect(await contents("scope=insight")).toEqual(["first"]);
    expect(await contents("date_from=2026-02-01&date_to=2026-02-28T00:00:00Z")).toEqual(["second"]);
    expect(await contents("hidden_in_user_interface=true")).toEqual(["second"]);
    expect(await contents("search=IR")).toEqual(["third", "first"]);
    // those of the organization belong to each of its projects
    expect(await contents("", "/api/projects/2")).toEqual(["third"]);
    expect((await it.get("/api/projects/2/annotations/2")).json.content).toBe("third");
    expect((await it.get("/api/projects/2/annotations/3")).status).toBe(404);
    expect((await it.get(`${project}/annotations/1`)).json).toMatchObject({
      insight_short_id: "aaaaaaaa",
      insight_name: "Visits",
      dashboard_name: "Board",
      created_by: { id: 1 },
    });
  });

  test.each([
    ["scope=moon", "Invalid scope: moon"],
    ["date_from=never", "Invalid date range: date_from must be a valid ISO 8601 date"],
    ["date_from=2026-02-01&date_to=2026-01-01", "Invalid date range: date_from must be before date_to"],
  ])("refuse %s", async (query, detail) => {
    expect((await sim().get(`${project}/annotations?${query}`)).json.detail).toBe(detail);
  });

  test.each([
    [{ scope: "recording" }, "Recording scope is deprecated", null],
    [{ dashboard_id: 9 }, "Dashboard not found.", "dashboard_id"],
    [{ dashboard_item: 2 }, 'Invalid pk "2" - object does not exist.', "dashboard_item"],
  ])("refuse %j", async (body, detail, attr) => {
    expect((await sim().post(`${project}/annotations`, body)).json).toMatchObject({ detail, attr });
  });
});

describe("roles", () => {
  test("have members, until they are deleted", async () => {
    const it = sim();
    const { json: role } = await it.post(`${organization}/roles/`, { name: "Editors" });
    expect(role).toEqual({
      id: expect.any(String),
      name: "Editors",
      created_at: "2026-03-04T05:06:07.089000Z",
      created_by: null,
      members: [],
      is_default: false,
    });
    const list = `${organization}/roles/${role.id}/role_memberships`;
    const user_uuid = uuidOf("ben@example.test");
    const { status, json: member } = await it.post(`${list}/`, { user_uuid });
    expect(status).toBe(201);
    expect(member).toMatchObject({
      role_id: role.id,
      user: { email: "ben@example.test" },
      organization_member: { level: 8, user: { uuid: user_uuid } },
    });
    expect(member).not.toHaveProperty("user_uuid");
    expect((await it.get(`${list}/${member.id}/`)).json).toEqual(member);
    expect((await it.get(`${organization}/roles/${role.id}`)).json.members).toEqual([member]);
    expect((await it.post(list, { user_uuid })).json.detail).toBe("User is already part of the role.");
    expect((await it.post(list, { user_uuid: uuidOf("eve@example.test") })).json.detail).toBe("User does not exist.");
    expect((await it.patch(`${list}/${member.id}`, {})).status).toBe(403);
    await it.delete(`${organization}/roles/${role.id}`);
    expect((await it.get(list)).status).toBe(404);
    expect(it.worlds.current.resources).toEqual([]);
  });

  test("are written by admins, each with another name", async () => {
    const it = sim();
    await it.post(`${organization}/roles`, { name: "Editors" });
    expect((await it.post(`${organization}/roles`, { name: "EDITORS" })).json.code).toBe("unique");
    const { status, json } = await it.post(`${organization}/roles`, { name: "x" }, { key: "phx_cleo" });
    expect([status, json.detail]).toEqual([403, "Your organization access level is insufficient."]);
    expect((await it.get(`${organization}/roles`, { key: "phx_cleo" })).json.count).toBe(1);
  });
});

test("invites replace earlier ones, and are not for members", async () => {
  const it = sim();
  const invite = (body: object, key = "phx_ada") => it.post(`${organization}/invites`, body, { key });
  await invite({ target_email: "new@example.test" });
  await invite({ target_email: "new@EXAMPLE.test", level: 8 });
  const { json } = await it.get(`${organization}/invites`);
  expect(json.results).toEqual([
    expect.objectContaining({
      target_email: "new@example.test",
      level: 8,
      is_expired: false,
      emailing_attempt_made: false,
    }),
  ]);
  expect((await invite({ target_email: "ben@example.test" })).json.detail).toContain("already belongs");
  expect((await invite({ target_email: "x@example.test", level: 8 }, "phx_cleo")).status).toBe(403);
});

describe("access controls", () => {
  const rules = (path: string) => `${project}${path}`;

  test("are set, listed and removed by PUT", async () => {
    const it = sim();
    const { json: role } = await it.post(`${organization}/roles`, { name: "Editors" });
    const rule = { access_level: "viewer", resource: "dashboard", role: role.id };
    const { status, json } = await it.put(rules("/resource_access_controls/"), rule);
    expect([status, json]).toEqual([
      200,
      {
        ...rule,
        resource_id: null,
        organization_member: null,
        created_by: null,
        created_at: "2026-03-04T05:06:07.089000Z",
        updated_at: "2026-03-04T05:06:07.089000Z",
      },
    ]);
    await it.put(rules("/resource_access_controls"), { ...rule, access_level: "editor" });
    await it.put(rules("/dashboards/1/access_controls"), { access_level: "none" });
    await it.put(rules("/access_controls"), { access_level: "member" });
    const listed = await it.get(rules("/resource_access_controls"));
    expect(listed.json).toEqual({
      access_controls: [{ ...json, access_level: "editor" }],
      available_access_levels: ["none", "viewer", "editor", "manager"],
      default_access_level: "editor",
      minimum_access_level: "none",
      maximum_access_level: "manager",
      user_access_level: "admin",
      user_can_edit_access_levels: true,
    });
    const ofDashboard = await it.get(rules("/dashboards/1/access_controls"));
    expect(ofDashboard.json.access_controls).toEqual([
      expect.objectContaining({ resource: "dashboard", resource_id: "1", access_level: "none" }),
    ]);
    const ofProject = await it.get(rules("/access_controls"));
    expect(ofProject.json).toMatchObject({
      access_controls: [{ resource: "project", resource_id: "1", access_level: "member" }],
      available_access_levels: ["none", "member", "admin"],
    });
    const claim = { resource: "dashboard", role: role.id, managed_by: "terraform" };
    const claimed = await it.put(rules("/access_control_management/"), claim);
    expect(claimed.json).toEqual({ managed_by: "terraform", managed_at: expect.any(String) });
    const removed = await it.put(rules("/resource_access_controls"), { ...rule, access_level: null });
    expect([removed.status, removed.text]).toEqual([204, ""]);
    expect((await it.get(rules("/resource_access_controls"))).json.access_controls).toEqual([]);
    expect((await it.put(rules("/access_control_management"), claim)).status).toBe(404);
  });

  const unknown = uuidOf("unknown");
  test.each([
    ["/resource_access_controls", { access_level: "viewer" }, "This field is required."],
    ["/resource_access_controls", { resource: "dashboard" }, "This field is required."],
    ["/access_controls", { access_level: "viewer" }, "Invalid access level. Must be one of: none, member, admin"],
    [
      "/resource_access_controls",
      { resource: "action", access_level: "none" },
      "Access level cannot be set below the minimum 'viewer' for action.",
    ],
    [
      "/resource_access_controls",
      { resource: "toolbar", access_level: "manager" },
      "Access level cannot be set above the maximum 'viewer' for toolbar.",
    ],
    ["/access_controls", { access_level: "none", role: unknown }, `Invalid pk "${unknown}" - object does not exist.`],
    ["/dashboards/9/access_controls", { access_level: "none" }, "Not found."],
  ])("%s refuses %j", async (path, body, detail) => {
    expect((await sim().put(rules(path), body)).json.detail).toBe(detail);
  });

  test("are for admins", async () => {
    const { json } = await sim().put(rules("/access_controls"), { access_level: "none" }, { key: "phx_cleo" });
    expect(json.detail).toBe("Must be admin to modify project permissions.");
  });
});

describe("alerts", () => {
  const alert = {
    insight: 1,
    name: "Few visits",
    subscribed_users: [1, 2],
    threshold: { configuration: { type: "absolute", bounds: { lower: 10 } } },
  };

  test("show their insight and users; a snooze ends at a whole hour", async () => {
    const it = sim();
    const { json } = await it.post(`${project}/alerts`, alert);
    expect(json).toMatchObject({
      insight: { id: 1, short_id: "aaaaaaaa", name: "Visits" },
      subscribed_users: [{ id: 1 }, { id: 2 }],
      threshold: { id: expect.any(String), name: "", configuration: alert.threshold.configuration },
      state: "Not firing",
      calculation_interval: "daily",
      checks: [],
      last_value: null,
    });
    const snoozed = await it.patch(`${project}/alerts/${json.id}`, { snoozed_until: "2h" });
    expect(snoozed.json).toMatchObject({
      state: "Snoozed",
      snoozed_until: "2026-03-04T07:00:00Z",
      threshold: json.threshold,
    });
    expect((await it.patch(`${project}/alerts/${json.id}`, { snoozed_until: null })).json.state).toBe("Not firing");
    expect((await it.get(`${project}/alerts?insight_id=2`)).json.count).toBe(0);
    expect((await it.get(`${project}/alerts?insight_id=1`)).json.count).toBe(1);
  });

  test.each([
    [{ subscribed_users: [9] }, 'Invalid pk "9" - object does not exist.', "subscribed_users"],
    [
      { subscribed_users: [5] },
      "User does not belong to the same organization as the alert's team.",
      "subscribed_users",
    ],
    [
      { threshold: { configuration: { type: "absolute", bounds: {} } } },
      "At least one threshold bound (lower or upper) must be set.",
      "threshold__configuration",
    ],
    [{ calculation_interval: "yearly" }, '"yearly" is not a valid choice.', "calculation_interval"],
  ])("refuse %j", async (more, detail, attr) => {
    expect((await sim().post(`${project}/alerts`, { ...alert, ...more })).json).toMatchObject({ detail, attr });
  });
});

describe("hog functions", () => {
  test("keep no secrets, and do not change their type", async () => {
    const it = sim();
    const body = {
      type: "destination",
      hog: "return event",
      inputs_schema: [
        { key: "token", type: "string", secret: true },
        { key: "url", type: "string" },
      ],
      inputs: { token: { value: "xoxb-1" }, url: { value: "https://a.test" } },
      template_id: "template-webhook",
    };
    const { json } = await it.post(`${project}/hog_functions`, body);
    expect(json).toMatchObject({
      inputs: { token: { secret: true }, url: { value: "https://a.test" } },
      template: { id: "template-webhook" },
      status: { state: 0, tokens: 0 },
      enabled: false,
    });
    expect(json).not.toHaveProperty("template_id");
    expect(JSON.stringify(it.worlds.current)).not.toContain("xoxb-1");
    const { status } = await it.patch(`${project}/hog_functions/${json.id}`, { type: "site_app" });
    expect(status).toBe(400);
    expect((await it.get(`${project}/hog_functions?types=site_app,transformation`)).json.count).toBe(0);
    const order = await it.post(`${project}/hog_functions`, { type: "transformation", hog: "return event" });
    expect(order.json.execution_order).toBe(1);
    const mapped = await it.post(`${project}/hog_functions`, { type: "site_app", hog: "x", mappings: [{}] });
    expect(mapped.json).toMatchObject({ attr: "mappings" });
  });
});

test.each([
  [{ frequency: "daily" }, "sent every day"],
  [{ frequency: "weekly", interval: 2 }, "sent every 2 weeks"],
  [{ frequency: "monthly", byweekday: ["monday"], bysetpos: 1 }, "sent every month on the first Monday"],
  [{ frequency: "monthly", byweekday: ["monday", "friday"], bysetpos: -1 }, "sent every month on the last day"],
])("a subscription %j is %s", async (more, summary) => {
  const body = { insight: 1, target_type: "email", target_value: "a@b.test", start_date: "2026-01-01T00:00:00Z" };
  const { json } = await sim().post(`${project}/subscriptions`, { ...body, ...more });
  expect(json).toMatchObject({
    id: 1,
    summary,
    resource_type: "insight",
    resource_name: "Visits",
    insight_short_id: "aaaaaaaa",
    next_delivery_date: null,
  });
});

test.each([
  [{}, "insight"],
  [{ insight: 1, dashboard: 1 }, "insight"],
  [{ dashboard: 1 }, "dashboard_export_insights"],
  [{ insight: 1, target_type: "slack" }, "integration_id"],
])("a subscription %j is refused", async (more, attr) => {
  const body = { target_type: "email", target_value: "a", frequency: "daily", start_date: "2026-01-01T00:00:00Z" };
  expect((await sim().post(`${project}/subscriptions`, { ...body, ...more })).json).toMatchObject({ attr });
});

test("a notebook that was changed since it was read is a conflict", async () => {
  const it = sim();
  const { json } = await it.post(`${project}/notebooks`, { title: "Notes" });
  const path = `${project}/notebooks/${json.short_id}`;
  expect((await it.patch(path, { content: {}, version: 0 })).json.version).toBe(1);
  const { status, json: refused } = await it.patch(path, { content: {}, version: 0 });
  expect([status, refused.detail]).toEqual([409, "Someone else edited the Notebook"]);
});

test("the name of an insight variable in queries follows from its name", async () => {
  const it = sim();
  const { json } = await it.post(`${project}/insight_variables`, { name: "My size!", type: "Number" });
  expect(json).toMatchObject({ code_name: "my_size", created_by: 1, default_value: null });
  expect((await it.post(`${project}/insight_variables`, { name: "my size", type: "Date" })).status).toBe(400);
});
