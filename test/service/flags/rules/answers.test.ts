import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { openSim } from "../../../support/sim.ts";
import { fractionOf, subjectWhere } from "./hash.ts";

const id = (n: number): string => `${String(n).repeat(8)}-1111-4111-8111-111111111111`;
const everyone = { properties: [] };
const rollout = { assignment_algorithm: "sha1_60_v1", on_rollout_miss: "return_default" };

const targeted = (value: Json, targeting: object = everyone): object => ({
  id: id(1),
  rule_type: "targeted_release",
  targeting,
  value,
});
const rules = (return_type: string, default_value: Json, ...list: object[]): object => ({
  filters: { version: 2, return_type, default_value, rules: list },
});
const half = { ...rollout, id: id(2), rule_type: "percentage_rollout", targeting: everyone, seed: "seed-a" };
const split = {
  ...rollout,
  id: id(3),
  rule_type: "experiment",
  targeting: everyone,
  experiment_id: null,
  paused: false,
  rollout_percentage: 60,
  seed: "seed-b",
  variants: [
    { key: "a", weight: 33.33, value: "red" },
    { key: "b", weight: 66.67, value: "blue" },
  ],
  holdout: { id: null, seed: "seed-c", exclusion_percentage: 20 },
};

const flags = {
  yes: rules("boolean", false, targeted(true)),
  no: rules("boolean", true, targeted(false)),
  text: rules("string", null, targeted("blue")),
  number: rules("number", 1, targeted(2.5)),
  object: rules("object", null, targeted({ a: [1] })),
  missed: rules("number", null, targeted(3, { properties: [{ key: "plan", type: "person", value: "pro" }] })),
  half: rules("boolean", false, { ...half, value: true, rollout_percentage: 50 }),
  split: rules("string", "none", split),
  paused: rules("string", "none", { ...split, paused: true }),
  old: {
    filters: {
      groups: [{ properties: [] }],
      multivariate: { variants: [{ key: "v", rollout_percentage: 100 }] },
      payloads: { v: "1" },
    },
  },
};

const { sim } = await openSim({
  scenario: {
    version: 1,
    settings: { flags_v3_response_enabled: true },
    flags,
    personal_api_keys: [{ key: "phx_one", scopes: ["*"] }],
  } as never,
});

describe("flags with rules of version 2", () => {
  async function answer(path: string, distinctId = "u1", more: object = {}): Promise<JsonObject> {
    const response = await fetch(sim.url + path, {
      method: "POST",
      body: JSON.stringify({ api_key: "phc_sim_default", distinct_id: distinctId, ...more }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as JsonObject;
  }
  const flag = async (key: string, version: number, distinctId?: string, more?: object): Promise<JsonObject> => {
    const { flags: all } = await answer(`/flags?v=${version}`, distinctId, more);
    return (all as Record<string, JsonObject>)[key] ?? {};
  };

  test.each([
    ["yes", true, { enabled: true, variant: null, payload: null }, true],
    ["no", false, { enabled: false, variant: null, payload: null }, false],
    ["text", "blue", { enabled: true, variant: "blue", payload: null }, "blue"],
    ["number", 2.5, { enabled: true, variant: null, payload: 2.5 }, true],
    ["object", { a: [1] }, { enabled: true, variant: null, payload: { a: [1] } }, true],
  ] as const)("%s: its value in each version", async (key, value, { payload, ...details }, legacy) => {
    expect(await flag(key, 3)).toEqual({
      key,
      value,
      reason: { code: "targeting_match", condition_index: 0, description: "Matched rule 1" },
      metadata: {
        id: expect.any(Number),
        version: 1,
        config_version: 2,
        description: null,
        payload: null,
        has_experiment: false,
        rule_type: "targeted_release",
        rule_id: id(1),
      },
    });
    expect(await flag(key, 2)).toMatchObject({
      ...details,
      reason: { code: "condition_match", condition_index: 0, description: "Matched condition set 1" },
      metadata: { payload },
    });
    for (const path of ["/flags?v=1", "/decide?v=3"]) {
      const { featureFlags, featureFlagPayloads, errorsWhileComputingFlags } = await answer(path);
      expect((featureFlags as JsonObject)[key]).toEqual(legacy);
      expect((featureFlagPayloads as JsonObject)[key]).toEqual(payload ?? undefined);
      expect(errorsWhileComputingFlags).toBe(false);
    }
    expect((await answer("/decide?v=2")).featureFlags).toHaveProperty("old", "v");
    expect(Object.keys((await answer("/decide?v=2")).featureFlags as object).includes(key)).toBe(legacy !== false);
  });

  test("a null default", async () => {
    const typed = await flag("missed", 3);
    expect(typed).toMatchObject({
      value: null,
      reason: { code: "no_rule_match", condition_index: null, description: "No rule matched" },
      metadata: { config_version: 2 },
    });
    expect(typed).not.toHaveProperty("failed");
    expect(typed.metadata).not.toHaveProperty("rule_type");
    expect(await flag("missed", 2)).toMatchObject({
      enabled: false,
      variant: null,
      reason: { code: "no_condition_match", condition_index: null },
    });
    expect(await flag("missed", 3, "u1", { person_properties: { plan: "pro" } })).toMatchObject({ value: 3 });
  });

  test("a flag with condition sets", async () => {
    expect(await flag("old", 3)).toMatchObject({
      value: "v",
      reason: { code: "condition_match", condition_index: 0 },
      metadata: { config_version: 1, payload: "1", variant_key: "v" },
    });
  });

  test.each(["u1", "u2", "u3", "häßlich", "user-4", "user-5"])("a rollout of %s", async (distinctId) => {
    const isIn = fractionOf(`seed-a.${distinctId}`) <= 0.5;
    expect(await flag("half", 3, distinctId)).toMatchObject({
      value: isIn,
      reason: isIn
        ? { code: "targeting_match", condition_index: 0 }
        : { code: "rollout_miss", condition_index: 0, description: "Rule 1 rollout miss" },
      metadata: { rule_type: "percentage_rollout", rule_id: id(2) },
    });
    expect(await flag("half", 2, distinctId)).toMatchObject({
      enabled: isIn,
      reason: { code: isIn ? "condition_match" : "out_of_rollout_bound" },
    });
  });

  const held = (it: string) => fractionOf(`seed-c${it}`) <= 0.2;
  const inRollout = (it: string) => fractionOf(`seed-b.${it}`) <= 0.6;
  const isRed = (it: string) => fractionOf(`seed-b.${it}variant`) < 0.3333;
  test.each([
    ["held out", held, "none", "holdout", "holdout_condition_value"],
    ["outside", (it: string) => !held(it) && !inRollout(it), "none", "rollout_miss", "out_of_rollout_bound"],
    ["red", (it: string) => !held(it) && inRollout(it) && isRed(it), "red", "targeting_match", "condition_match"],
    ["blue", (it: string) => !held(it) && inRollout(it) && !isRed(it), "blue", "targeting_match", "condition_match"],
  ] as const)("an experiment: %s", async (_name, wanted, value, code, legacy) => {
    const subjects = Array.from({ length: 60 }, (_, n) => `user-${n}`).filter(wanted);
    expect(subjects.length).toBeGreaterThan(2);
    for (const distinctId of subjects.slice(0, 5)) {
      const typed = await flag("split", 3, distinctId);
      expect(typed).toMatchObject({ value, reason: { code, condition_index: 0 } });
      // without an experiment there is no variant either
      expect(typed.metadata).not.toHaveProperty("variant_key");
      expect(await flag("split", 2, distinctId)).toMatchObject({
        enabled: true,
        variant: value,
        reason: { code: legacy },
      });
    }
  });

  test("a paused experiment, also for who is held out", async () => {
    const distinctId = subjectWhere(
      (it) => `seed-c${it}`,
      (it) => it <= 0.2,
    );
    expect(await flag("paused", 3, distinctId)).toMatchObject({
      value: "none",
      reason: { code: "experiment_paused", condition_index: 0, description: "Rule 1 is paused" },
      metadata: { rule_type: "experiment", rule_id: id(3) },
    });
    expect(await flag("paused", 2, distinctId)).toMatchObject({ reason: { code: "no_condition_match" } });
  });

  test("local evaluation leaves them out", async () => {
    const client = new PostHog("phc_sim_default", { host: sim.url, personalApiKey: "phx_one" });
    await client.waitForLocalEvaluationReady();
    expect(await client.getAllFlags("u1", { onlyEvaluateLocally: true })).toEqual({ old: "v" });
    expect(await client.getFeatureFlag("text", "u1")).toBe("blue");
    await client.shutdown();
  });

  test("an SDK gets values and payloads from the server", async () => {
    const client = new PostHog("phc_sim_default", { host: sim.url });
    const { featureFlags, featureFlagPayloads } = await client.getAllFlagsAndPayloads("u1");
    expect(featureFlags).toMatchObject({ yes: true, no: false, text: "blue", number: true, missed: false });
    expect(featureFlagPayloads).toMatchObject({ number: 2.5, object: { a: [1] } });
    await client.shutdown();
  });
});
