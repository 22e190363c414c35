import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { openSim } from "../../../support/sim.ts";

/** Rules of a version that does not exist yet; the keys of version 1 beside them would give true to everyone. */
const everyone = {
  version: 3,
  return_type: "boolean",
  default_value: false,
  rules: [
    {
      id: "11111111-1111-4111-8111-111111111111",
      rule_type: "targeted_release",
      targeting: { properties: [] },
      value: true,
    },
  ],
};
const inBothForms = {
  ...everyone,
  groups: [{ properties: [{ key: "id", type: "cohort", value: 1 }], rollout_percentage: 100 }],
  multivariate: { variants: [{ key: "a", rollout_percentage: 100 }] },
  payloads: { a: 1 },
  feature_enrollment: true,
};

const versions: readonly unknown[] = [3, 1.5, 0, "1", "2", null, true];

const scenario = {
  version: 1 as const,
  organizations: [
    {
      name: "Org",
      projects: [
        {
          name: "One",
          api_key: "phc_one",
          secret_api_key: "phs_one",
          cohorts: [{ id: 1, name: "All", filters: { properties: { type: "OR", values: [] } } }],
          flags: {
            next: true,
            both: true,
            plain: { filters: { version: 1 as const, groups: [{ properties: [], rollout_percentage: 100 }] } },
          },
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_one", scopes: ["*"] }],
};

/** Gives flags rules that only an imported state may have. */
async function giveFilters(sim: Sim, filtersOf: (key: string) => JsonObject | undefined): Promise<void> {
  const state = (await sim.state.export()) as { world: { feature_flags: JsonObject[] } };
  for (const flag of state.world.feature_flags) flag.filters = filtersOf(String(flag.key)) ?? flag.filters ?? {};
  await sim.state.import(state as never);
}

const { sim } = await openSim({ scenario });
const nextRules: Record<string, JsonObject> = { next: everyone, both: inBothForms };
await giveFilters(sim, (key) => nextRules[key]);

const jsonOf = async (response: Promise<Response>): Promise<JsonObject> => (await response).json() as never;

describe("flags whose rules are of an unknown version", () => {
  const evaluated = (version: number, path = "/flags/") =>
    jsonOf(
      fetch(`${sim.url}${path}?v=${version}`, {
        method: "POST",
        body: JSON.stringify({ api_key: "phc_one", distinct_id: "u1" }),
      }),
    );

  test("fail by themselves, and the others are decided", async () => {
    const failed = {
      enabled: false,
      variant: null,
      failed: true,
      reason: { code: "unsupported_config_version" },
      metadata: { payload: null },
    };
    const answer = await evaluated(2);
    expect(answer).toMatchObject({
      errorsWhileComputingFlags: true,
      flags: { next: failed, both: failed, plain: { enabled: true } },
    });
    expect((answer.flags as JsonObject).plain).not.toHaveProperty("failed");
  });

  test("are left out of the shapes that know no failure", async () => {
    expect(await evaluated(1)).toMatchObject({
      errorsWhileComputingFlags: true,
      featureFlags: { plain: true },
      featureFlagPayloads: {},
    });
    expect(Object.keys((await evaluated(3, "/decide/")).featureFlags as object)).toEqual(["plain"]);
  });

  test.each(["/flags/definitions?token=phc_one", "/api/feature_flag/local_evaluation"])(
    "are left out of %s",
    async (path) => {
      const { flags, cohorts } = await jsonOf(fetch(sim.url + path, { headers: { authorization: "Bearer phs_one" } }));
      expect(flags).toMatchObject([{ key: "plain", ensure_experience_continuity: false }]);
      expect(cohorts).toEqual({});
    },
  );

  test("are unknown to an SDK that evaluates locally", async () => {
    const client = new PostHog("phc_one", { host: sim.url, personalApiKey: "phx_one" });
    await client.waitForLocalEvaluationReady();
    expect(await client.getAllFlags("u1", { onlyEvaluateLocally: true })).toEqual({ plain: true });
    await client.shutdown();
  });

  test("are explained as failed", async () => {
    expect(await sim.flags.explain("both", { distinctId: "u1" })).toMatchObject({
      value: false,
      failed: true,
      reason: {
        code: "unsupported_config_version",
        description: "The version of its rules is not evaluated by the simulator",
      },
      enrollment: null,
      holdout: null,
      conditions: [],
      hint: "The version of its rules is not evaluated by the simulator",
    });
    expect((await sim.flags.get("next")).rules).toEqual(["rules of version 3, which are not evaluated"]);
  });

  test("take an override, also with a variant that their other rules may have", async () => {
    await sim.flags.set("next", "blue");
    expect(await evaluated(2)).toMatchObject({ flags: { next: { enabled: true, variant: "blue" } } });
    await sim.flags.unset("next");
  });
});

test.each(versions)("a state with rules of version %j: the flag fails", async (version) => {
  await using sim = await startSim({ scenario });
  await giveFilters(sim, () => ({ version, groups: [{}] }) as JsonObject);
  const { reason } = await sim.flags.explain("plain", { distinctId: "u1" });
  expect(reason.code).toBe("unsupported_config_version");
});

describe("a scenario", () => {
  const withFilters = (filters: object) => ({
    ...scenario,
    organizations: [{ name: "Org", projects: [{ name: "P", api_key: "phc_p", flags: { next: { filters } } }] }],
  });

  test.each(versions)("with rules of version %j is refused", async (version) => {
    await expect(startSim({ scenario: withFilters({ ...everyone, version }) as never })).rejects.toThrow(
      "/organizations/0/projects/0/flags/next/filters/version: expected 1 or 2 (rules of other versions are not evaluated), got",
    );
  });
});
