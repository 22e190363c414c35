import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";

/** Documents of rules, each correct, for tests to change. */

export const idOf = (n: number): string => `${String(n).padStart(8, "0")}-1111-4111-8111-111111111111`;

export const targeted = (value: Json = true, properties: Json[] = [], n = 1): JsonObject => ({
  id: idOf(n),
  rule_type: "targeted_release",
  targeting: { properties },
  value,
});

export const percentage = (change: JsonObject = {}): JsonObject => ({
  id: idOf(2),
  rule_type: "percentage_rollout",
  targeting: { properties: [] },
  value: true,
  rollout_percentage: 50,
  on_rollout_miss: "continue",
  assignment_algorithm: "sha1_60_v1",
  seed: "seed",
  ...change,
});

export const variants = (weights: readonly number[]): JsonObject[] =>
  weights.map((weight, i) => ({ key: `v${i}`, weight, value: true }));

export const experiment = (change: JsonObject = {}): JsonObject => {
  const { value: _value, ...rest } = percentage();
  return {
    ...rest,
    id: idOf(3),
    rule_type: "experiment",
    experiment_id: null,
    paused: false,
    variants: variants([50, 50]),
    ...change,
  };
};

export const person = (change: JsonObject = {}): JsonObject => ({
  key: "plan",
  type: "person",
  value: "pro",
  ...change,
});

export const document = (rules: Json, change: JsonObject = {}): JsonObject => ({
  version: 2,
  return_type: "boolean",
  default_value: false,
  rules,
  ...change,
});

/** Objects in objects, of a number of levels. */
export const nested = (levels: number): JsonObject => (levels === 1 ? {} : { in: nested(levels - 1) });
