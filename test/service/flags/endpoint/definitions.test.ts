import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { definitionEndpoints, flagRemoteConfigEndpoints } from "../../../../src/service/flags/endpoint/definitions.ts";
import type { FeatureFlag, World } from "../../../../src/state/documents/world.ts";
import { aPersonalApiKey, aProject } from "../../../support/documents.ts";
import { aDesk, aFlag, asker, aWorld } from "./flags-desk.ts";

const remote = { is_remote_configuration: true };
const inCohort = (value: number) => ({ key: "id", type: "cohort", value });
const byCohorts = [{ properties: [inCohort(11)] }, { properties: [inCohort(12)] }];
const world = aWorld({
  feature_flags: [
    aFlag("a", { id: 1, filters: { groups: byCohorts, payloads: { true: { x: 1 } } } }),
    aFlag("inactive", { id: 2, active: false }),
    aFlag("deleted", { id: 3, deleted: true }),
    aFlag("foreign", { id: 4, project: 2 }),
    aFlag("config", { id: 5, ...remote, filters: { payloads: { true: '{"secret":"payload"}' } } }),
    aFlag("object", { id: 6, ...remote, filters: { payloads: { true: { a: 1 } } } }),
    aFlag("hidden", { id: 8, ...remote, has_encrypted_payloads: true, filters: { payloads: { true: '"x"' } } }),
    aFlag("falsy", { id: 11, ...remote, filters: { payloads: { true: {} } } }),
    aFlag("12", { id: 13, ...remote, filters: { payloads: { true: "1" } } }),
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
const ask = asker([...definitionEndpoints(desk, desk.rulesets), ...flagRemoteConfigEndpoints(desk)]);
/** The flags service takes a personal key with a project key only. */
const withToken = (path: string): string => (path.startsWith("/flags/") ? `${path}?token=phc_test` : path);
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
    has_experiment: false,
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
        filters: { groups: byCohorts, payloads: { true: '{"x":1}' } },
      },
      { ...common, id: 2, key: "inactive", name: "inactive", active: false, filters: expect.any(Object) },
    ],
    group_type_mapping: { 0: "company", 1: "team" },
    cohorts: { 11: { type: "OR", values: [] } },
  };

  test.each(paths.flatMap((path) => [withToken(path), `${path}/?token=phc_test&send_cohorts`]))(
    "%s",
    async (target) => {
      const answer = await ask(target, bearer("phx_reader"));
      expect(answer.status).toBe(200);
      const hasCohorts = target.startsWith("/flags/") || target.endsWith("send_cohorts");
      expect(answer.json()).toEqual(hasCohorts ? expected : { ...expected, cohorts: {} });
      expect(answer.header("cache-control")).toBe("private, must-revalidate");
      expect(answer.header("etag")).toMatch(/^W\/"[0-9a-f]+"$/);
      expect(answer.note).toEqual({ project: 1 });
    },
  );

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
    const again = await ask("/flags/definitions?token=phc_test", bearer("phs_test", { "if-none-match": header(tag) }));
    expect(again.status).toBe(status);
    expect(again.header("etag")).toBe(tag);
    expect(again.text === "").toBe(status === 304);
  });
});

type Definitions = { flags: { key: string; filters: FeatureFlag["filters"] }[]; cohorts: object };

/** The definitions of a project, as one of the paths reports them. */
async function definitionsOf(more: Partial<World>, target = "/flags/definitions") {
  const other = await aDesk(aWorld(more));
  const answer = await asker(definitionEndpoints(other, other.rulesets))(target, bearer("phs_test"));
  return answer.json() as Definitions;
}

describe("flags that depend on others", () => {
  const onFlag = (key: string): FeatureFlag["filters"] => ({
    groups: [{ properties: [{ key, type: "flag", operator: "flag_evaluates_to", value: true }], variant: "x" }],
  });
  const feature_flags = [
    aFlag("top", { id: 1, filters: onFlag("2") }),
    aFlag("middle", { id: 2, filters: onFlag("base") }),
    aFlag("base", { id: 3, active: false }),
    aFlag("self", { id: 4, filters: onFlag("4") }),
    aFlag("orphan", { id: 5, filters: onFlag("99") }),
    aFlag("orphan-by-key", { id: 6, filters: onFlag("nothing") }),
    aFlag("behind", { id: 7, filters: onFlag("6") }),
    aFlag("of-deleted", { id: 8, filters: onFlag("9") }),
    aFlag("deleted", { id: 9, deleted: true }),
  ];

  test.each<[string, string, string[]]>([
    ["top", "middle", ["base", "middle"]],
    ["middle", "base", ["base"]],
    ["self", "self", []],
    ["orphan", "99", []],
    ["orphan-by-key", "nothing", []],
    ["behind", "orphan-by-key", []],
    ["of-deleted", "9", []],
  ])("%s asks for %s after %j", async (key, asked, dependency_chain) => {
    const { flags } = await definitionsOf({ feature_flags });
    expect(flags.find((flag) => flag.key === key)?.filters).toEqual({
      groups: [
        {
          properties: [{ key: asked, type: "flag", operator: "flag_evaluates_to", value: true, dependency_chain }],
          variant: "x",
        },
      ],
    });
  });
});

describe("cohorts", () => {
  const pro = { key: "plan", type: "person", operator: "exact", value: "pro" };
  const old = { key: "age", type: "person", operator: "gt", value: 60 };
  const and = (...values: object[]) => ({ type: "AND", values });
  const or = (...values: object[]) => ({ type: "OR", values });
  const filtersOf = (properties: object) => ({ properties }) as unknown as World["cohorts"][number]["filters"];
  const set = (properties: object[], rollout_percentage: number | null = 30) => ({ properties, rollout_percentage });
  const by = (...groups: object[]): FeatureFlag["filters"] => ({ groups }) as FeatureFlag["filters"];
  const one = by({ properties: [inCohort(1)], rollout_percentage: 30 });

  /** `undefined`: the flag stays as it is. */
  const inlined: [string, object, FeatureFlag["filters"], object[] | undefined][] = [
    ["a single condition", or(and(pro)), one, [set([pro])]],
    ["conditions that all hold", or(and(pro, old)), one, [set([pro, old])]],
    ["… without the outer group", and(pro, old), one, [set([pro, old])]],
    ["alternatives", or(and(pro), and(old)), one, [set([pro]), set([old])]],
    ["… in one group", and(or(pro, old)), one, [set([pro]), set([old])]],
    ["alternatives of several", or(and(pro, old), and(old)), one, [set([pro, old]), set([old])]],
    ["negation off", or(and({ ...pro, negation: false })), one, [set([pro])]],
    ["negation", or(and({ ...pro, negation: true })), one, undefined],
    ["a behaviour", or(and({ key: "x", type: "behavioral", value: "performed_event" })), one, undefined],
    ["all of alternatives", and(or(pro, old), or(pro, old)), one, undefined],
    ["alternatives inside", or(or(pro, old), and(pro)), one, undefined],
    ["nothing", or(), one, undefined],
    ["another cohort inside", or(and(inCohort(2))), one, undefined],
    ["no rollout", or(and(pro)), by({ properties: [inCohort(1)] }), [set([pro], null)]],
    [
      "other sets come first; the rollout is the last set's",
      or(and(pro)),
      by({ properties: [inCohort(1)], rollout_percentage: 30 }, { properties: [old], rollout_percentage: 50 }),
      [set([old], 50), set([pro], 50)],
    ],
    ["more in the set", or(and(pro)), by({ properties: [inCohort(1), old] }), undefined],
    ["a variant", or(and(pro)), by({ properties: [inCohort(1)], variant: "x" }), undefined],
    ["two cohorts", or(and(pro)), by({ properties: [inCohort(1)] }, { properties: [inCohort(2)] }), undefined],
    ["no such cohort", or(and(pro)), by({ properties: [inCohort(9)] }), undefined],
  ];

  test.each(inlined)("%s, without send_cohorts", async (_name, tree, filters, expected) => {
    const more = {
      feature_flags: [aFlag("a", { filters })],
      cohorts: [
        { id: 1, project: 1, filters: filtersOf(tree) },
        { id: 2, project: 1, filters: filtersOf(or(and(old))) },
      ],
    };
    const path = "/api/feature_flag/local_evaluation";
    const { flags, cohorts } = await definitionsOf(more, path);
    expect(flags[0]?.filters).toEqual(expected ? { groups: expected } : filters);
    expect(cohorts).toEqual({});
    expect((await definitionsOf(more, `${path}?send_cohorts`)).flags[0]?.filters).toEqual(filters);
  });

  test("only those that flags need are reported, with all inside them, but no static ones", async () => {
    const { cohorts } = await definitionsOf({
      feature_flags: [aFlag("a", { filters: one, active: false })],
      cohorts: [
        { id: 1, project: 1, filters: filtersOf(or(and(inCohort(2), inCohort(3)))) },
        { id: 2, project: 1, groups: [{ properties: [pro] }, { properties: [old, pro] }] as unknown as Json[] },
        { id: 3, project: 1, is_static: true },
        { id: 4, project: 1, filters: filtersOf(or()) },
      ],
    });
    expect(cohorts).toEqual({ 1: or(and(inCohort(2), inCohort(3))), 2: or(and(pro), and(old, pro)) });
  });
});

describe("overrides", () => {
  const override = { project: 1, payload: null, created_at: "", distinct_id: null, value: true };

  test("for one person leave the flag to the server, anyone who asks", async () => {
    const { flags } = await definitionsOf({
      feature_flags: [aFlag("a", { id: 1, active: false }), aFlag("b", { id: 2 })],
      flag_overrides: [
        { ...override, id: "1", flag: "a", distinct_id: "u1" },
        { ...override, id: "2", flag: "new", distinct_id: "u1" },
        { ...override, id: "3", flag: "b", distinct_id: "u1", project: 2 },
      ],
    });
    expect(flags).toMatchObject([
      { key: "a", active: true, ensure_experience_continuity: true },
      { key: "b", active: true, ensure_experience_continuity: false },
    ]);
    expect(flags).toHaveLength(2);
  });

  test("for everyone change the rules and the tag", async () => {
    const other = await aDesk(aWorld({ feature_flags: [aFlag("a", { id: 1, active: false })] }));
    const asked = asker(definitionEndpoints(other, other.rulesets));
    const tagOf = async () => (await asked("/flags/definitions", bearer("phs_test"))).header("etag");
    const before = await tagOf();
    other.worlds.change((draft) => {
      draft.put("flag_overrides", { ...override, id: "2", flag: "a", value: "red", payload: 5 });
      draft.put("flag_overrides", { ...override, id: "3", flag: "new", value: false });
    });
    expect(await tagOf()).not.toBe(before);
    expect((await asked("/flags/definitions", bearer("phs_test"))).json()).toMatchObject({
      flags: [
        {
          key: "a",
          active: true,
          filters: {
            groups: [{ properties: [], rollout_percentage: 100, variant: "red" }],
            multivariate: { variants: [{ key: "red", rollout_percentage: 100 }] },
            payloads: { red: "5" },
          },
        },
        { key: "new", id: 0, active: true, filters: { groups: [] } },
      ],
    });
    other.worlds.change((draft) => {
      for (const id of ["2", "3"]) draft.remove("flag_overrides", id);
    });
    expect(await tagOf()).toBe(before);
  });
});

test.each([
  [2, { property_matching_version: 2 }],
  [1, {}],
])("property_matching_version %j", async (version, expected) => {
  const projects = [aProject({ settings: { property_matching_version: version } })];
  const { flags: _, ...rest } = await definitionsOf({ projects });
  expect(rest).toEqual({ group_type_mapping: {}, cohorts: {}, ...expected });
});

test("evaluation contexts are reported", async () => {
  const { flags } = await definitionsOf({ feature_flags: [aFlag("a", { evaluation_contexts: ["docs"] })] });
  expect(flags).toMatchObject([{ evaluation_contexts: ["docs"] }]);
});

test.each(paths)("%s over quota: 402", async (path) => {
  const projects = [aProject({ settings: { quota_limited: ["feature_flags"] } })];
  const other = await aDesk(aWorld({ projects }));
  const answer = await asker(definitionEndpoints(other, other.rulesets))(path, bearer("phs_test"));
  expect([answer.status, answer.json()]).toEqual([
    402,
    {
      type: "quota_limited",
      code: "payment_required",
      detail: "You have exceeded your feature flag request quota",
      attr: null,
    },
  ]);
  expect(answer.note).toEqual({ project: 1 });
});

describe("access", () => {
  const failed = { type: "authentication_error", code: "authentication_failed", attr: null };
  const personal = { ...failed, detail: "Personal API key is invalid." };
  const secret = { ...failed, detail: "Secret API token is invalid." };
  const denied = (detail: string) => ({ type: "authentication_error", code: "permission_denied", detail, attr: null });
  const noAccess = denied("You don't have access to the project.");
  const noScope = denied("API key missing required scope 'feature_flag:read'");
  const noCredentials = {
    type: "authentication_error",
    code: "not_authenticated",
    detail: "Authentication credentials were not provided.",
    attr: null,
  };
  const notFound = { code: "not_found" };
  const stranger = "1a2b3c4d-0000-4000-8000-00000000000f";
  const keys = [
    ...aWorld().personal_api_keys,
    aPersonalApiKey({ key: "phx_team_2", scoped_teams: [2] }),
    aPersonalApiKey({ key: "phx_elsewhere", scoped_organizations: [stranger] }),
    aPersonalApiKey({ key: "phx_stranger", user: 2 }),
  ];

  type Row = [name: string, target: string, key: string | undefined, status: number, expected: object];
  const refusals: Row[] = [
    ["no key", "/flags/definitions?token=phc_test", undefined, 401, noCredentials],
    ["no key and no token", "/flags/definitions", undefined, 401, noCredentials],
    ["an unknown personal key", "/flags/definitions?token=phc_test", "phx_wrong", 401, personal],
    ["a project key", "/flags/definitions?token=phc_test", "phc_test", 401, personal],
    ["an unknown secret key", "/flags/definitions?token=phc_test", "phs_wrong", 401, secret],
    ["an unknown secret key without a token", "/flags/definitions", "phs_wrong", 401, secret],
    [
      "no scope",
      "/flags/definitions?token=phc_test",
      "phx_dashboards",
      401,
      { ...failed, detail: "Personal API key lacks required scopes (feature_flag:read or feature_flag:write)." },
    ],
    ["a key of other projects", "/flags/definitions?token=phc_test", "phx_team_2", 401, personal],
    ["a key of another organization", "/flags/definitions?token=phc_test", "phx_elsewhere", 401, personal],
    ["a key of a user who is no member", "/flags/definitions?token=phc_test", "phx_stranger", 401, personal],
    ["another project's token", "/flags/definitions?token=phc_other", "phs_test", 401, secret],
    ["an unknown token", "/flags/definitions?token=phc_wrong", "phx_all", 401, failed],
    ...paths.slice(1).flatMap((path): Row[] => [
      ["no key", path, undefined, 401, noCredentials],
      ["an unknown personal key", path, "phx_wrong", 401, personal],
      ["an unknown secret key", path, "phs_wrong", 401, secret],
      ["no scope", path, "phx_dashboards", 403, noScope],
      ["a key of other projects", path, "phx_team_2", 403, noAccess],
      ["a key of another organization", path, "phx_elsewhere", 403, noAccess],
      ["a key of a user who is no member", path, "phx_stranger", 403, noAccess],
      ["another project's token", `${path}?token=phc_other`, "phs_test", 403, noAccess],
      ["an unknown token", `${path}?token=phc_wrong`, "phx_all", 401, failed],
    ]),
    ["another project's number", "/api/projects/2/feature_flags/local_evaluation", "phs_test", 403, noAccess],
    ["no such project", "/api/projects/99/feature_flags/local_evaluation", "phx_all", 404, notFound],
    ["no project number", "/api/projects/x/feature_flags/local_evaluation", "phx_all", 404, notFound],
    [
      "another project's token",
      "/api/projects/@current/feature_flags/config/remote_config?token=phc_other",
      "phs_test",
      403,
      noAccess,
    ],
    ["no key", "/api/projects/@current/feature_flags/config/remote_config", undefined, 401, noCredentials],
  ];

  test.each(refusals)("%s at %s", async (_name, target, key, status, expected) => {
    const other = await aDesk(aWorld({ personal_api_keys: keys }));
    const endpoints = [...definitionEndpoints(other, other.rulesets), ...flagRemoteConfigEndpoints(other)];
    const answer = await asker(endpoints)(target, key === undefined ? {} : bearer(key));
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject(expected);
  });

  // Upstream: any key but a secret one, valid or not, as it cannot name a project.
  test.each(["phx_all", "phx_dashboards", "phx_wrong", "phc_test"])(
    "the flags service asks %s for a token",
    async (key) => {
      const answer = await ask("/flags/definitions", bearer(key));
      expect([answer.status, answer.header("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
      expect(answer.text).toBe(
        "The 'token' query parameter is required unless the request authenticates with a phs_ key.",
      );
    },
  );

  test("a secret key needs no token", async () => {
    expect((await ask("/flags/definitions", bearer("phs_test"))).status).toBe(200);
  });
});

describe("one flag's remote config", () => {
  const path = (key: string, query = "") => `/api/projects/@current/feature_flags/${key}/remote_config${query}`;

  test.each<[string, string, string, string]>([
    ["a JSON string", path("config", "?token=phc_test"), "phx_reader", '"{\\"secret\\":\\"payload\\"}"'],
    ["without a token", path("config", "/"), "phx_reader", '"{\\"secret\\":\\"payload\\"}"'],
    ["by the secret key", path("config"), "phs_test", '"{\\"secret\\":\\"payload\\"}"'],
    ["by its id", path("5"), "phx_all", '"{\\"secret\\":\\"payload\\"}"'],
    ["by the project's number", "/api/projects/2/feature_flags/other-config/remote_config", "phx_all", '"2"'],
    ["written as an object", path("object"), "phx_all", '"{\\"a\\":1}"'],
    ["encrypted, for a person", path("hidden"), "phx_all", '"\\"x\\""'],
    ["encrypted, for a server", path("hidden"), "phs_test", '"\\"********* (encrypted)\\""'],
    ["nothing in it", path("falsy"), "phx_all", ""],
    ["none", path("empty"), "phx_all", ""],
  ])("%s", async (_name, target, key, expected) => {
    const answer = await ask(target, bearer(key));
    expect([answer.status, answer.text]).toEqual([200, expected]);
    expect(answer.note).toMatchObject({ project: expect.any(Number) });
  });

  test.each(["nothing", "a", "deleted", "other-config", "10", "12", "constructor"])("%s: 404", async (key) => {
    const answer = await ask(path(key), bearer("phx_all"));
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({ code: "not_found" });
  });
});
