import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../../src/kernel/base/json.ts";
import { captureSlice } from "../../../../src/service/capture/endpoint/capture.ts";
import { flagEndpoints } from "../../../../src/service/flags/endpoint/flags-rows.ts";
import type { FeatureFlag, StoredFlagOverride, World } from "../../../../src/state/documents/world.ts";
import { aProject } from "../../../support/documents.ts";
import { type Asked, aDesk, aFlag, asker, aWorld, type Stored } from "./flags-desk.ts";

/** A project's endpoints, asked as a client does; answers that are no JSON object are mistakes here. */
async function start(more: Partial<World>, stored: Stored = {}) {
  const desk = await aDesk(aWorld(more), stored);
  const ask = asker([...captureSlice.rows({ desk, mayVisit: () => false }), ...flagEndpoints(desk, desk.rulesets)]);
  const post = async (target: string, body: object, headers: Asked["headers"] = {}): Promise<JsonObject> => {
    const sent = { api_key: "phc_test", distinct_id: "u1", ...body };
    const answer = await ask(target, { method: "POST", headers, body: sent });
    const json = answer.json();
    if (answer.status !== 200 || !isObject(json)) throw new Error(`${answer.status} ${answer.text}`);
    return json;
  };
  const values = async (body: object = {}, query = "") => (await post(`/flags?v=1${query}`, body)).featureFlags;
  return { desk, ask, post, values };
}

const only = (...properties: { key: string; [name: string]: unknown }[]): FeatureFlag["filters"] => ({
  groups: [{ properties }],
});
const dependsOn = (id: number, value: boolean | string = true) =>
  only({ key: String(id), type: "flag", operator: "flag_evaluates_to", value });
const inCohort = (id: number) => only({ key: "id", type: "cohort", value: id });
const isPro = { key: "plan", type: "person", operator: "exact", value: "pro" };

describe("flags together", () => {
  const flags = [
    aFlag("child", { id: 1, filters: dependsOn(2) }),
    aFlag("parent", { id: 2, filters: only(isPro) }),
    aFlag("server", { id: 3, evaluation_runtime: "server" }),
    aFlag("of-server", { id: 4, filters: dependsOn(3, false) }),
    aFlag("orphan", { id: 5, filters: dependsOn(99) }),
    aFlag("egg", { id: 6, filters: dependsOn(7) }),
    aFlag("hen", { id: 7, filters: dependsOn(6) }),
  ];
  const stored: Stored = { persons: { u1: { plan: "pro" } } };

  test("dependencies are decided first, filtered ones are false, circles fail", async () => {
    const { post } = await start({ feature_flags: flags }, stored);
    const answer = await post("/flags?v=2", {});
    expect(answer.errorsWhileComputingFlags).toBe(true);
    expect(answer.flags).toMatchObject({
      child: { enabled: true, reason: { code: "condition_match" } },
      parent: { enabled: true },
      "of-server": { enabled: true },
      orphan: { enabled: false, reason: { code: "missing_dependency", condition_index: null } },
      egg: { enabled: false, failed: true, reason: { code: "dependency_cycle_flag" } },
      hen: { failed: true },
    });
    expect(answer.flags).not.toHaveProperty("server");
  });

  test.each<[string[], object]>([
    [["child"], { child: true, parent: true }],
    [["parent"], { parent: true }],
    [["orphan", "nothing"], { orphan: false }],
    [[], {}],
  ])("flag_keys_to_evaluate %j brings dependencies along", async (keys, expected) => {
    const { values } = await start({ feature_flags: flags }, stored);
    expect(await values({ flag_keys_to_evaluate: keys })).toEqual(expected);
  });
});

describe("cohorts", () => {
  const tree = { properties: { type: "OR", values: [{ type: "AND", values: [isPro] }] } };
  test.each<[string, World["cohorts"], Stored["persons"], boolean]>([
    ["dynamic, in", [{ id: 1, project: 1, filters: tree }], { u1: { plan: "pro" } }, true],
    ["dynamic, out", [{ id: 1, project: 1, filters: tree }], { u1: { plan: "free" } }, false],
    ["of another project", [{ id: 1, project: 2, filters: tree }], { u1: { plan: "pro" } }, false],
  ])("%s", async (_name, cohorts, persons, expected) => {
    const { values } = await start(
      { feature_flags: [aFlag("a", { filters: inCohort(1) })], cohorts },
      { persons: persons ?? {} },
    );
    expect(await values()).toEqual({ a: expected });
  });

  test("static: the person's uuid is listed", async () => {
    const { desk, values } = await start(
      { feature_flags: [aFlag("a", { filters: inCohort(1) })] },
      { persons: { u1: {}, u2: {} } },
    );
    const uuid = desk.people.personOf(1, "u1")?.uuid ?? "";
    desk.worlds.change((draft) => draft.put("cohorts", { id: 1, project: 1, is_static: true, persons: [uuid] }));
    expect(await values()).toEqual({ a: true });
    expect(await values({ distinct_id: "u2" })).toEqual({ a: false });
  });
});

describe("evaluation contexts", () => {
  const feature_flags = [
    aFlag("any", { id: 1 }),
    aFlag("none", { id: 2, evaluation_contexts: [] }),
    aFlag("docs", { id: 3, evaluation_contexts: ["docs", "app"] }),
    aFlag("site", { id: 4, evaluation_contexts: ["site"] }),
  ];
  test.each<[object, string[]]>([
    [{}, ["any", "none", "docs", "site"]],
    [{ evaluation_contexts: [] }, ["any", "none", "docs", "site"]],
    [{ evaluation_contexts: ["app"] }, ["any", "none", "docs"]],
    [{ evaluation_environments: ["site", "app"] }, ["any", "none", "docs", "site"]],
    [{ evaluation_contexts: ["elsewhere"] }, ["any", "none"]],
  ])("%j", async (body, expected) => {
    const { values } = await start({ feature_flags });
    expect(Object.keys((await values(body)) ?? {})).toEqual(expected);
  });
});

test("encrypted flags are only for the remote config endpoint", async () => {
  const { values } = await start({
    feature_flags: [aFlag("secret", { id: 1, has_encrypted_payloads: true }), aFlag("open", { id: 2 })],
  });
  expect(await values()).toEqual({ open: true });
});

describe("over quota", () => {
  const more = {
    projects: [aProject({ settings: { quota_limited: ["recordings", "feature_flags"] } })],
    feature_flags: [aFlag("a")],
  };
  test.each([
    ["/flags?v=2", { flags: {}, errorsWhileComputingFlags: false }],
    ["/flags?v=1", { featureFlags: {}, featureFlagPayloads: {} }],
    ["/decide?v=1", { featureFlags: [], config: { enable_collect_everything: true } }],
    ["/decide?v=3", { featureFlags: {} }],
    ["/flags?v=2&config=true", { flags: {}, token: "phc_test" }],
  ])("%s says so and has no flags", async (target, expected) => {
    const { post } = await start(more);
    const answer = await post(target, {});
    expect(answer).toMatchObject({ ...expected, quotaLimited: ["feature_flags"] });
    expect(JSON.stringify(answer)).not.toContain('"a"');
  });

  test.each([[["recordings"]], ["feature_flags"], [null]])("%j does not limit flags", async (quota_limited) => {
    const { post } = await start({ ...more, projects: [aProject({ settings: { quota_limited } })] });
    const answer = await post("/flags?v=1", {});
    expect(answer).toMatchObject({ featureFlags: { a: true } });
    expect(answer).not.toHaveProperty("quotaLimited");
  });
});

describe("detailed analysis", () => {
  const flag = aFlag("a", {
    filters: {
      groups: [
        { properties: [isPro, { key: "id", type: "cohort", value: 1 }], variant: "x" },
        { properties: [], rollout_percentage: 0 },
        { properties: [{ key: "plan", operator: "is_set", type: "person", value: "is_set" }] },
        {},
      ],
    },
  });
  const more = { feature_flags: [flag], cohorts: [{ id: 1, project: 1, filters: {} }] };
  const stored = { persons: { u1: { plan: "free" } } };

  test("reports each condition set", async () => {
    const { post } = await start(more, stored);
    const { flags } = await post("/flags?v=2&detailed_analysis=true", {});
    expect(flags).toMatchObject({
      a: {
        enabled: true,
        reason: { condition_index: 2 },
        conditions: [
          {
            index: 0,
            variant: "x",
            rollout_percentage: 100,
            matched: false,
            properties_matched: false,
            rollout_excluded: false,
            properties: [
              { key: "plan", type: "person", operator: "exact", value: "pro", actual_value: "free", matched: false },
              { key: "id", type: "cohort", operator: "in", value: 1, actual_value: null, matched: true },
            ],
          },
          { index: 1, matched: false, properties_matched: true, rollout_excluded: true, rollout_percentage: 0 },
          { index: 2, matched: true, properties: [{ matched: true }], explanation: "Condition 3 matched" },
          { index: 3, matched: false, properties_matched: true, properties: [] },
        ],
      },
    });
  });

  test.each(["", "&detailed_analysis=false", "&detailed_analysis=0"])("not with %j", async (query) => {
    const { post } = await start(more, stored);
    expect(JSON.stringify(await post(`/flags?v=2${query}`, {}))).not.toContain("conditions");
  });

  test("one request's analysis is not another's", async () => {
    const { post } = await start(more, { persons: { u1: { plan: "free" }, u2: { plan: "old" } } });
    const reported = async (distinct_id: string) =>
      JSON.stringify(await post("/flags?v=2&detailed_analysis", { distinct_id }));
    expect(await reported("u1")).toContain('"actual_value":"free"');
    expect(await reported("u2")).toContain('"actual_value":"old"');
    expect(JSON.stringify(await post("/flags?v=2", {}))).not.toContain("conditions");
  });

  test("enrolment and holdouts come before the sets", async () => {
    const { post } = await start({
      feature_flags: [
        aFlag("early", { id: 1, filters: { groups: [], feature_enrollment: true } }),
        aFlag("held", { id: 2, filters: { groups: [{}], holdout: { id: 5, exclusion_percentage: 100 } } }),
      ],
    });
    const properties = { "$feature_enrollment/early": true };
    const { flags } = await post("/flags?v=2&detailed_analysis=1", { person_properties: properties });
    expect(flags).toMatchObject({
      early: { conditions: [{ index: -1, matched: true, properties: [{ actual_value: true }] }] },
      held: {
        conditions: [
          { index: -2, matched: true, variant: "holdout-5" },
          { index: 0, matched: false },
        ],
      },
    });
  });
});

describe("overrides", () => {
  const anOverride = (flag: string, more: Partial<StoredFlagOverride> = {}): StoredFlagOverride => ({
    id: `${flag} ${more.distinct_id}`,
    project: 1,
    flag,
    distinct_id: null,
    value: true,
    payload: null,
    created_at: "",
    ...more,
  });
  const feature_flags = [
    aFlag("a", { id: 1, filters: { groups: [] } }),
    aFlag("b", { id: 2, filters: dependsOn(1, "red") }),
  ];

  test("win, are marked, and end when they are taken away", async () => {
    const { desk, post, values } = await start({ feature_flags });
    expect(await values()).toEqual({ a: false, b: false });
    desk.worlds.change((draft) => {
      draft.put("flag_overrides", anOverride("a", { value: "red", payload: { x: 1 } }));
      draft.put("flag_overrides", anOverride("a", { value: false, distinct_id: "u2" }));
      draft.put("flag_overrides", anOverride("new"));
    });
    expect((await post("/flags?v=2", {})).flags).toEqual({
      a: {
        key: "a",
        enabled: true,
        variant: "red",
        reason: { code: "override", condition_index: null, description: "Overridden in phx-sim" },
        metadata: { id: 1, version: 3, description: null, payload: '{"x":1}', has_experiment: false },
      },
      b: expect.objectContaining({ enabled: true }),
      new: expect.objectContaining({
        enabled: true,
        metadata: { id: 0, version: 0, description: null, payload: null, has_experiment: false },
      }),
    });
    expect(await post("/decide?v=3", {})).toMatchObject({ featureFlagPayloads: { a: '{"x":1}' } });
    expect(await values({ distinct_id: "u2" })).toEqual({ a: false, b: false, new: true });
    expect(await values({ flag_keys: ["new"] })).toEqual({ new: true });
    expect(await values({ flag_keys: ["b"] })).toEqual({ a: "red", b: true });
    desk.worlds.change((draft) => {
      for (const { id } of desk.worlds.current.flag_overrides) draft.remove("flag_overrides", id);
    });
    expect(await values()).toEqual({ a: false, b: false });
  });

  test("have no conditions to analyse", async () => {
    const { post } = await start({ feature_flags, flag_overrides: [anOverride("a")] });
    const { flags } = await post("/flags?v=2&detailed_analysis=1", {});
    expect(flags).toMatchObject({ a: { conditions: [] }, b: { conditions: [{ matched: false }] } });
  });

  test("of a project without flags make SDKs ask for flags", async () => {
    const { post } = await start({ flag_overrides: [anOverride("new")] });
    expect(await post("/flags?v=1&config=true", {})).toMatchObject({
      hasFeatureFlags: true,
      featureFlags: { new: true },
    });
  });

  test("of another project do not count", async () => {
    const { values } = await start({ feature_flags, flag_overrides: [anOverride("a", { project: 2 })] });
    expect(await values()).toEqual({ a: false, b: false });
  });
});

/** Of simple-flag at 45 %, by §12: `yes` is in, `no` and `other` are out. */
describe("experience continuity", () => {
  const [yes, no, other] = ["distinct_id_1", "distinct_id_3", "distinct_id_0"];
  const rollout = { filters: { groups: [{ rollout_percentage: 45 }] } };
  const sticky = aFlag("simple-flag", { id: 1, ensure_experience_continuity: true, ...rollout });
  const more = { feature_flags: [sticky] };
  const identified = { distinct_id: no, $anon_distinct_id: yes };

  test("no one is stored: only this request knows", async () => {
    const { values } = await start(more);
    expect(await values(identified)).toEqual({ "simple-flag": true });
    expect(await values({ distinct_id: no })).toEqual({ "simple-flag": false });
  });

  test("a stored person keeps what it was hashed by first", async () => {
    const { desk, values } = await start(more, { persons: { [no]: {} } });
    expect(await values({ distinct_id: no })).toEqual({ "simple-flag": false });
    expect(await values(identified)).toEqual({ "simple-flag": true });
    expect(await values({ distinct_id: no })).toEqual({ "simple-flag": true });
    expect(await values({ distinct_id: no, $anon_distinct_id: other })).toEqual({ "simple-flag": true });
    const person = desk.people.personOf(1, no) ?? expect.unreachable();
    expect([...desk.people.hashKeysOf(person)]).toEqual([["simple-flag", yes]]);
  });

  test("both persons get it; later the person that survives a merge has it", async () => {
    const { desk, ask, values } = await start(more, { persons: { [no]: {}, [yes]: {} } });
    expect(await values(identified)).toEqual({ "simple-flag": true });
    const anonymous = desk.people.personOf(1, yes) ?? expect.unreachable();
    expect([...desk.people.hashKeysOf(anonymous)]).toEqual([["simple-flag", yes]]);
    await ask("/capture", {
      method: "POST",
      body: { api_key: "phc_test", event: "$merge_dangerously", distinct_id: "u9", properties: { alias: no } },
    });
    expect(await values({ distinct_id: "u9" })).toEqual({ "simple-flag": true });
  });

  test("a key that one of the two persons has stays the only one", async () => {
    const { desk, values } = await start(more, { persons: { [no]: {}, [yes]: {} } });
    const own = desk.people.personOf(1, yes) ?? expect.unreachable();
    desk.people.addHashKeys(own, new Map([["simple-flag", other]]));
    expect(await values(identified)).toEqual({ "simple-flag": false });
    const person = desk.people.personOf(1, no) ?? expect.unreachable();
    expect(desk.people.hashKeysOf(person).size).toBe(0);
  });

  test.each<[string, FeatureFlag[], object, string[]]>([
    [
      "all continuity flags",
      [sticky, aFlag("more", { id: 2, ensure_experience_continuity: true })],
      {},
      ["simple-flag", "more"],
    ],
    ["not the others", [sticky, aFlag("plain", { id: 2 })], {}, ["simple-flag"]],
    [
      "not inactive ones",
      [sticky, aFlag("off", { id: 2, ensure_experience_continuity: true, active: false })],
      {},
      ["simple-flag"],
    ],
    ["nothing when none of them is asked for", [sticky, aFlag("plain", { id: 2 })], { flag_keys: ["plain"] }, []],
    ["nothing when flags are disabled", [sticky], { disable_flags: true }, []],
  ])("stored are %s", async (_name, feature_flags, body, expected) => {
    const { desk, values } = await start({ feature_flags }, { persons: { [no]: {} } });
    await values({ ...identified, ...body });
    const person = desk.people.personOf(1, no) ?? expect.unreachable();
    expect([...desk.people.hashKeysOf(person).keys()]).toEqual(expected);
  });
});
