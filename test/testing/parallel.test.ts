import { PostHog } from "posthog-node";
import { describe, expect, test } from "vitest";
import type { Project } from "../../src/sim/client/api.ts";
import "../../src/testing/vitest-matchers.ts";
import { openSim } from "../support/sim.ts";

/** `npm run soak:tests` repeats it 20 times. */
const rounds = Number(process.env.REPEATS ?? 1);
const crowd = 200;

const { sim } = await openSim();

/** One app's use of its project: all of them have the same ids and names, so that a mix-up shows. */
async function use(project: Project, owner: number): Promise<void> {
  const patient = { requestTimeout: 60_000, featureFlagsRequestTimeoutMs: 60_000 };
  const posthog = new PostHog(project.apiKey, { host: project.host, ...patient });
  const flags = await posthog.evaluateFlags("user");
  expect(flags.getFlag("crowd")).toBe(`variant-${owner}`);
  posthog.identify({ distinctId: "user", properties: { owner, $anon_distinct_id: "visitor" } });
  for (let i = 0; i <= owner % 3; i++) posthog.capture({ distinctId: "user", event: "bought", properties: { owner } });
  await posthog.shutdown();
}

/** What a suite would expect of it. */
async function checkProject(project: Project, owner: number): Promise<void> {
  await expect(project).toHaveCapturedTimes("bought", (owner % 3) + 1, { owner });
  await expect(project).not.toHaveCaptured("bought", { owner: { "@ne": owner } });
  await project.events.expectNone("refunded");
  await expect(project).toHaveServedFlag("crowd", `variant-${owner}`, { distinctId: "user" });
  await expect(project).not.toHaveServedFlag("crowd", `variant-${owner + 1}`);
  await expect(project).toHaveIdentified("user", { owner });
  await expect(project).toHaveMerged("visitor", "user");
  expect(await project.persons.list()).toHaveLength(1);
}

async function oneTest(owner: number): Promise<void> {
  const flags = { crowd: `variant-${owner}` };
  await using project = await sim.project({ name: `test ${owner}`, flags });
  // Someone who waits before anything has come is woken by his own event only.
  const awaited = project.events.waitFor("bought", undefined, { timeoutMs: 60_000 });
  await Promise.all([use(project, owner), awaited]);
  expect((await awaited).properties.owner).toBe(owner);
  await checkProject(project, owner);
}

describe.each(Array.from({ length: rounds }, (_, i) => i + 1))("round %i", (round) => {
  test(`${crowd} tests at the same time do not see each other`, async () => {
    await Promise.all(Array.from({ length: crowd }, (_, i) => oneTest(round * crowd + i)));
  });
});
