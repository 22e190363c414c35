import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../../src/kernel/base/json.ts";
import { isUuid } from "../../../../src/kernel/base/text.ts";
import { flagEndpoints } from "../../../../src/service/flags/endpoint/flags-rows.ts";
import type { Dialect } from "../../../../src/state/documents/dialect.ts";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { aProject } from "../../../support/documents.ts";
import { type Asked, aDesk, aFlag, asker, aWorld, now, type Stored } from "./flags-desk.ts";

const variants = { variants: [{ key: "test", rollout_percentage: 100 }] };

/** on, off, a variant with a payload, one that cannot be computed, and some that are not returned. */
const flags: FeatureFlag[] = [
  aFlag("on", { id: 1, filters: { groups: [{}], payloads: { true: { color: "blue" } } } }),
  aFlag("off", { id: 2, filters: { groups: [{ rollout_percentage: 0 }], payloads: { true: "1" } } }),
  aFlag("ab", { id: 3, filters: { groups: [{}], multivariate: variants, payloads: { test: '"x"' } } }),
  aFlag("team", { id: 4, filters: { groups: [{ properties: [{ key: "id", type: "cohort", value: 1 }] }] } }),
  aFlag("inactive", { id: 5, active: false }),
  aFlag("deleted", { id: 6, deleted: true }),
  aFlag("foreign", { id: 7, project: 2 }),
];

const known = flags.filter((flag) => flag.key !== "team");

const ask =
  (list: FeatureFlag[], stored: Stored = {}, dialect: Dialect = "documented") =>
  async (target: string, asked?: Asked) => {
    const desk = await aDesk(aWorld({ feature_flags: list }), stored, dialect);
    return asker(flagEndpoints(desk, desk.rulesets))(target, asked);
  };

const who = { api_key: "phc_test", distinct_id: "u1" };
const post = (body: Asked["body"] = who, headers: Asked["headers"] = {}): Asked => ({ method: "POST", body, headers });

async function bodyOf(answer: ReturnType<ReturnType<typeof ask>>): Promise<JsonObject> {
  const { status, json, text } = await answer;
  const body = json();
  if (status !== 200 || !isObject(body)) throw new Error(`${status} ${text}`);
  return body;
}

const detail = (id: number, key: string, more: object) => ({
  key,
  enabled: true,
  variant: null,
  reason: { code: "condition_match", condition_index: 0, description: "Matched condition set 1" },
  metadata: { id, version: 3, description: null, payload: null, has_experiment: false, ...more },
});

const details = {
  on: detail(1, "on", { payload: '{"color":"blue"}' }),
  off: {
    ...detail(2, "off", {}),
    enabled: false,
    reason: { code: "out_of_rollout_bound", condition_index: 0, description: "Out of rollout bound" },
  },
  ab: { ...detail(3, "ab", { payload: '"x"' }), variant: "test" },
  team: {
    ...detail(4, "team", {}),
    enabled: false,
    failed: true,
    reason: { code: "dependency_not_found_cohort", condition_index: null, description: expect.any(String) },
  },
};

const values = { on: true, off: false, ab: "test" };
const withFailed = { ...values, team: false };
const payloads = { on: '{"color":"blue"}', ab: '"x"' };
const legacy = { featureFlags: withFailed, featureFlagPayloads: payloads, errorsWhileComputingFlags: true };
const current = { flags: details, errorsWhileComputingFlags: true };

describe("shapes", () => {
  const shapes: [target: string, expected: object, absent: string[]][] = [
    ["/decide", { featureFlags: ["on", "ab"] }, ["errorsWhileComputingFlags", "featureFlagPayloads", "flags"]],
    ["/decide?v=1", { featureFlags: ["on", "ab"] }, ["errorsWhileComputingFlags"]],
    ["/decide?v=x", { featureFlags: ["on", "ab"] }, []],
    ["/decide?v=2", { featureFlags: { on: true, ab: "test" } }, ["errorsWhileComputingFlags"]],
    ["/decide?v=3", legacy, ["flags"]],
    ["/decide/?v=3", legacy, ["flags"]],
    ["/decide?version=3", legacy, ["flags"]],
    ["/decide?v=4", current, ["featureFlags"]],
    ["/decide?v=5", current, ["featureFlags"]],
    ["/flags?v=1", legacy, ["flags", "token"]],
    ["/flags?v=2", current, ["featureFlags", "token", "supportedCompression"]],
    ["/flags/?v=2&config=true", { ...current, token: "phc_test" }, ["featureFlags"]],
    ["/flags", { ...current, token: "phc_test" }, ["featureFlags"]],
    ["/flags?config=true", { ...legacy, token: "phc_test" }, ["flags"]],
    ["/flags?config=false", legacy, ["flags", "token"]],
  ];

  test.each(shapes)("%s", async (target, expected, absent) => {
    const body = await bodyOf(ask(flags)(target, post()));
    expect(body).toMatchObject({ ...expected, evaluatedAt: now });
    // toMatchObject would let further flags pass.
    const { featureFlags = {}, flags: detailed = {} } = { ...expected } as Record<string, object>;
    expect(Object.keys(body.featureFlags ?? {})).toEqual(Object.keys(featureFlags));
    expect(Object.keys(body.flags ?? {})).toEqual(Object.keys(detailed));
    expect(Object.keys(body).filter((key) => absent.includes(key))).toEqual([]);
    expect(isUuid(body.requestId)).toBe(true);
  });

  test("every key of a flag is there", async () => {
    const body = await bodyOf(ask(flags)("/flags?v=2", post()));
    expect(body.flags).toEqual(details);
  });

  test("no errors when all is known", async () => {
    expect(await bodyOf(ask(known)("/flags?v=2", post()))).toMatchObject({ errorsWhileComputingFlags: false });
  });

  test("the request's id is kept when it is a UUID", async () => {
    const id = "0198c5b8-7a1c-7000-8000-000000000001";
    const given = (text: string) => bodyOf(ask(flags)("/flags?v=2", post(who, { "x-request-id": text })));
    expect((await given(id)).requestId).toBe(id);
    expect((await given('x","a":"')).requestId).not.toContain("x");
  });

  test("a flag may have any key", async () => {
    const odd = ['quo"te', "__proto__", "constructor"].map((key, id) => aFlag(key, { id }));
    const { text } = await ask(odd)("/flags?v=1", post());
    expect(text).toContain('"featureFlags":{"quo\\"te":true,"__proto__":true,"constructor":true}');
  });

  test("encrypted payloads are not shown to the public", async () => {
    const secret = aFlag("secret", {
      has_encrypted_payloads: true,
      filters: { groups: [{}], payloads: { true: '"hidden"' } },
    });
    const { text } = await ask([secret])("/flags?v=2", post());
    expect(text).not.toContain("hidden");
  });
});

describe("settings in the answer", () => {
  const contractKeys = { config: { enable_collect_everything: true }, toolbarParams: {}, isAuthenticated: false };

  test.each<[Dialect, string[]]>([
    ["documented", ["gzip", "lz64"]],
    ["production", ["gzip", "gzip-js"]],
  ])("/decide in the %s dialect", async (dialect, supportedCompression) => {
    for (const target of ["/decide?v=3", "/decide?v=3&config=false"]) {
      const body = await bodyOf(ask(known, {}, dialect)(target, post()));
      expect(body).toMatchObject({ ...contractKeys, supportedCompression });
    }
  });

  test("/decide merges the remote config by default", async () => {
    expect(await bodyOf(ask(known)("/decide?v=3", post()))).toMatchObject({ sessionRecording: false });
    expect(await bodyOf(ask(known)("/decide?v=3&config=false", post()))).not.toHaveProperty("sessionRecording");
  });

  test("a project's own settings win, but never over the flags", async () => {
    const remote_config = { supportedCompression: [], featureFlags: { fake: true }, heatmaps: true };
    const world = aWorld({ projects: [aProject({ remote_config })], feature_flags: known });
    const desk = await aDesk(world);
    const body = await bodyOf(asker(flagEndpoints(desk, desk.rulesets))("/decide?v=3", post()));
    expect(body).toMatchObject({ supportedCompression: [], heatmaps: true });
    expect(body.featureFlags).toEqual(values);
  });
});

describe("GET", () => {
  const stub = { config: { enable_collect_everything: true }, supportedCompression: ["gzip", "gzip-js"] };

  test.each<[Dialect, string, number, object]>([
    ["documented", "/flags", 200, { ...stub, featureFlags: {}, featureFlagPayloads: {} }],
    ["documented", "/flags?v=1", 200, { ...stub, featureFlags: {} }],
    ["documented", "/flags?v=2", 200, { ...stub, flags: {} }],
    ["documented", "/flags?config=true", 200, { ...stub, featureFlags: {} }],
    ["documented", "/decide?v=3", 405, {}],
    ["production", "/flags/", 200, { ...stub, featureFlags: {} }],
    ["production", "/decide", 200, { ...stub, featureFlags: [] }],
    ["production", "/decide?v=3", 200, { ...stub, featureFlags: {}, sessionRecording: false }],
  ])("%s %s: %d", async (dialect, target, status, expected) => {
    const answer = await ask(flags, {}, dialect)(target);
    expect(answer.status).toBe(status);
    expect(answer.text === "" ? {} : answer.json()).toMatchObject(expected);
  });
});

describe("errors", () => {
  const auth = (code: string, detail: string) => ({ type: "authentication_error", code, detail, attr: null });
  const noToken = auth("not_authenticated", "No API token provided. Please include a valid API token in your request.");
  const badToken = auth(
    "authentication_failed",
    "The provided API key is invalid or has expired. Please check your API key and try again.",
  );

  test.each<[string, object, object]>([
    ["no token", { distinct_id: "u1" }, noToken],
    ["an empty token", { token: "", distinct_id: "u1" }, noToken],
    ["a token in prototype only", { constructor: "phc_test", distinct_id: "u1" }, noToken],
    ["an unknown token", { token: "phc_unknown", distinct_id: "u1" }, badToken],
    ["an unknown token without distinct_id", { token: "phc_unknown" }, badToken],
  ])("%s: 401", async (_name, body, expected) => {
    for (const dialect of ["documented", "production"] as const) {
      const answer = await ask(flags, {}, dialect)("/flags?v=2", post(body));
      expect(answer.status).toBe(401);
      expect(answer.json()).toEqual(expected);
    }
  });

  test.each([{ token: "phc_test" }, { ...who, distinct_id: null }])("distinct_id missing in %j: 400", async (body) => {
    const answer = await ask(flags)("/decide?v=3", post(body));
    expect(answer.status).toBe(400);
    expect(answer.header("content-type")).toContain("text/plain");
    expect(answer.text).toBe("The distinct_id field is missing from the request. Please include a valid identifier.");
  });

  test("the journal learns the body and the project of what was refused", async () => {
    const text = '{"token":"phc_test"}';
    const bytes = Buffer.from(text);
    expect((await ask(flags)("/flags", post(text))).note).toEqual({ project: 1, steps: [], text, bytes });
    const unknown = '{"token":"phc_unknown"}';
    expect((await ask(flags)("/flags", post(unknown))).note).toEqual({
      project: null,
      steps: [],
      text: unknown,
      bytes: Buffer.from(unknown),
    });
  });
});

describe("the request's fields", () => {
  const isPro = aFlag("pro", { filters: { groups: [{ properties: [{ key: "plan", value: "pro" }] }] } });
  const isU1 = aFlag("u1", { filters: { groups: [{ properties: [{ key: "distinct_id", value: "u1" }] }] } });
  const byGroup = aFlag("group", {
    filters: {
      aggregation_group_type_index: 0,
      groups: [{ properties: [{ key: "tier", value: "gold", type: "group", group_type_index: 0 }] }],
    },
  });
  const byGroupKey = aFlag("group-key", {
    filters: { aggregation_group_type_index: 0, groups: [{ properties: [{ key: "$group_key", value: "acme" }] }] },
  });
  const initial = aFlag("initial", {
    filters: { groups: [{ properties: [{ key: "$initial_utm_source", value: "news" }] }] },
  });
  const local = aFlag("local", {
    filters: { groups: [{ properties: [{ key: "$geoip_country_code", value: "SE" }] }] },
  });
  const device = aFlag("device", { bucketing_identifier: "device_id" });
  const sticky = aFlag("simple-flag", {
    ensure_experience_continuity: true,
    filters: { groups: [{ rollout_percentage: 45 }] },
  });
  const stored: Stored = {
    persons: { u1: { plan: "pro", utm_source: "news" }, distinct_id_4: {}, "": { plan: "pro" } },
    groups: { "0/acme": { tier: "gold" }, "0/5": { tier: "gold" } },
    groupTypes: ["company"],
  };

  const rows: [string, FeatureFlag, object, boolean | undefined][] = [
    ["token", isU1, { token: "phc_test", api_key: undefined }, true],
    ["$token", isU1, { $token: "phc_test", api_key: undefined }, true],
    ["$distinct_id", isU1, { distinct_id: undefined, $distinct_id: "u1" }, true],
    [
      "a number as distinct_id",
      aFlag("n", { filters: { groups: [{ properties: [{ key: "distinct_id", value: "5" }] }] } }),
      { distinct_id: 5 },
      true,
    ],
    ["an empty distinct_id", isPro, { distinct_id: "" }, true],
    ["stored properties", isPro, {}, true],
    ["of another person", isPro, { distinct_id: "nobody" }, false],
    ["person_properties win", isPro, { person_properties: { plan: "free" } }, false],
    ["… key by key", isPro, { person_properties: { other: 1 } }, true],
    ["$properties", isPro, { distinct_id: "x", $properties: { plan: "pro" } }, true],
    ["distinct_id can be overridden", isU1, { person_properties: { distinct_id: "u2" } }, false],
    ["initial properties follow from current ones", initial, {}, true],
    ["… unless they are there", initial, { person_properties: { $initial_utm_source: "ads" } }, false],
    ["groups with stored properties", byGroup, { groups: { company: "acme" } }, true],
    ["$groups", byGroup, { $groups: { company: "acme" } }, true],
    ["a number as group key", byGroup, { groups: { company: 5 } }, true],
    ["no groups", byGroup, {}, false],
    ["a group of an unknown type", byGroup, { groups: { planet: "acme" } }, false],
    [
      "group_properties win",
      byGroup,
      { groups: { company: "acme" }, group_properties: { company: { tier: "tin" } } },
      false,
    ],
    [
      "$group_properties of a new group",
      byGroup,
      { groups: { company: "x" }, $group_properties: { company: { tier: "gold" } } },
      true,
    ],
    ["$group_key", byGroupKey, { groups: { company: "acme" } }, true],
    ["no place for a local address", local, {}, false],
    ["a place of the caller's own", local, { person_properties: { $geoip_country_code: "SE" } }, true],
    ["$device_id", device, { $device_id: "d" }, true],
    ["device_id", device, { device_id: "d" }, true],
    ["$device_id among the properties", device, { person_properties: { $device_id: "d" } }, true],
    ["device_id: null", device, { device_id: null }, false],
    ["continuity by the anonymous id", sticky, { distinct_id: "new", $anon_distinct_id: "distinct_id_1" }, true],
    ["… under its other name", sticky, { distinct_id: "new", anon_distinct_id: "distinct_id_3" }, false],
    ["continuity of an unknown person", sticky, { distinct_id: "distinct_id_1" }, true],
    ["continuity of a known person without a key", sticky, { distinct_id: "distinct_id_4" }, true],
    ["… by its anonymous id", sticky, { distinct_id: "distinct_id_4", $anon_distinct_id: "distinct_id_3" }, false],
    ["flag_keys_to_evaluate", isU1, { flag_keys_to_evaluate: ["u1", "other"] }, true],
    ["… without the flag", isU1, { flag_keys_to_evaluate: ["other"] }, undefined],
    ["flag_keys", isU1, { flag_keys: ["other"] }, undefined],
    ["flag_keys_to_evaluate: null", isU1, { flag_keys_to_evaluate: null }, true],
    ["disable_flags", isU1, { disable_flags: true }, undefined],
    ["disable_flags without a distinct_id", isU1, { disable_flags: true, distinct_id: undefined }, undefined],
    ["disable_flags: false", isU1, { disable_flags: false }, true],
  ];

  test.each(rows)("%s", async (_name, flag, more, expected) => {
    const body = await bodyOf(ask([flag], stored)("/flags?v=1", post({ ...who, ...more })));
    expect(body.featureFlags).toEqual(expected === undefined ? {} : { [flag.key]: expected });
    expect(body.errorsWhileComputingFlags).toBe(false);
  });

  test("a distinct_id is cut to 200 characters", async () => {
    const value = "😀".repeat(200);
    const flag = aFlag("long", { filters: { groups: [{ properties: [{ key: "distinct_id", value }] }] } });
    const body = await bodyOf(ask([flag])("/flags?v=1", post({ ...who, distinct_id: `${value}x` })));
    expect(body.featureFlags).toEqual({ long: true });
  });

  test("what the sim cannot compute is left out of the answers without details", async () => {
    const strange = aFlag("strange", { id: 8, filters: { groups: [{ properties: [{ key: "x", type: "moon" }] }] } });
    const body = await bodyOf(ask([strange, isU1])("/flags?v=1", post()));
    expect(body).toMatchObject({ featureFlags: { u1: true }, errorsWhileComputingFlags: true });
    expect(body.featureFlags).not.toHaveProperty("strange");
  });

  test.each<[string, object, Asked["headers"]]>([
    ["geoip_disable", { geoip_disable: true }, { "x-forwarded-for": "89.160.20.129" }],
    ["a private address", {}, { "x-forwarded-for": "10.1.2.3" }],
    ["a private IPv6 address", {}, { "x-forwarded-for": "[fd00::1]:80" }],
    ["an unreadable address", {}, { "x-forwarded-for": "unknown" }],
  ])("%s has no place", async (_name, more, headers) => {
    const body = await bodyOf(ask([local])("/flags?v=1", post({ ...who, ...more }, headers)));
    expect(body).toMatchObject({ featureFlags: { local: false }, errorsWhileComputingFlags: false });
  });

  test("queries: surveys only, and nothing stored", async () => {
    const survey = aFlag("survey-targeting-1", { id: 8 });
    const surveys = await bodyOf(
      ask([isPro, survey], stored)("/flags?v=1&only_evaluate_survey_feature_flags=true", post()),
    );
    expect(surveys.featureFlags).toEqual({ "survey-targeting-1": true });
    const bare = await bodyOf(ask([isPro], stored)("/flags?v=1&only_use_override_person_properties=true", post()));
    expect(bare.featureFlags).toEqual({ pro: false });
  });
});

describe("where the caller runs", () => {
  const list = [
    aFlag("any", { id: 1 }),
    aFlag("all", { id: 2, evaluation_runtime: "all" }),
    aFlag("client", { id: 3, evaluation_runtime: "client" }),
    aFlag("server", { id: 4, evaluation_runtime: "server" }),
  ];
  const everywhere = ["any", "all"];

  test.each<[string, object, Asked["headers"], string[]]>([
    ["a server SDK", {}, { "user-agent": "posthog-node/5.70.0" }, [...everywhere, "server"]],
    ["python", {}, { "user-agent": "posthog-python/7.42.0" }, [...everywhere, "server"]],
    ["curl", {}, { "user-agent": "curl/8.5.0" }, [...everywhere, "server"]],
    ["a browser", {}, { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" }, [...everywhere, "client"]],
    ["a phone", {}, { "user-agent": "posthog-ios/3.0.0" }, [...everywhere, "client"]],
    ["something with an origin", {}, { origin: "http://localhost:3000" }, [...everywhere, "client"]],
    ["no one knows", {}, {}, everywhere],
    [
      "its word beats the agent",
      { evaluation_runtime: "server" },
      { "user-agent": "Mozilla/5.0" },
      [...everywhere, "server"],
    ],
    ["all", { evaluation_runtime: "all" }, {}, [...everywhere, "client", "server"]],
    ["an unknown word", { evaluation_runtime: "moon" }, {}, [...everywhere, "client", "server"]],
  ])("%s", async (_name, more, headers, expected) => {
    const body = await bodyOf(ask(list)("/flags?v=1", post({ ...who, ...more }, headers)));
    expect(Object.keys(body.featureFlags ?? {})).toEqual(expected);
  });
});

test("an edited flag is noticed", async () => {
  const world = aWorld({ feature_flags: [aFlag("a", { id: 1 })] });
  const desk = await aDesk(world);
  const asked = asker(flagEndpoints(desk, desk.rulesets));
  const valuesNow = async () => (await bodyOf(asked("/flags?v=1", post()))).featureFlags;
  expect(await valuesNow()).toEqual({ a: true });
  desk.worlds.change((draft) => {
    draft.put("feature_flags", aFlag("a", { id: 1, filters: { groups: [] } }));
    draft.put("feature_flags", aFlag("b", { id: 2 }));
  });
  expect(await valuesNow()).toEqual({ a: false, b: true });
  desk.worlds.change((draft) => draft.remove("feature_flags", 2));
  expect(await valuesNow()).toEqual({ a: false });
});
