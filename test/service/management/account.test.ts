import { describe, expect, test } from "vitest";
import type { World } from "../../../src/state/documents/world.ts";
import { type Answer, manage } from "./manage.ts";
import { acme, globex, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const me = "/api/users/@me";
const adaId = uuidOf("ada@example.test");
const reported = ({ status, json }: Answer) => [status, json?.detail];
const notMe = "As a non-staff user you're only allowed to access the `@me` user instance.";

/** Ada is a member of Globex, too. */
function inBoth(): World {
  const world = twoOrganizations();
  const [first] = world.memberships;
  if (first) world.memberships.push({ ...first, id: uuidOf("ada@globex"), organization: globex, level: 1 });
  return world;
}

describe("the caller's account", () => {
  test("says who and where they are", async () => {
    const { status, json } = await manage({ world: inBoth() }).get(`${me}/`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      id: 1,
      uuid: adaId,
      distinct_id: adaId,
      first_name: "ada",
      last_name: "",
      email: "ada@example.test",
      is_staff: false,
      date_joined: startedAt,
      team: { id: 1, organization: acme, name: "Acme web", api_token: "phc_project_1" },
      organization: { id: acme, slug: "acme", membership_level: 15, member_count: "4" },
      organizations: [
        { id: acme, name: "Acme", slug: "acme", logo_media_id: null, membership_level: 15 },
        { id: globex, name: "Globex", slug: "globex", logo_media_id: null, membership_level: 1 },
      ],
    });
  });

  test.each([
    ["phx_ada", me, 200, undefined],
    ["phx_project_1", me, 200, undefined],
    ["phx_acme_only", me, 200, undefined],
    ["phx_reader", me, 403, "API key missing required scope 'user:read'"],
    ["phx_ada", `/api/users/${adaId}`, 403, notMe],
    ["phx_ada", `/api/users/${uuidOf("eve@example.test")}`, 403, notMe],
    [null, me, 401, "Authentication credentials were not provided."],
  ])("%s asks for %s: %d", async (key, path, status, detail) => {
    expect(reported(await manage().get(path, { key }))).toEqual([status, detail]);
  });

  test.each([
    [adaId, 200],
    [uuidOf("eve@example.test").toUpperCase(), 200],
    [uuidOf("nobody"), 404],
    ["ada", 404],
  ])("staff may read others: %s %d", async (id, status) => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => ({ ...it, is_staff: it.id === 1 }));
    expect((await manage({ world }).get(`/api/users/${id}`)).status).toBe(status);
  });

  test("is nowhere when nothing is left", async () => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => ({ ...it, current_organization: null, current_project: null }));
    world.memberships = [];
    const { json } = await manage({ world }).get(me);
    expect(json).toMatchObject({ team: null, organization: null, organizations: [] });
  });
});

describe("changing the account", () => {
  test.each(["patch", "put"] as const)("with %s", async (method) => {
    const sim = manage();
    const changes = {
      first_name: "Ada",
      last_name: "",
      email: "countess@example.test",
      role_at_organization: "engineering",
      hedgehog_config: { color: "red" },
    };
    const { status, json } = await sim[method](me, { ...changes, uuid: "x", is_staff: true });
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...changes, uuid: adaId, is_staff: false });
    expect((await sim.get(me)).json).toEqual(json);
  });

  test.each([
    [{ set_current_organization: globex }, globex, 3],
    [{ set_current_organization: globex.toUpperCase() }, globex, 3],
    [{ set_current_team: 2 }, acme, 2],
    [{ set_current_team: "3" }, globex, 3],
    [{ set_current_organization: acme, set_current_team: 2 }, acme, 2],
    [{ first_name: "A" }, acme, 1],
  ])("%j moves @current", async (body, organization, project) => {
    const sim = manage({ world: inBoth() });
    expect((await sim.patch(me, body)).status).toBe(200);
    expect((await sim.get("/api/organizations/@current")).json.id).toBe(organization);
    expect((await sim.get("/api/projects/@current")).json.id).toBe(project);
  });

  test.each([
    [{ first_name: "" }, "blank", "This field may not be blank.", "first_name"],
    [{ first_name: "x".repeat(151) }, "max_length", "Ensure this field has no more than 150 characters.", "first_name"],
    [{ last_name: null }, "null", "This field may not be null.", "last_name"],
    [{ email: "nonsense" }, "invalid_input", "Enter a valid email address.", "email"],
    [{ email: "BEN@example.test" }, "unique", "There is already an account with this email address.", "email"],
    [{ role_at_organization: "king" }, "invalid_choice", '"king" is not a valid choice.', "role_at_organization"],
    [{ hedgehog_config: [] }, "not_a_dict", 'Expected a dictionary of items but got type "list".', "hedgehog_config"],
    [
      { set_current_organization: "x" },
      "does_not_exist",
      "Object with id=x does not exist.",
      "set_current_organization",
    ],
    [
      { set_current_organization: globex },
      "does_not_exist",
      `Object with id=${globex} does not exist.`,
      "set_current_organization",
    ],
    [{ set_current_team: 3 }, "does_not_exist", "Object with id=3 does not exist.", "set_current_team"],
    [{ set_current_team: "x" }, "does_not_exist", "Object with id=x does not exist.", "set_current_team"],
  ])("%j is refused", async (body, code, detail, attr) => {
    const sim = manage();
    const answer = await sim.patch(me, body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ type: "validation_error", code, detail, attr });
    expect(sim.worlds.get("users", 1)).toEqual(twoOrganizations().users[0]);
  });

  test("to a project of another organization than the one that is named is refused", async () => {
    const body = { set_current_organization: acme, set_current_team: 3 };
    expect((await manage({ world: inBoth() }).patch(me, body)).json).toMatchObject({
      detail: "Team must belong to the same organization in set_current_organization.",
      attr: "set_current_team",
    });
  });

  test("needs its scope", async () => {
    expect(reported(await manage().patch(me, {}, { key: "phx_reader" }))).toEqual([
      403,
      "API key missing required scope 'user:write'",
    ]);
  });
});

describe("a personal key", () => {
  const keys = "/api/personal_api_keys";
  const onlyItself = "This action does not support Personal API Key access";

  test.each([
    ["phx_nothing", []],
    ["phx_reader", ["dashboard:read", "organization:read", "batch_export:read"]],
    ["phx_ada", ["*"]],
  ])("reads itself whatever its scopes: %s", async (key, scopes) => {
    const sim = manage();
    const { status, json } = await sim.get(`${keys}/@current`, { key });
    expect(status).toBe(200);
    expect(json).toEqual({
      id: key === "phx_ada" ? "ada" : key,
      label: key,
      value: null,
      mask_value: `phx_...${key.slice(-4)}`,
      created_at: startedAt,
      last_used_at: null,
      user_id: 1,
      scopes,
      scoped_teams: [],
      scoped_organizations: [],
      last_rolled_at: null,
    });
    expect((await sim.get(`${keys}/${json.id}/`, { key })).json).toEqual(json);
  });

  test.each([
    ["phx_project_1", { scoped_teams: [1], scoped_organizations: [] }],
    ["phx_acme_only", { scoped_teams: [], scoped_organizations: [acme] }],
  ])("reports its limits: %s", async (key, limits) => {
    expect((await manage().get(`${keys}/@current`, { key })).json).toMatchObject(limits);
  });

  test.each([
    ["GET", keys, "phx_ada", 403, onlyItself],
    ["GET", `${keys}/phx_reader`, "phx_ada", 403, onlyItself],
    ["GET", `${keys}/eve`, "phx_ada", 404, "Not found."],
    ["GET", `${keys}/unknown`, "phx_ada", 404, "Not found."],
    ["POST", keys, "phx_ada", 403, "This action does not support personal API key access"],
    ["DELETE", `${keys}/ada`, "phx_ada", 403, "This action does not support personal API key access"],
    ["GET", `${keys}/@current`, null, 401, "Authentication credentials were not provided."],
    [
      "GET",
      `${keys}/@current`,
      "phx_unknown",
      401,
      "Personal API key found in request Authorization header is invalid.",
    ],
  ])("%s %s by %s: %d", async (method, path, key, status, detail) => {
    expect(reported(await manage().ask(method, path, { key }))).toEqual([status, detail]);
  });
});
