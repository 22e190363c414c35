import type { Scenario } from "../../src/lab/scenario/schema.ts";
import { digits } from "./payload.ts";

/** The project key of the flag suite's sims. */
const projectKey = "phc_bench_flags00000000000000000000000000000000";

interface Filter {
  readonly key: string;
  readonly operator: string;
  readonly value: unknown;
}

const persons = (properties: readonly Filter[], rollout: number) => ({
  properties: properties.map((it) => ({ type: "person", ...it })),
  rollout_percentage: rollout,
});

/** As people write them: two condition sets, every third flag with variants and payloads. */
function flagAt(i: number) {
  const groups = [
    persons([{ key: "plan", operator: "exact", value: ["enterprise", `plan-${i % 5}`] }], 50),
    persons(
      [
        { key: "email", operator: "icontains", value: "@example.com" },
        { key: "seats", operator: "gt", value: i % 40 },
      ],
      30,
    ),
  ];
  if (i % 3 !== 0) return { filters: { groups } };
  const variants = ["control", "test"].map((key) => ({ key, rollout_percentage: 50 }));
  const payloads = { test: '{"cta":"Buy now","color":"blue"}' };
  return { filters: { groups, multivariate: { variants }, payloads } };
}

/** A scenario of one project with that many flags. */
export const flagScenario = (count: number): Scenario => ({
  version: 1,
  organizations: [
    {
      name: "Bench",
      projects: [
        {
          name: "Flags",
          api_key: projectKey,
          flags: Object.fromEntries(Array.from({ length: count }, (_, i) => [`bench-flag-${i}`, flagAt(i)])),
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_bench_flags", scopes: ["*"] }],
});

/** The i-th of the users that flags are requested for. */
export const flagUser = (i: number) => ({
  distinct_id: `user-${digits(i)}`,
  person_properties: { plan: `plan-${i % 7}`, email: `user${i}@example.com`, seats: i % 60, trial: i % 2 === 0 },
});

/** The body of POST /flags for the i-th user. */
export const flagsBody = (key: string, i: number): Buffer =>
  Buffer.from(JSON.stringify({ token: key, ...flagUser(i) }));
