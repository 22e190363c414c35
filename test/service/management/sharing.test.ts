import { describe, expect, test } from "vitest";
import { dashboardKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { type Answer, manage, now } from "./manage.ts";
import { acme, startedAt, twoOrganizations } from "./world.ts";

const reported = ({ status, json }: Answer) => [status, json?.detail];
const at = (dashboard: number | string, project = 1) => `/api/projects/${project}/dashboards/${dashboard}/sharing`;
const editText = "You don't have edit permissions for this dashboard.";
const forbiddenText = "Public sharing is disabled for this organization.";

/** Dashboards of project 1: 1 open to everyone, 2 restricted, 4 deleted. Dashboard 3 is project 3's. */
function world(): World {
  const world = twoOrganizations();
  world.dashboards = [
    dashboardKind.blank({ id: 1, project: 1 }, startedAt),
    dashboardKind.blank({ id: 2, project: 1, restriction_level: 37, created_by: 1 }, startedAt),
    dashboardKind.blank({ id: 3, project: 3 }, startedAt),
    dashboardKind.blank({ id: 4, project: 1, deleted: true }, startedAt),
  ];
  return world;
}

/** Acme does not want anything to be public. */
function closed(): World {
  const it = world();
  it.organizations = it.organizations.map((one) => ({ ...one, allow_publicly_shared_resources: false }));
  return it;
}

const neverShared = {
  created_at: null,
  enabled: false,
  access_token: expect.stringMatching(/^[\w-]{30}$/),
  settings: null,
  password_required: false,
  share_passwords: [],
};

describe("the sharing of a dashboard", () => {
  test("that was never shared has another token each time, and stores none", async () => {
    const sim = manage({ world: world() });
    const [first, second] = [await sim.get(at(1)), await sim.get(`${at(1)}/`)];
    expect(first.status).toBe(200);
    expect(first.json).toEqual(neverShared);
    expect(second.json.access_token).not.toBe(first.json.access_token);
    expect(sim.worlds.current.sharing_configurations).toEqual([]);
    expect((await sim.get(`/shared/${first.json.access_token}`)).status).toBe(404);
  });

  test("begins with a PATCH, and its token stays", async () => {
    const sim = manage({ world: world() });
    const { status, json } = await sim.patch(at(1), { enabled: true, access_token: "mine", created_at: "x" });
    expect(status).toBe(200);
    expect(json).toEqual({ ...neverShared, created_at: "2026-03-04T05:06:07.089000Z", enabled: true });
    expect((await sim.get(at(1))).json).toEqual(json);
    expect((await sim.get("/api/projects/1/dashboards/1")).json.is_shared).toBe(true);
    const off = await sim.patch(at(1), { enabled: "false" });
    expect(off.json).toEqual({ ...json, enabled: false });
    expect((await sim.get("/api/projects/1/dashboards/1")).json.is_shared).toBe(false);
    expect((await sim.patch(at(1), { enabled: true })).json).toEqual(json);
  });

  test("is stored by an empty PATCH, too", async () => {
    const sim = manage({ world: world() });
    const { json } = await sim.patch(at(1), {});
    expect((await sim.get(at(1))).json).toEqual(json);
  });

  test.each([
    [
      { whitelabel: true, noHeader: "yes", legend: null, nonsense: 1, theme: "dark" },
      { whitelabel: true, noHeader: true, theme: "dark" },
    ],
    [{}, {}],
    [null, null],
  ])("keeps the settings %j", async (settings, kept) => {
    const sim = manage({ world: world() });
    expect((await sim.patch(at(1), { settings })).json.settings).toEqual(kept);
    expect((await sim.patch(at(1), { enabled: true })).json.settings).toEqual(kept);
  });

  test.each([
    [{ enabled: "perhaps" }, "Must be a valid boolean.", "enabled"],
    [{ password_required: [] }, "Must be a valid boolean.", "password_required"],
    [{ settings: [] }, "Invalid settings format", "settings"],
    [{ settings: "x" }, "Invalid settings format", "settings"],
    [{ settings: { legend: "perhaps" } }, "Invalid settings format", "settings"],
    [{ settings: { theme: "pink" } }, "Invalid settings format", "settings"],
  ])("refuses %j", async (body, detail, attr) => {
    const sim = manage({ world: world() });
    const answer = await sim.patch(at(1), body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ type: "validation_error", code: "invalid_input", detail, attr });
    expect(sim.worlds.current.sharing_configurations).toEqual([]);
  });

  test("distinguishes null from an absent value", async () => {
    const { json } = await manage({ world: world() }).patch(at(1), { enabled: null });
    expect(json).toMatchObject({ code: "null", attr: "enabled" });
  });

  test.each([
    ["GET", "phx_ada", at(3), 404, "Dashboard not found."],
    ["GET", "phx_ada", at(4), 404, "Dashboard not found."],
    ["PATCH", "phx_ada", at(4), 404, "Dashboard not found."],
    ["POST", "phx_ada", `${at(4)}/refresh`, 404, "Dashboard not found."],
    ["GET", "phx_eve", at(1), 403, "You don't have access to the project."],
    ["GET", "phx_cleo", at(2), 200, undefined],
    ["PATCH", "phx_cleo", at(2), 403, editText],
    ["POST", "phx_cleo", `${at(2)}/refresh`, 403, editText],
    ["PATCH", "phx_cleo", at(1), 200, undefined],
    ["GET", "phx_reader", at(1), 403, "API key missing required scope 'sharing_configuration:read'"],
    ["PATCH", "phx_writer", at(1), 403, "API key missing required scope 'sharing_configuration:write'"],
    ["POST", "phx_writer", `${at(1)}/refresh`, 403, "API key missing required scope 'sharing_configuration:write'"],
    ["POST", "phx_ada", at(1), 403, "This action does not support personal API key access"],
    ["PUT", "phx_ada", at(1), 403, "This action does not support personal API key access"],
    ["DELETE", "phx_ada", at(1), 403, "This action does not support personal API key access"],
    ["GET", "phx_ada", at(1).replace("projects", "environments"), 200, undefined],
  ])("%s by %s at %s: %d", async (method, key, path, status, detail) => {
    expect(reported(await manage({ world: world() }).ask(method, path, { key }))).toEqual([status, detail]);
  });

  test.each([
    [{ enabled: true }, 403, forbiddenText],
    [{ enabled: "perhaps" }, 403, forbiddenText],
    [{ enabled: false }, 200, undefined],
    [{ settings: {} }, 200, undefined],
  ])("in an organization that forbids it: %j %d", async (body, status, detail) => {
    expect(reported(await manage({ world: closed() }).patch(at(1), body))).toEqual([status, detail]);
  });

  test("with a password needs the feature", async () => {
    const unlicensed = world();
    unlicensed.organizations = unlicensed.organizations.map((it) =>
      it.id === acme ? { ...it, available_product_features: [] } : it,
    );
    expect(reported(await manage({ world: unlicensed }).patch(at(1), { password_required: true }))).toEqual([
      403,
      "Sharing with password requires the Advanced Permissions feature",
    ]);
    const { json } = await manage({ world: world() }).patch(at(1), { password_required: true });
    expect(json.password_required).toBe(true);
  });
});

describe("refreshing the token", () => {
  test("lets the old one work for five minutes", async () => {
    const sim = manage({ world: world() });
    const old = (await sim.patch(at(1), { enabled: true, settings: { legend: true } })).json;
    const shared = async ({ access_token }: { access_token: string }) =>
      (await sim.get(`/shared/${access_token}.json`, { key: null })).status;
    sim.clock.set(now + 1_000);
    const { status, json: next } = await sim.post(`${at(1)}/refresh/`);
    expect(status).toBe(200);
    expect(next).toEqual({ ...old, access_token: next.access_token, created_at: "2026-03-04T05:06:08.089000Z" });
    expect(next.access_token).not.toBe(old.access_token);
    expect([await shared(old), await shared(next)]).toEqual([200, 200]);
    sim.clock.set(now + 1_000 + 299_999);
    expect(await shared(old)).toBe(200);
    const last = (await sim.post(`${at(1)}/refresh/`)).json;
    sim.clock.set(now + 1_000 + 300_000);
    expect([await shared(old), await shared(next), await shared(last)]).toEqual([404, 200, 200]);
    await sim.patch(at(1), { enabled: false });
    expect([await shared(next), await shared(last)]).toEqual([404, 404]);
  });

  test("of a dashboard that was never shared stores one, and shares nothing", async () => {
    const sim = manage({ world: world() });
    const { json } = await sim.post(`${at(1)}/refresh`);
    expect(json.enabled).toBe(false);
    expect((await sim.get(at(1))).json).toEqual(json);
  });

  test("forgets tokens that no longer work", async () => {
    const sim = manage({ world: world() });
    await sim.patch(at(1), { enabled: true });
    for (const minute of [0, 10, 20]) {
      sim.clock.set(now + minute * 60_000);
      await sim.post(`${at(1)}/refresh`);
    }
    expect(sim.worlds.current.sharing_configurations[0]?.former_tokens).toHaveLength(1);
  });
});
