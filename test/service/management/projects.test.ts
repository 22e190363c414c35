import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { dashboardKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { type Answer, manage } from "./manage.ts";
import { acme, globex, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const basics = {
  id: 1,
  uuid: uuidOf("project 1"),
  organization: acme,
  project_id: 1,
  api_token: "phc_project_1",
  name: "Acme web",
  ingested_event: false,
  is_demo: false,
  timezone: "UTC",
  access_control: false,
  completed_snippet_onboarding: false,
  has_completed_onboarding_for: null,
};

const limitedText = "API keys with scoped projects are only supported on project-based endpoints.";
const weakText = "You don't have sufficient permissions in the project.";
const levelText = "Your organization access level is insufficient.";
const fullText =
  "You have reached the maximum limit of allowed projects for your current plan. Upgrade your plan to be able to create and manage more projects.";

const addresses = ["/api/projects", "/api/environments", `/api/organizations/${acme}/projects`];

const reported = ({ status, json }: Answer) => [status, json?.detail];

describe.each(addresses)("projects at %s", (root) => {
  test("one is shown with its settings", async () => {
    const { status, json } = await manage().get(`${root}/1/`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...basics,
      created_at: startedAt,
      updated_at: startedAt,
      effective_membership_level: 15,
      has_group_types: false,
      group_types: [],
      live_events_token: null,
      secret_api_token: null,
      primary_dashboard: null,
      app_urls: [],
      slack_incoming_webhook: null,
      anonymize_ips: false,
      test_account_filters: [],
      data_attributes: ["data-attr"],
      session_recording_opt_in: false,
      week_start_day: null,
      default_modifiers: {},
      product_intents: [],
    });
    expect(JSON.stringify(json)).not.toContain("phs_");
  });

  test("the list shows the caller's", async () => {
    const { json } = await manage().get(root);
    expect(json).toMatchObject({ count: 2, next: null, previous: null });
    expect(json.results[0]).toEqual(basics);
    expect(json.results[1].id).toBe(2);
  });

  test("one is created and becomes the current one", async () => {
    const sim = manage();
    const body = { name: "Third", timezone: "Europe/Berlin", app_urls: ["https://a.test"], anonymize_ips: 1 };
    const { status, json } = await sim.post(root, body);
    expect(status).toBe(201);
    expect(json).toMatchObject({
      ...body,
      anonymize_ips: true,
      id: 4,
      organization: acme,
      effective_membership_level: 15,
      created_at: "2026-03-04T05:06:07.089000Z",
    });
    expect(json.api_token).toMatch(/^phc_\w{40,43}$/);
    expect(sim.worlds.projectByKey(json.api_token)?.id).toBe(4);
    expect((await sim.get("/api/projects/@current")).json.id).toBe(4);
  });

  test("one is called Default project unless it has a name", async () => {
    expect((await manage().post(root, {})).json.name).toBe("Default project");
  });

  test.each(["patch", "put"] as const)("%s changes what it says", async (method) => {
    const sim = manage();
    const before = await sim.patch(`${root}/1`, { recording_domains: ["https://a.test"] });
    const { status, json } = await sim[method](
      `${root}/1`,
      { name: "Web", week_start_day: "1", surveys_opt_in: true, id: 9, api_token: "phc_x", nonsense: 1 },
      { key: "phx_cleo" },
    );
    expect(status).toBe(200);
    expect(json).toEqual({
      ...before.json,
      name: "Web",
      week_start_day: 1,
      surveys_opt_in: true,
      effective_membership_level: 1,
    });
    expect(sim.worlds.get("projects", 1)?.settings).toEqual({
      recording_domains: ["https://a.test"],
      week_start_day: 1,
      surveys_opt_in: true,
    });
  });

  test("settings that clients send are kept, and what is ignored is named", async () => {
    const sim = manage();
    expect((await sim.get(`${root}/1`)).json).toMatchObject({ cookieless_server_hash_mode: 0 });
    const sent = {
      cookieless_server_hash_mode: 2,
      session_recording_url_trigger_config: [{ url: "/a", matching: "regex" }],
      session_recording_retention_period: "90d",
      human_friendly_comparison_periods: true,
      logs_settings: { capture_console_logs: true },
      base_currency: "EUR",
    };
    const kept = await sim.patch(`${root}/1`, sent);
    expect([kept.status, kept.header("x-phx-ignored")]).toEqual([200, undefined]);
    expect((await sim.get(`${root}/1`)).json).toMatchObject(sent);
    const nonsense = { id: 9, api_token: "phc_x", cookieles_server_hash_mode: 1, "a\nb": 1 };
    const ignored = await sim.patch(`${root}/1`, nonsense, { headers: { origin: "http://localhost:3000" } });
    expect(ignored.header("access-control-expose-headers")).toContain("x-phx-ignored");
    expect([ignored.status, ignored.header("x-phx-ignored")]).toEqual([200, "cookieles_server_hash_mode, a%0Ab"]);
    expect(ignored.json).toMatchObject(sent);
  });

  test("settings of objects are merged where the service merges them", async () => {
    const sim = manage();
    const first = { session_replay_config: { a: 1, b: 2 }, extra_settings: { a: 1 } };
    const second = { session_replay_config: { b: 3 }, extra_settings: { b: 2 } };
    await sim.patch(`${root}/1`, first);
    expect((await sim.patch(`${root}/1`, second)).json).toMatchObject({
      session_replay_config: { a: 1, b: 3 },
      extra_settings: { b: 2 },
    });
  });

  test.each([
    [{ name: "" }, "blank", "This field may not be blank.", "name"],
    [{ name: null }, "null", "This field may not be null.", "name"],
    [{ name: "x".repeat(201) }, "max_length", "Ensure this field has no more than 200 characters.", "name"],
    [{ timezone: "Mars/Olympus" }, "invalid_choice", '"Mars/Olympus" is not a valid choice.', "timezone"],
    [{ timezone: "+01:00" }, "invalid_choice", '"+01:00" is not a valid choice.', "timezone"],
    [{ timezone: 1 }, "invalid_input", "Not a valid string.", "timezone"],
    [{ cookieless_server_hash_mode: 3 }, "invalid_choice", '"3" is not a valid choice.', "cookieless_server_hash_mode"],
    [
      { session_recording_retention_period: "2d" },
      "invalid_choice",
      '"2d" is not a valid choice.',
      "session_recording_retention_period",
    ],
    [{ anonymize_ips: "perhaps" }, "invalid_input", "Must be a valid boolean.", "anonymize_ips"],
    [{ app_urls: "x" }, "not_a_list", 'Expected a list of items but got type "str".', "app_urls"],
    [
      { correlation_config: [] },
      "not_a_dict",
      'Expected a dictionary of items but got type "list".',
      "correlation_config",
    ],
    [{ week_start_day: 3 }, "invalid_choice", '"3" is not a valid choice.', "week_start_day"],
    [{ primary_dashboard: "x" }, "invalid_input", "A valid integer is required.", "primary_dashboard"],
    [{ primary_dashboard: 7 }, "does_not_exist", 'Invalid pk "7" - object does not exist.', "primary_dashboard"],
    [{ primary_dashboard: 3 }, "does_not_exist", 'Invalid pk "3" - object does not exist.', "primary_dashboard"],
    [
      { session_recording_minimum_duration_milliseconds: 30_001 },
      "max_value",
      "Ensure this value is less than or equal to 30000.",
      "session_recording_minimum_duration_milliseconds",
    ],
  ])("%j is refused", async (body, code, detail, attr) => {
    const world = twoOrganizations();
    world.dashboards = [dashboardKind.blank({ id: 3, project: 3 }, startedAt)];
    const sim = manage({ world });
    const wrong = { type: "validation_error", code, detail, attr };
    expect((await sim.patch(`${root}/1`, body)).json).toEqual(wrong);
    expect((await sim.post(root, body)).json).toEqual(wrong);
    expect(sim.worlds.get("projects", 1)).toEqual(twoOrganizations().projects[0]);
    expect(sim.worlds.current.projects).toHaveLength(3);
  });

  test("a dashboard of the project may be its first", async () => {
    const world = twoOrganizations();
    world.dashboards = [dashboardKind.blank({ id: 3, project: 1 }, startedAt)];
    const sim = manage({ world });
    expect((await sim.patch(`${root}/1`, { primary_dashboard: 3 })).json.primary_dashboard).toBe(3);
    expect((await sim.patch(`${root}/1`, { primary_dashboard: null })).json.primary_dashboard).toBeNull();
  });

  test.each(["POST", "PATCH"])("%s reset_token gives a new key", async (method) => {
    const sim = manage();
    const { status, json } = await sim.ask(method, `${root}/1/reset_token/`, { key: "phx_ben" });
    expect(status).toBe(200);
    expect(json.api_token).toMatch(/^phc_\w{40,43}$/);
    expect(sim.worlds.projectByKey("phc_project_1")).toBeUndefined();
    expect(sim.worlds.projectByKey(json.api_token)?.id).toBe(1);
  });

  test("one is deleted with what is in it", async () => {
    const world = twoOrganizations();
    world.dashboards = [1, 2].map((project) => dashboardKind.blank({ id: project, project }, startedAt));
    world.feature_flags = [1, 2].map((project) => blankFeatureFlag({ id: project, project, key: "flag" }, startedAt));
    world.sharing_configurations = [1, 2].map((dashboard) => ({
      id: uuidOf(`sharing ${dashboard}`),
      dashboard,
      created_at: startedAt,
      enabled: true,
      access_token: `token${dashboard}`,
      settings: null,
      password_required: false,
      former_tokens: [],
    }));
    const sim = manage({ world });
    const answer = await sim.delete(`${root}/1`, { key: "phx_ben" });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    const { current } = sim.worlds;
    expect(current.projects.map((it) => it.id)).toEqual([2, 3]);
    expect(current.dashboards.map((it) => it.id)).toEqual([2]);
    expect(current.feature_flags.map((it) => it.id)).toEqual([2]);
    expect(current.sharing_configurations.map((it) => it.dashboard)).toEqual([2]);
    expect(current.users.map((it) => it.current_project)).toEqual([2, 2, 2, 2, 3]);
    expect((await sim.get(`${root}/1`)).status).toBe(404);
    expect((await sim.get("/shared/token1")).status).toBe(404);
    expect((await sim.post(root, {})).json.id).toBe(4);
  });

  test.each([
    ["GET", "/3", "phx_ada", 404, "Not found."],
    ["GET", "/99", "phx_ada", 404, "Not found."],
    ["GET", "/web", "phx_ada", 404, "Not found."],
    ["PATCH", "/3", "phx_ada", 404, "Not found."],
    ["DELETE", "/3", "phx_ada", 404, "Not found."],
    ["DELETE", "/1", "phx_cleo", 403, weakText],
    ["POST", "/1/reset_token", "phx_cleo", 403, weakText],
    ["POST", "", "phx_cleo", 403, levelText],
    ["GET", "", "phx_project_1", 403, limitedText],
    ["POST", "", "phx_project_1", 403, limitedText],
    ["GET", "", "phx_reader", 403, "API key missing required scope 'project:read'"],
    ["GET", "/1", "phx_reader", 403, "API key missing required scope 'project:read'"],
    ["PATCH", "/1", "phx_reader", 403, "API key missing required scope 'project:write'"],
    ["POST", "", "phx_reader", 403, "API key missing required scope 'project:write'"],
    ["DELETE", "/1", "phx_reader", 403, "API key missing required scope 'project:write'"],
  ])("%s %s by %s: %d", async (method, path, key, status, detail) => {
    const sim = manage();
    expect(reported(await sim.ask(method, root + path, { key }))).toEqual([status, detail]);
    expect(sim.worlds.current.projects).toEqual(twoOrganizations().projects);
  });

  test.each([
    ["without the feature", [], {}, fullText],
    ["with a used up allowance", [{ key: "organizations_projects", limit: 2 }], {}, fullText],
    ["with some of it left", [{ key: "organizations_projects", limit: 3 }], {}, undefined],
    ["with a second demo", [{ key: "organizations_projects" }], { is_demo: true }, fullText],
  ])("the plan allows one more? %s", async (_, features, body, detail) => {
    const world = twoOrganizations();
    world.organizations = world.organizations.map((it) => ({ ...it, available_product_features: features }));
    world.projects = world.projects.map((it) => ({ ...it, is_demo: "is_demo" in body && it.id === 2 }));
    expect(reported(await manage({ world }).post(root, body))).toEqual([detail ? 403 : 201, detail]);
  });
});

describe("projects found by id alone", () => {
  test.each([
    ["phx_project_1", "/api/projects/1", 200, undefined],
    ["phx_project_1", "/api/projects/@current", 200, undefined],
    ["phx_project_1", "/api/projects/2", 403, "API key does not have access to the requested project: ID 2."],
    ["phx_project_1", "/api/projects/3", 404, "Not found."],
    ["phx_acme_only", "/api/projects/1", 200, undefined],
    ["phx_globex_only", "/api/projects/1", 404, "Not found."],
    ["phx_eve", "/api/environments/@current", 200, undefined],
  ])("%s asks for %s: %d", async (key, path, status, detail) => {
    expect(reported(await manage().get(path, { key }))).toEqual([status, detail]);
  });

  test("a key limited to another organization sees an empty list, and creates nothing", async () => {
    const sim = manage();
    expect((await sim.get("/api/projects", { key: "phx_globex_only" })).json.count).toBe(0);
    expect(reported(await sim.post("/api/projects", {}, { key: "phx_globex_only" }))).toEqual([
      403,
      `API key does not have access to the requested organization: ID ${acme}.`,
    ]);
  });

  test("without a current organization there is nowhere to create one", async () => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => ({ ...it, current_organization: null, current_project: null }));
    const sim = manage({ world });
    expect(reported(await sim.post("/api/projects", {}))).toEqual([404, "Organization not found."]);
    expect(reported(await sim.get("/api/projects/@current"))).toEqual([404, "Not found."]);
  });
});

describe("projects below their organization", () => {
  const inBoth = (): World => {
    const world = twoOrganizations();
    const [first] = world.memberships;
    if (first) world.memberships.push({ ...first, id: uuidOf("ada@globex"), organization: globex });
    return world;
  };

  test.each([
    [`/api/organizations/${acme}/projects/1`, 200],
    [`/api/organizations/@current/projects/@current`, 200],
    [`/api/organizations/${acme}/projects/3`, 404],
    [`/api/organizations/${globex}/projects/3`, 200],
    [`/api/organizations/${globex}/projects/1`, 404],
    [`/api/organizations/${globex}/projects/@current`, 404],
  ])("%s: %d", async (path, status) => {
    expect((await manage({ world: inBoth() }).get(path)).status).toBe(status);
  });

  test("a stranger is kept out", async () => {
    const answer = await manage().get(`/api/organizations/${acme}/projects`, { key: "phx_eve" });
    expect(reported(answer)).toEqual([403, "You do not have permission to perform this action."]);
  });
});

describe("what a project knows of its traffic", () => {
  test("events", async () => {
    const sim = manage();
    Object.assign(sim.desk, { events: { newest: ({ project }: { project: number }) => (project === 2 ? [{}] : []) } });
    const { results } = (await sim.get("/api/projects")).json;
    expect(results.map((it: { ingested_event: boolean }) => it.ingested_event)).toEqual([false, true]);
  });

  test("group types", async () => {
    const sim = manage();
    sim.people.addGroupType(1, "company");
    sim.people.addGroupType(1, "team");
    const named = { name_singular: null, name_plural: null };
    expect((await sim.get("/api/projects/1")).json).toMatchObject({
      has_group_types: true,
      group_types: [
        { group_type: "company", group_type_index: 0, ...named },
        { group_type: "team", group_type_index: 1, ...named },
      ],
    });
  });
});

test("names that are special in JavaScript stay data", async () => {
  const sim = manage();
  const text = '{"extra_settings": {"__proto__": {"a": 1}, "constructor": 1}, "__proto__": {"name": "x"}}';
  const { status, json } = await sim.patch("/api/projects/1", text, {
    headers: { "content-type": "application/json" },
  });
  expect(status).toBe(200);
  expect(json.name).toBe("Acme web");
  expect(json.extra_settings.constructor).toBe(1);
  expect(({} as { a?: number }).a).toBeUndefined();
});
