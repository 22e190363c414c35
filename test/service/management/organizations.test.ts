import { describe, expect, test, vi } from "vitest";
import { blankProject } from "../../../src/state/documents/blank.ts";
import { exportKind } from "../../../src/state/documents/schemas/batch-export.ts";
import { dashboardKind, insightKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { manage } from "./manage.ts";
import { acme, globex, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const at = `/api/organizations/${acme}`;
const features = (...keys: string[]) => keys.map((key) => ({ key }));

describe("an organization", () => {
  test("is shown as the contract says", async () => {
    const { json, status } = await manage().get(at);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      id: acme,
      name: "Acme",
      slug: "acme",
      logo_media_id: null,
      created_at: startedAt,
      updated_at: startedAt,
      membership_level: 15,
      plugins_access_level: 3,
      projects: [
        { id: 1, organization_id: acme, name: "Acme web" },
        { id: 2, organization_id: acme, name: "Acme app" },
      ],
      is_member_join_email_enabled: true,
      customer_id: null,
      enforce_2fa: null,
    });
    expect(json.teams[0]).toEqual({
      id: 1,
      uuid: uuidOf("project 1"),
      organization: acme,
      project_id: 1,
      api_token: "phc_project_1",
      name: "Acme web",
      completed_snippet_onboarding: false,
      has_completed_onboarding_for: null,
      ingested_event: false,
      is_demo: false,
      timezone: "UTC",
      access_control: false,
    });
  });

  test.each([
    { dialect: "documented", metadata: '{"instance_tag":"none"}', member_count: "4" },
    { dialect: "production", metadata: { instance_tag: "none" }, member_count: 4 },
  ] as const)("has the types of the dialect: $dialect", async ({ dialect, ...shown }) => {
    expect((await manage({ dialect }).get(at)).json).toMatchObject(shown);
  });

  test.each([
    ["by id", at, 200],
    ["by id in capitals", `/api/organizations/${acme.toUpperCase()}`, 200],
    ["with a slash", `${at}/`, 200],
    ["as @current", "/api/organizations/@current", 200],
    ["another's", `/api/organizations/${globex}`, 404],
    ["an unknown id", `/api/organizations/${uuidOf("nobody")}`, 404],
    ["no UUID", "/api/organizations/acme", 404],
  ])("is found %s", async (_, path, status) => {
    const answer = await manage().get(path);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject(status === 200 ? { id: acme } : { detail: "Not found.", attr: null });
  });

  test.each([
    ["phx_project_1", 403, "API keys with scoped projects are only supported on project-based endpoints."],
    ["phx_globex_only", 404, "Not found."],
    ["phx_writer", 403, "API key missing required scope 'organization:read'"],
    ["phx_eve", 404, "Not found."],
  ])("is kept from the key %s", async (key, status, detail) => {
    const answer = await manage().get(at, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, detail]);
  });

  test("that is gone is no longer @current", async () => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => ({ ...it, current_organization: null }));
    expect((await manage({ world }).get("/api/organizations/@current")).status).toBe(404);
  });
});

describe("the list of organizations", () => {
  /** Ada is a member of Globex, too. */
  const both = (): World => {
    const world = twoOrganizations();
    const [first] = world.memberships;
    if (first) world.memberships.push({ ...first, id: uuidOf("ada@globex"), organization: globex, level: 1 });
    return world;
  };

  test.each([
    ["phx_ada", [acme, globex]],
    ["phx_acme_only", [acme]],
    ["phx_globex_only", [globex]],
    ["phx_eve", [globex]],
  ])("shows %s what it may see", async (key, ids) => {
    const { json } = await manage({ world: both() }).get("/api/organizations", { key });
    expect(json.count).toBe(ids.length);
    expect(json.results.map((it: { id: string }) => it.id)).toEqual(ids);
  });

  test("has each caller's own level", async () => {
    const { json } = await manage({ world: both() }).get("/api/organizations?offset=1");
    expect(json).toMatchObject({ count: 2, results: [{ id: globex, membership_level: 1 }] });
  });

  test("is closed to a key that is limited to projects", async () => {
    const answer = await manage().get("/api/organizations/", { key: "phx_project_1" });
    expect([answer.status, answer.json.detail]).toEqual([
      403,
      "API keys with scoped projects are only supported on project-based endpoints.",
    ]);
  });
});

describe("creating an organization", () => {
  test("makes a project, an owner, and moves @current", async () => {
    const sim = manage();
    const created = await sim.post("/api/organizations/", { name: " Initech Ltd. ", enforce_2fa: "yes" });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      name: "Initech Ltd.",
      slug: "initech-ltd",
      membership_level: 15,
      enforce_2fa: true,
      is_member_join_email_enabled: true,
      member_count: "1",
      created_at: "2026-03-04T05:06:07.089000Z",
      projects: [{ name: "Default project" }],
    });
    const { id, teams } = created.json;
    expect(teams[0].api_token).toMatch(/^phc_[0-9A-Za-z]{40,43}$/);
    expect((await sim.get("/api/organizations/@current")).json.id).toBe(id);
    expect((await sim.get("/api/projects/@current")).json).toMatchObject({
      organization: id,
      api_token: teams[0].api_token,
    });
    expect((await sim.get(`/api/organizations/${id}`, { key: "phx_ben" })).status).toBe(404);
    const { secret_api_key } = sim.worlds.projectById(teams[0].id) ?? {};
    expect(secret_api_key).toMatch(/^phs_/);
    expect(secret_api_key).not.toContain(teams[0].api_token.slice(4));
  });

  test.each([
    ["Acme", /^acme-[a-z]{4}$/],
    ["Ünïcödé & Söhne", /^unicode-sohne$/],
    ["日本", /^[a-z]{4}$/],
    ["x".repeat(64), /^x{48}$/],
  ])("gives %j a slug of its own", async (name, slug) => {
    expect((await manage().post("/api/organizations", { name })).json.slug).toMatch(slug);
  });

  test.each([
    [{}, "required", "This field is required.", "name"],
    [{ name: null }, "null", "This field may not be null.", "name"],
    [{ name: " " }, "blank", "This field may not be blank.", "name"],
    [{ name: ["a"] }, "invalid_input", "Not a valid string.", "name"],
    [{ name: "x".repeat(65) }, "max_length", "Ensure this field has no more than 64 characters.", "name"],
    [{ name: "A", logo_media_id: "x" }, "invalid_input", "Must be a valid UUID.", "logo_media_id"],
    [
      { name: "A", is_member_join_email_enabled: "perhaps" },
      "invalid_input",
      "Must be a valid boolean.",
      "is_member_join_email_enabled",
    ],
    [{ name: "A", enforce_2fa: [] }, "invalid_input", "Must be a valid boolean.", "enforce_2fa"],
    [["A"], "invalid_input", "Invalid data. Expected a dictionary, but got list.", null],
  ])("refuses %j", async (body, code, detail, attr) => {
    const sim = manage();
    const answer = await sim.post("/api/organizations", body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ type: "validation_error", code, detail, attr });
    expect(sim.worlds.current.organizations).toHaveLength(2);
  });

  test("a logo is taken on trust, or refused, by dialect", async () => {
    const logo_media_id = uuidOf("logo");
    const body = { name: "A", logo_media_id };
    expect((await manage().post("/api/organizations", body)).json).toMatchObject({ logo_media_id });
    const answer = await manage({ dialect: "production" }).post("/api/organizations", body);
    expect(answer.json).toEqual({
      type: "validation_error",
      code: "does_not_exist",
      detail: `Invalid pk "${logo_media_id}" - object does not exist.`,
      attr: "logo_media_id",
    });
  });

  test.each([
    ["phx_reader", "API key missing required scope 'organization:write'"],
    ["phx_project_1", "API keys with scoped projects are only supported on project-based endpoints."],
  ])("is not for the key %s", async (key, detail) => {
    const answer = await manage().post("/api/organizations", { name: "A" }, { key });
    expect([answer.status, answer.json.detail]).toEqual([403, detail]);
  });
});

describe("changing an organization", () => {
  test.each(["phx_ada", "phx_ben"])("is for %s", async (key) => {
    const sim = manage();
    const changes = { name: "Acme Corp", enforce_2fa: true, allow_publicly_shared_resources: false };
    const { status, json } = await sim.patch(at, { ...changes, id: "x", slug: "y", member_count: 9 }, { key });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...changes,
      id: acme,
      slug: "acme",
      member_count: "4",
      updated_at: "2026-03-04T05:06:07.089000Z",
    });
    expect((await sim.get(at)).json).toMatchObject(changes);
  });

  test("to nothing changes nothing", async () => {
    const { status, json } = await manage().patch(at, {});
    expect(status).toBe(200);
    expect(json).toMatchObject({ name: "Acme", enforce_2fa: null, is_member_join_email_enabled: true });
  });

  test("back to unset", async () => {
    const sim = manage();
    await sim.patch(at, { enforce_2fa: true });
    expect((await sim.patch(at, { enforce_2fa: null })).json.enforce_2fa).toBeNull();
  });

  test("with PUT needs its name", async () => {
    const sim = manage();
    expect((await sim.put(at, { enforce_2fa: true })).json).toMatchObject({ code: "required", attr: "name" });
    expect((await sim.put(at, { name: "New" })).json.name).toBe("New");
  });

  test.each([
    ["phx_cleo", {}, 403, "Your organization access level is insufficient."],
    ["phx_cleo", { name: "" }, 403, "Your organization access level is insufficient."],
    ["phx_eve", {}, 404, "Not found."],
    ["phx_ada", { name: "" }, 400, "This field may not be blank."],
    ["phx_reader", {}, 403, "API key missing required scope 'organization:write'"],
    ["phx_globex_only", {}, 404, "Not found."],
  ])("by %s with %j", async (key, body, status, detail) => {
    const answer = await manage().patch(at, body, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, detail]);
  });
});

describe("deleting an organization", () => {
  /** Acme with something in every collection; Ada is in Globex, too. */
  function full(): World {
    const world = twoOrganizations();
    world.dashboards = [1, 3].map((project) => dashboardKind.blank({ id: project, project }, startedAt));
    world.insights = [1, 3].map((project) =>
      insightKind.blank({ id: project, project, short_id: `short${project}` }, startedAt),
    );
    world.dashboard_collaborators = [1, 3].map((dashboard) => ({
      id: uuidOf(`collaborator ${dashboard}`),
      dashboard,
      user: 3,
      level: 37,
      added_at: startedAt,
      updated_at: startedAt,
    }));
    world.batch_exports = [1, 3].map((project) =>
      exportKind.blank(
        {
          id: uuidOf(`export ${project}`),
          project,
          name: "E",
          destination: { type: "NoOp", config: {} },
          interval: "hour",
        },
        startedAt,
      ),
    );
    const [first] = world.memberships;
    if (first) world.memberships.push({ ...first, id: uuidOf("ada@globex"), organization: globex, level: 1 });
    return world;
  }

  test("takes everything in it along, and nothing else", async () => {
    const sim = manage({ world: full() });
    const reported = vi.spyOn(sim.desk.exports, "scheduled");
    const answer = await sim.delete(at);
    expect([answer.status, answer.text, answer.header("content-type")]).toEqual([204, "", undefined]);
    const { current } = sim.worlds;
    expect(current.organizations.map((it) => it.id)).toEqual([globex]);
    expect(current.projects.map((it) => it.id)).toEqual([3]);
    expect(current.memberships.map((it) => it.user)).toEqual([5, 1]);
    expect(current.dashboards.map((it) => it.id)).toEqual([3]);
    expect(current.insights.map((it) => it.id)).toEqual([3]);
    expect(current.dashboard_collaborators.map((it) => it.dashboard)).toEqual([3]);
    expect(current.batch_exports.map((it) => it.project)).toEqual([3]);
    expect(reported.mock.calls).toMatchObject([[{ project: 1, deleted: true }]]);
    const users = current.users.map((it) => [it.first_name, it.current_organization, it.current_project]);
    expect(users).toEqual([
      ["ada", globex, 3],
      ["ben", null, null],
      ["cleo", null, null],
      ["dan", null, null],
      ["eve", globex, 3],
    ]);
    expect((await sim.get(at)).status).toBe(404);
  });

  test.each([
    ["phx_ben", 403, "Your organization access level is insufficient."],
    ["phx_cleo", 403, "Your organization access level is insufficient."],
    ["phx_eve", 404, "Not found."],
    ["phx_reader", 403, "API key missing required scope 'organization:write'"],
  ])("is not for %s", async (key, status, detail) => {
    const sim = manage();
    const answer = await sim.delete(at, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, detail]);
    expect(sim.worlds.current.organizations).toHaveLength(2);
  });
});

test("a deleted organization takes its roles and invites along, and leaves those of others", async () => {
  const world = twoOrganizations();
  const foreign = { id: `roles/${globex}/r`, kind: "roles", organization: globex, project: null, key: "r" };
  world.resources.push({ ...foreign, fields: { name: "Support" } });
  const sim = manage({ world });
  const answers = [
    await sim.post(`${at}/roles`, { name: "Support" }),
    await sim.post(`${at}/invites`, { target_email: "new@acme.test" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  await sim.delete(at);
  expect(sim.worlds.current.resources).toMatchObject([{ kind: "roles", organization: globex }]);
});

test("features that are sold are listed as they are kept", async () => {
  const world = twoOrganizations();
  const [first] = world.organizations;
  if (first) world.organizations[0] = { ...first, available_product_features: features("tagging") };
  world.projects.push(
    blankProject({ id: 9, uuid: uuidOf("9"), organization: acme, name: "Late", api_key: "phc_late" }, startedAt),
  );
  const { json } = await manage({ world }).get(at);
  expect(json.available_product_features).toEqual([{ key: "tagging" }]);
  expect(json.projects.map((it: { id: number }) => it.id)).toEqual([1, 2, 9]);
});
