import { describe, expect, test } from "vitest";
import { resourceKinds } from "../../../src/service/management/resources/kinds.ts";
import { actionOf } from "../../../src/service/query/named-documents.ts";
import { dashboardKind, insightKind } from "../../../src/state/documents/schemas/dashboard.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import { manage } from "./manage.ts";
import { acme, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const project = "/api/projects/1";
const organization = `/api/organizations/${acme}`;

/** Acme with insight 1, dashboard 1 and insight 2 of another organization. */
function sim() {
  const world = twoOrganizations();
  world.insights = [
    insightKind.blank({ id: 1, short_id: "aaaaaaaa", project: 1, name: "Visits" }, startedAt),
    insightKind.blank({ id: 2, short_id: "bbbbbbbb", project: 3 }, startedAt),
  ];
  world.dashboards = [dashboardKind.blank({ id: 1, project: 1, name: "Board" }, startedAt)];
  return manage({ world });
}

/** A body of each kind. */
const bodies: Readonly<Record<string, object>> = {
  actions: { name: "Paid", steps: [{ event: "paid" }] },
  annotations: { content: "Release", scope: "project" },
  alerts: { insight: 1, threshold: { configuration: { type: "absolute", bounds: { lower: 1 } } } },
  hog_functions: { type: "destination", hog: "return event" },
  subscriptions: { insight: 1, target_type: "email", target_value: "a@b.test", frequency: "weekly" },
  notebooks: { title: "Notes", content: { type: "doc" } },
  insight_variables: { name: "My size", type: "Number" },
  schema_property_groups: { name: "Order", properties: [{ name: "total", property_type: "Numeric" }] },
  groups_metrics: { name: "Seats", filters: {} },
  roles: { name: "Editors" },
  invites: { target_email: "new@example.test" },
};

const places: Readonly<Record<string, string>> = {
  groups_metrics: `${project}/groups_types/0/metrics`,
  roles: `${organization}/roles`,
  invites: `${organization}/invites`,
};

const written = resourceKinds.filter((it) => bodies[it.kind]);
const has = (methods: readonly string[] | undefined, method: string) => methods?.includes(method) ?? true;

describe.each(written.map((it) => [it.kind, it] as const))("%s", (name, kind) => {
  const good = bodies[name] ?? {};
  const list = places[name] ?? `${project}/${name}`;

  test("are created, listed, changed and deleted", async () => {
    const it = sim();
    const created = await it.post(`${list}/`, { ...good, nonsense: 1 });
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    expect(created.json).toMatchObject(kind.isLoose ? { ...good, nonsense: 1 } : {});
    expect(created.header("x-phx-ignored")).toBe(kind.isLoose ? undefined : "nonsense");
    const key = created.json.short_id ?? created.json.id;
    const listed = await it.get(`${list}/`);
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

test("what only the sim writes is not taken from a body", async () => {
  const it = sim();
  const body = '{"id":"x","created_at":"never","created_by":9,"name":"Few","__proto__":{"name":"Many"}}';
  const { json } = await it.post(`${project}/alerts`, body);
  expect(json).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), created_by: { id: 1 }, name: "Few" });
  const again = await it.put(`${project}/alerts/${json.id}`, { ...json, name: "Fewer" });
  expect(again.json).toEqual({ ...json, name: "Fewer" });
});

test("roles are written by admins, and have members", async () => {
  const it = sim();
  const { json: role } = await it.post(`${organization}/roles/`, { name: "Editors" });
  const list = `${organization}/roles/${role.id}/role_memberships`;
  const { json: member } = await it.post(`${list}/`, { user_uuid: uuidOf("ben@example.test"), role_id: "another" });
  expect(member).toMatchObject({ role_id: role.id, user_uuid: uuidOf("ben@example.test") });
  expect((await it.get(`${list}/${member.id}/`)).json).toEqual(member);
  expect((await it.patch(`${list}/${member.id}`, {})).status).toBe(403);
  const { status, json } = await it.post(`${organization}/roles`, { name: "x" }, { key: "phx_cleo" });
  expect([status, json.detail]).toEqual([403, "Your organization access level is insufficient."]);
  expect((await it.get(`${organization}/roles`, { key: "phx_cleo" })).json.count).toBe(1);
  await it.delete(`${organization}/roles/${role.id}`);
  expect((await it.get(list)).status).toBe(404);
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
    expect(listed.json).toEqual({ access_controls: [{ ...json, access_level: "editor" }] });
    const ofDashboard = await it.get(rules("/dashboards/1/access_controls"));
    expect(ofDashboard.json.access_controls).toEqual([
      expect.objectContaining({ resource: "dashboard", resource_id: "1", access_level: "none" }),
    ]);
    const ofProject = await it.get(rules("/access_controls"));
    expect(ofProject.json).toMatchObject({
      access_controls: [{ resource: "project", resource_id: "1", access_level: "member" }],
    });
    const claim = { resource: "dashboard", role: role.id, managed_by: "terraform" };
    const claimed = await it.put(rules("/access_control_management/"), claim);
    expect(claimed.json).toEqual({ managed_by: "terraform", managed_at: expect.any(String) });
    const removed = await it.put(rules("/resource_access_controls"), { ...rule, access_level: null });
    expect([removed.status, removed.text]).toEqual([204, ""]);
    expect((await it.get(rules("/resource_access_controls"))).json.access_controls).toEqual([]);
    expect((await it.put(rules("/access_control_management"), claim)).status).toBe(404);
  });

  test.each([
    ["/resource_access_controls", { access_level: "viewer" }, "This field is required."],
    ["/resource_access_controls", { resource: "dashboard" }, "This field is required."],
    ["/dashboards/9/access_controls", { access_level: "none" }, "Not found."],
  ])("%s refuses %j", async (path, body, detail) => {
    expect((await sim().put(rules(path), body)).json.detail).toBe(detail);
  });

  test("are for admins", async () => {
    const { json } = await sim().put(rules("/access_controls"), { access_level: "none" }, { key: "phx_cleo" });
    expect(json.detail).toBe("Your organization access level is insufficient.");
  });
});

test("hog functions keep no secrets", async () => {
  const it = sim();
  const secret = { key: "token", type: "string", secret: true };
  const inputs = { token: { value: "xoxb-1" }, url: { value: "https://a.test" } };
  const body = { hog: "return event", inputs_schema: [secret, { key: "url", type: "string" }], inputs };
  const { json } = await it.post(`${project}/hog_functions`, body);
  expect(json.inputs).toEqual({ token: { secret: true }, url: { value: "https://a.test" } });
  expect(JSON.stringify(it.worlds.current)).not.toContain("xoxb-1");
});
