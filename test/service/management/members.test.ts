import { describe, expect, test } from "vitest";
import type { World } from "../../../src/state/documents/world.ts";
import { manage } from "./manage.ts";
import { acme, globex, startedAt, twoOrganizations, uuidOf } from "./world.ts";

const at = `/api/organizations/${acme}/members`;
const idOf = (name: string) => uuidOf(`${name}@example.test`);
const of = (name: string) => `${at}/${idOf(name)}`;

const ownText = "You can't change your own access level.";
const adminText = "You can only edit others if you are an admin.";
const higherText = "You can only edit others with level lower or equal to you.";
const ownerText = "You can only make another member owner if you're this organization's owner.";

/** Acme with Ben as a second owner. */
function twoOwners(): World {
  const world = twoOrganizations();
  world.memberships = world.memberships.map((it) => (it.user === 2 ? { ...it, level: 15 } : it));
  return world;
}

describe("the list of members", () => {
  test("shows who they are", async () => {
    const { status, json } = await manage().get(at);
    expect(status).toBe(200);
    expect(json).toMatchObject({ count: 4, next: null, previous: null });
    expect(json.results.find((it: { level: number }) => it.level === 8)).toEqual({
      id: uuidOf("membership ben"),
      user: {
        id: 2,
        uuid: idOf("ben"),
        distinct_id: idOf("ben"),
        first_name: "ben",
        last_name: "",
        email: "ben@example.test",
        is_email_verified: true,
        hedgehog_config: {},
        role_at_organization: null,
      },
      level: 8,
      joined_at: startedAt,
      updated_at: startedAt,
      is_2fa_enabled: false,
      has_social_auth: false,
      last_login: null,
    });
  });

  test("begins with the last to join", async () => {
    const world = twoOrganizations();
    world.memberships = world.memberships.map((it) =>
      it.user === 2 ? { ...it, joined_at: "2026-02-01T00:00:00Z" } : it,
    );
    const { json } = await manage({ world }).get(at);
    expect(json.results[0].user.first_name).toBe("ben");
  });

  test("leaves out people who are not active", async () => {
    const world = twoOrganizations();
    world.users = world.users.map((it) => (it.id === 3 ? { ...it, is_active: false } : it));
    expect((await manage({ world }).get(at)).json.count).toBe(3);
  });

  test.each([
    ["?email=ben@example.test", 1],
    ["?email=nobody@example.test", 0],
    ["?email=eve@example.test", 0],
    ["?limit=1", 4],
  ])("with %s counts %d", async (query, count) => {
    expect((await manage().get(`${at}/${query}`)).json.count).toBe(count);
  });

  test.each([
    ["phx_cleo", at, 200, undefined],
    ["phx_ada", "/api/organizations/@current/members", 200, undefined],
    ["phx_eve", at, 403, "You do not have permission to perform this action."],
    ["phx_ada", `/api/organizations/${uuidOf("x")}/members`, 404, "Organization not found."],
    ["phx_ada", "/api/organizations/acme/members", 404, "Organization not found."],
    ["phx_reader", at, 403, "API key missing required scope 'organization_member:read'"],
    ["phx_globex_only", at, 403, `API key does not have access to the requested organization: ID ${acme}.`],
    ["phx_project_1", at, 403, "API keys with scoped projects are only supported on project-based endpoints."],
  ])("for %s at %s: %d", async (key, path, status, detail) => {
    const answer = await manage().get(path, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, detail]);
  });
});

describe("changing a member", () => {
  test.each([
    ["phx_ada", "cleo", { level: 8 }, 8],
    ["phx_ada", "ben", { level: "1" }, 1],
    ["phx_ben", "cleo", { level: 8 }, 8],
    ["phx_ada", "cleo", {}, 1],
    ["phx_ada", "ada", {}, 15],
  ])("%s gives %s %j", async (key, name, body, level) => {
    const sim = manage();
    const { status, json } = await sim.patch(of(name), body, { key });
    expect([status, json.level]).toEqual([200, level]);
    expect((await sim.get(`${at}?email=${name}@example.test`)).json.results[0].level).toBe(level);
  });

  test("keeps the time of the change", async () => {
    const { json } = await manage().put(of("cleo"), { level: 8 });
    expect(json).toMatchObject({ joined_at: startedAt, updated_at: "2026-03-04T05:06:07.089000Z" });
  });

  test("an owner may make another, and stays one", async () => {
    const sim = manage();
    expect((await sim.patch(of("ben"), { level: 15 })).json.level).toBe(15);
    expect((await sim.get(`/api/organizations/${acme}`)).json.membership_level).toBe(15);
    expect((await sim.patch(of("ada"), { level: 8 }, { key: "phx_ben" })).json.level).toBe(8);
  });

  test.each([
    ["phx_ada", "ada", { level: 8 }, 403, ownText],
    ["phx_ada", "@me", { level: 8 }, 403, ownText],
    ["phx_cleo", "dan", { level: 8 }, 403, adminText],
    ["phx_cleo", "dan", { level: 99 }, 403, adminText],
    ["phx_ben", "ada", { level: 1 }, 403, higherText],
    ["phx_ben", "cleo", { level: 15 }, 403, ownerText],
    ["phx_ada", "eve", { level: 8 }, 404, "Not found."],
    ["phx_ada", "nobody", { level: 8 }, 404, "Not found."],
    ["phx_ada", "ben", { level: 2 }, 400, '"2" is not a valid choice.'],
    ["phx_ada", "ben", { level: null }, 400, "This field may not be null."],
    ["phx_reader", "ben", { level: 1 }, 403, "API key missing required scope 'organization_member:write'"],
  ])("%s may not give %s %j", async (key, name, body, status, detail) => {
    const sim = manage();
    const answer = await sim.patch(name === "@me" ? `${at}/@me` : of(name), body, { key });
    expect([answer.status, answer.json.detail]).toEqual([status, detail]);
    expect(sim.worlds.current.memberships.map((it) => it.level)).toEqual([15, 8, 1, 1, 15]);
  });

  test("needs a UUID", async () => {
    expect((await manage().patch(`${at}/ben`, {})).status).toBe(404);
  });
});

describe("removing a member", () => {
  test.each([
    ["phx_ada", of("ben")],
    ["phx_ben", of("cleo")],
    ["phx_cleo", of("cleo")],
    ["phx_cleo", `${at}/@me/`],
  ])("is done by %s at %s", async (key, path) => {
    const sim = manage();
    const answer = await sim.delete(path, { key });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await sim.get(at)).json.count).toBe(3);
  });

  test("takes @current along", async () => {
    const world = twoOrganizations();
    const [first] = world.memberships;
    if (first) {
      world.memberships.push({ ...first, id: uuidOf("cleo@globex"), organization: globex, user: 3, level: 1 });
    }
    const sim = manage({ world });
    await sim.delete(of("cleo"));
    await sim.delete(of("dan"));
    expect(sim.worlds.get("users", 3)).toMatchObject({ current_organization: globex, current_project: 3 });
    expect(sim.worlds.get("users", 4)).toMatchObject({ current_organization: null, current_project: null });
    expect(sim.worlds.get("users", 2)).toMatchObject({ current_organization: acme, current_project: 1 });
    expect((await sim.get("/api/projects/1/dashboards", { key: "phx_cleo" })).status).toBe(403);
  });

  test.each([
    ["phx_ada", "ada", 400, "Cannot leave the organization as its owner!"],
    ["phx_ada", "ben", 400, "Cannot leave the organization as its owner!"],
    ["phx_cleo", "dan", 403, adminText],
    ["phx_dan", "ben", 403, adminText],
    ["phx_ada", "eve", 404, "Not found."],
    ["phx_reader", "cleo", 403, "API key missing required scope 'organization_member:write'"],
  ])("%s cannot remove %s", async (key, name, status, detail) => {
    const sim = manage({ world: twoOwners() });
    const answer = await sim.delete(of(name), { key });
    expect([answer.status, answer.json.detail, answer.json.attr]).toEqual([status, detail, null]);
    expect(sim.worlds.current.memberships).toHaveLength(5);
  });
});
