import { describe, expect, test } from "vitest";
import { definitionEndpoints } from "../../src/ingestion/definitions.ts";
import { flagRemoteConfigEndpoints } from "../../src/ingestion/flag-remote-config.ts";
import { aDesk, aFlag, asker, aWorld } from "./flags-desk.ts";

const remote = { is_remote_configuration: true };
const world = aWorld({
  feature_flags: [
    aFlag("a", { id: 1, filters: { groups: [{}], payloads: { true: { x: 1 } } } }),
    aFlag("inactive", { id: 2, active: false }),
    aFlag("deleted", { id: 3, deleted: true }),
    aFlag("foreign", { id: 4, project: 2 }),
    aFlag("config", { id: 5, ...remote, filters: { payloads: { true: '{"secret":"payload"}' } } }),
    aFlag("object", { id: 6, ...remote, filters: { payloads: { true: { a: 1 } } } }),
    aFlag("hidden", {
      id: 8,
      ...remote,
      has_encrypted_payloads: true,
      filters: { payloads: { true: '"x"' } },
    }),
    aFlag("empty", { id: 9, ...remote, filters: {} }),
    aFlag("other-config", { id: 10, project: 2, ...remote, filters: { payloads: { true: "2" } } }),
  ],
  cohorts: [
    { project: 1, id: 11, is_static: false, filters: { properties: { type: "OR", values: [] } } },
    { project: 1, id: 12, is_static: true, filters: { properties: { type: "OR", values: [] } } },
    { project: 2, id: 13, filters: { properties: { type: "OR", values: [] } } },
  ],
});
const desk = await aDesk(world, { groupTypes: ["company", "team"] });
const ask = asker([...definitionEndpoints(desk), ...flagRemoteConfigEndpoints(desk)]);
const bearer = (key: string, more: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${key}`, ...more },
});

const paths = [
  "/flags/definitions",
  "/api/feature_flag/local_evaluation",
  "/api/projects/1/feature_flags/local_evaluation",
  "/api/projects/@current/feature_flags/local_evaluation",
];

describe("definitions", () => {
  const common = {
    team_id: 1,
    deleted: false,
    ensure_experience_continuity: false,
    has_encrypted_payloads: false,
    version: 3,
    evaluation_runtime: "all",
    evaluation_contexts: [],
    bucketing_identifier: null,
  };
  const expected = {
    flags: [
      {
        ...common,
        id: 1,
        key: "a",
        name: "a",
        active: true,
        filters: { groups: [{}], payloads: { true: '{"x":1}' } },
      },
      { ...common, id: 2, key: "inactive", name: "inactive", active: false, filters: expect.any(Object) },
    ],
    group_type_mapping: { 0: "company", 1: "team" },
    cohorts: { 11: { type: "OR", values: [] } },
  };

  test.each(paths.flatMap((path) => [path, `${path}/?token=phc_test&send_cohorts`]))("%s", async (target) => {
    const answer = await ask(target, bearer("phx_reader"));
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual(expected);
    expect(answer.header("cache-control")).toBe("private, must-revalidate");
    expect(answer.header("etag")).toMatch(/^W\/"[0-9a-f]+"$/);
    expect(answer.note).toEqual({ project: 1 });
  });

  test("the project is the token's", async () => {
    const answer = await ask("/flags/definitions?token=phc_other", bearer("phx_all"));
    expect(answer.json()).toMatchObject({ flags: [{ key: "foreign" }] });
    expect((await ask("/flags/definitions", bearer("phs_other"))).json()).toMatchObject({
      flags: [{ key: "foreign" }],
    });
  });

  test.each([
    ["the same", (tag: string) => tag, 304],
    ["the same, strong", (tag: string) => tag.replace("W/", ""), 304],
    ["among others", (tag: string) => `"x", ${tag}`, 304],
    ["any", () => "*", 304],
    ["another", () => 'W/"x"', 200],
  ])("If-None-Match: %s", async (_name, header, status) => {
    const first = await ask("/flags/definitions?token=phc_test", bearer("phs_test"));
    const tag = first.header("etag") ?? "";
    const again = await ask(
      "/flags/definitions?token=phc_test",
      bearer("phs_test", { "if-none-match": header(tag) }),
    );
    expect(again.status).toBe(status);
    expect(again.header("etag")).toBe(tag);
    expect(again.text === "").toBe(status === 304);
  });
});

describe("who may ask", () => {
  const failed = { type: "authentication_error", code: "authentication_failed", attr: null };
  const denied = { code: "permission_denied", attr: null };

  test.each<[string, string, string | undefined, number, object]>([
    [
      "nobody",
      paths[0] ?? "",
      undefined,
      401,
      { code: "not_authenticated", detail: "Authentication credentials were not provided." },
    ],
    ["nobody", paths[2] ?? "", undefined, 401, { code: "not_authenticated" }],
    [
      "a wrong personal key",
      paths[0] ?? "",
      "phx_wrong",
      401,
      { ...failed, detail: "Personal API key is invalid." },
    ],
    ["a project key", paths[0] ?? "", "phc_test", 401, { ...failed, detail: "Personal API key is invalid." }],
    [
      "a wrong secret key",
      paths[0] ?? "",
      "phs_wrong",
      401,
      { ...failed, detail: "Secret API token is invalid." },
    ],
    ["no scope", paths[0] ?? "", "phx_dashboards", 403, denied],
    ["a wrong token", "/flags/definitions?token=phc_wrong", "phx_all", 401, failed],
    ["another project's token", "/flags/definitions?token=phc_other", "phs_test", 403, denied],
    ["another project's number", "/api/projects/2/feature_flags/local_evaluation", "phs_test", 403, denied],
    [
      "no such project",
      "/api/projects/99/feature_flags/local_evaluation",
      "phx_all",
      404,
      { code: "not_found" },
    ],
    [
      "no project number",
      "/api/projects/x/feature_flags/local_evaluation",
      "phx_all",
      404,
      { code: "not_found" },
    ],
    [
      "another project's token",
      "/api/projects/@current/feature_flags/config/remote_config?token=phc_other",
      "phs_test",
      403,
      denied,
    ],
    [
      "nobody",
      "/api/projects/@current/feature_flags/config/remote_config",
      undefined,
      401,
      { code: "not_authenticated" },
    ],
  ])("%s at %s", async (_name, target, key, status, expected) => {
    const answer = await ask(target, key === undefined ? {} : bearer(key));
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject(expected);
  });
});

describe("one flag's remote config", () => {
  const path = (key: string, query = "") =>
    `/api/projects/@current/feature_flags/${key}/remote_config${query}`;

  test.each<[string, string, string, string]>([
    ["a JSON string", path("config", "?token=phc_test"), "phx_reader", '"{\\"secret\\":\\"payload\\"}"'],
    ["without a token", path("config", "/"), "phx_reader", '"{\\"secret\\":\\"payload\\"}"'],
    ["by the secret key", path("config"), "phs_test", '"{\\"secret\\":\\"payload\\"}"'],
    ["by its id", path("5"), "phx_all", '"{\\"secret\\":\\"payload\\"}"'],
    ["by the project's number", "/api/projects/2/feature_flags/other-config/remote_config", "phx_all", '"2"'],
    ["written as an object", path("object"), "phx_all", '"{\\"a\\":1}"'],
    ["encrypted, for a person", path("hidden"), "phx_all", '"\\"x\\""'],
    ["encrypted, for a server", path("hidden"), "phs_test", '"\\"********* (encrypted)\\""'],
    ["none", path("empty"), "phx_all", ""],
  ])("%s", async (_name, target, key, expected) => {
    const answer = await ask(target, bearer(key));
    expect([answer.status, answer.text]).toEqual([200, expected]);
    expect(answer.note).toMatchObject({ project: expect.any(Number) });
  });

  test.each(["nothing", "a", "deleted", "other-config", "10", "constructor"])("%s: 404", async (key) => {
    const answer = await ask(path(key), bearer("phx_all"));
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ code: "not_found" });
  });
});
