import { describe, expect, test } from "vitest";
import { dashboardKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { type Answer, manage } from "./manage.ts";
import { startedAt, twoOrganizations, uuidOf } from "./world.ts";

const idOf = (name: string) => uuidOf(`${name}@example.test`);
const reported = ({ status, json }: Answer) => [status, json?.detail];

/**
 * Dashboards of project 1: 1 restricted, made by Cleo, with Dan as a collaborator; 2 open to everyone; 4
 * deleted. Dashboard 3 is project 3's. Fay is not active.
 */
function world(): World {
  const world = twoOrganizations();
  world.dashboards = [
    dashboardKind.blank({ id: 1, project: 1, restriction_level: 37, created_by: 3 }, startedAt),
    dashboardKind.blank({ id: 2, project: 1 }, startedAt),
    dashboardKind.blank({ id: 3, project: 3, restriction_level: 37 }, startedAt),
    dashboardKind.blank({ id: 4, project: 1, restriction_level: 37, deleted: true }, startedAt),
  ];
  const [ada] = world.users;
  if (ada) {
    world.users.push({ ...ada, id: 6, uuid: idOf("fay"), first_name: "fay", is_active: false });
    world.users.push({ ...ada, id: 7, uuid: idOf("gus"), first_name: "gus" });
  }
  for (const user of [6, 7]) {
    world.memberships.push({
      id: uuidOf(`membership ${user}`),
      organization: world.organizations[0]?.id ?? "",
      user,
      level: 1,
      joined_at: startedAt,
      updated_at: startedAt,
    });
  }
  world.dashboard_collaborators = [4, 6].map((user) => ({
    id: uuidOf(`collaborator ${user}`),
    dashboard: 1,
    user,
    level: 37,
    added_at: startedAt,
    updated_at: startedAt,
  }));
  return world;
}

const at = (dashboard: number | string, project = 1) =>
  `/api/projects/${project}/dashboards/${dashboard}/collaborators`;
const editText = "You don't have edit permissions for this dashboard.";

describe("the list of collaborators", () => {
  test.each(["documented", "production"] as const)("is an array, as the dialect has it: %s", async (dialect) => {
    const { status, json } = await manage({ world: world(), dialect }).get(at(1));
    expect(status).toBe(200);
    expect(json).toEqual([
      {
        id: uuidOf("collaborator 4"),
        dashboard_id: 1,
        user: expect.objectContaining({ id: 4, uuid: idOf("dan"), email: "dan@example.test" }),
        level: 37,
        added_at: startedAt,
        updated_at: startedAt,
        ...(dialect === "documented" && { user_uuid: idOf("dan") }),
      },
    ]);
  });

  test.each([
    ["phx_reader", at(2), 200, undefined],
    ["phx_dan", `${at(1)}/`, 200, undefined],
    ["phx_ada", at(1).replace("projects", "environments"), 200, undefined],
    ["phx_ada", at(3), 404, "Dashboard not found."],
    ["phx_ada", at(4), 404, "Dashboard not found."],
    ["phx_ada", at(99), 404, "Dashboard not found."],
    ["phx_ada", at("x"), 404, "Dashboard not found."],
    ["phx_eve", at(1), 403, "You don't have access to the project."],
    ["phx_nothing", at(1), 403, "API key missing required scope 'dashboard:read'"],
    ["phx_ada", `${at(1)}/${idOf("dan")}`, 403, "This action does not support personal API key access"],
  ])("for %s at %s: %d", async (key, path, status, detail) => {
    expect(reported(await manage({ world: world() }).get(path, { key }))).toEqual([status, detail]);
  });
});

describe("adding a collaborator", () => {
  test.each([
    ["phx_ada", "gus", 37],
    ["phx_cleo", "gus", "37"],
    ["phx_dan", "gus", 37],
  ])("is done by %s", async (key, name, level) => {
    const sim = manage({ world: world() });
    const { status, json } = await sim.post(at(1), { level, user_uuid: idOf(name).toUpperCase() }, { key });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      dashboard_id: 1,
      user: { uuid: idOf(name) },
      user_uuid: idOf(name),
      level: 37,
      added_at: "2026-03-04T05:06:07.089000Z",
      updated_at: "2026-03-04T05:06:07.089000Z",
    });
    expect((await sim.get(at(1))).json).toHaveLength(2);
  });

  const gus = { level: 37, user_uuid: idOf("gus") };
  const low = "Cannot add collaborators to a dashboard on the lowest restriction level.";
  const inherent =
    "Cannot add collaborators that already have inherent access (the dashboard owner or a project admins).";
  test.each([
    [1, {}, "required", "This field is required.", "level"],
    [1, { level: 37 }, "required", "This field is required.", "user_uuid"],
    [1, { level: 99, user_uuid: "x" }, "invalid_choice", '"99" is not a valid choice.', "level"],
    [1, { level: null, user_uuid: "x" }, "null", "This field may not be null.", "level"],
    [1, { level: 37, user_uuid: "x" }, "invalid_input", "Must be a valid UUID.", "user_uuid"],
    [2, { ...gus, level: 99 }, "invalid_choice", '"99" is not a valid choice.', "level"],
    [2, { ...gus, level: 21 }, "invalid_input", low, null],
    [
      1,
      { level: 21, user_uuid: idOf("nobody") },
      "invalid_input",
      "Only edit access can be explicitly specified currently.",
      null,
    ],
    [1, { level: 37, user_uuid: idOf("nobody") }, "invalid_input", "User does not exist.", null],
    [1, { level: 37, user_uuid: idOf("fay") }, "invalid_input", "User does not exist.", null],
    [
      1,
      { level: 37, user_uuid: idOf("eve") },
      "invalid_input",
      "Cannot add collaborators that have no access to the project.",
      null,
    ],
    [1, { level: 37, user_uuid: idOf("ben") }, "invalid_input", inherent, null],
    [1, { level: 37, user_uuid: idOf("cleo") }, "invalid_input", inherent, null],
    [1, { level: 37, user_uuid: idOf("dan") }, "invalid_input", "User already is a collaborator.", null],
  ])("to dashboard %d is refused: %j", async (dashboard, body, code, detail, attr) => {
    const sim = manage({ world: world() });
    const answer = await sim.post(at(dashboard), body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ type: "validation_error", code, detail, attr });
    expect(sim.worlds.current.dashboard_collaborators).toHaveLength(2);
  });

  test("is not possible where restrictions are not sold", async () => {
    const unlicensed = world();
    unlicensed.organizations = unlicensed.organizations.map((it) => ({ ...it, available_product_features: [] }));
    expect((await manage({ world: unlicensed }).post(at(1), gus)).json.detail).toBe(low);
  });

  test.each([
    ["phx_gus", 1, {}, 403, editText],
    ["phx_ada", 4, gus, 404, "Dashboard not found."],
    ["phx_ada", 3, gus, 404, "Dashboard not found."],
    ["phx_reader", 1, gus, 403, "API key missing required scope 'dashboard:write'"],
    ["phx_globex_only", 1, gus, 403, "API key does not have access to the requested organization"],
  ])("is not for %s on %d", async (key, dashboard, body, status, detail) => {
    const withKey = world();
    const [ada] = withKey.personal_api_keys;
    if (ada) withKey.personal_api_keys.push({ ...ada, id: "gus", key: "phx_gus", user: 7 });
    const answer = await manage({ world: withKey }).post(at(dashboard), body, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, expect.stringContaining(detail)]);
  });
});

describe("removing a collaborator", () => {
  test("lets them only look", async () => {
    const sim = manage({ world: world() });
    expect((await sim.patch("/api/projects/1/dashboards/1/sharing", {}, { key: "phx_dan" })).status).toBe(200);
    const answer = await sim.delete(`${at(1)}/${idOf("dan").toUpperCase()}/`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await sim.get(at(1))).json).toEqual([]);
    const after = await sim.patch("/api/projects/1/dashboards/1/sharing", {}, { key: "phx_dan" });
    expect(reported(after)).toEqual([403, editText]);
  });

  test.each([
    ["phx_ada", 1, "gus", 404, "Not found."],
    ["phx_ada", 1, "nobody", 404, "Not found."],
    ["phx_ada", 4, "dan", 404, "Dashboard not found."],
    ["phx_eve", 1, "dan", 403, "You don't have access to the project."],
    ["phx_reader", 1, "dan", 403, "API key missing required scope 'dashboard:write'"],
  ])("%s, dashboard %d, %s: %d", async (key, dashboard, name, status, detail) => {
    const sim = manage({ world: world() });
    expect(reported(await sim.delete(`${at(dashboard)}/${idOf(name)}`, { key }))).toEqual([status, detail]);
    expect(sim.worlds.current.dashboard_collaborators).toHaveLength(2);
  });

  test("is refused while everyone may edit", async () => {
    const open = world();
    open.dashboards = open.dashboards.map((it) => ({ ...it, restriction_level: 21 }));
    const answer = await manage({ world: open }).delete(`${at(1)}/${idOf("dan")}`);
    expect(answer.json).toEqual({
      type: "validation_error",
      code: "invalid_input",
      detail: "Cannot remove collaborators from a dashboard on the lowest restriction level.",
      attr: null,
    });
  });
});

test("collaborators of another organization's dashboard stay hidden", async () => {
  const sim = manage({ world: world() });
  expect((await sim.get(at(3, 3), { key: "phx_eve" })).json).toEqual([]);
  expect(reported(await sim.get(at(3, 3)))).toEqual([403, "You don't have access to the project."]);
});
