import { startSim } from "phx-sim";
import { PostHog } from "posthog-node";
import { expect, test } from "vitest";

test("a signup is tracked", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });

  posthog.capture({ distinctId: "user-1", event: "signed_up", properties: { plan: "pro" } });
  await posthog.shutdown();

  const event = await sim.events.waitFor("signed_up", { plan: "pro" });
  expect(event.distinct_id).toBe("user-1");
  expect(await sim.events.dropped()).toEqual([]);
});

test("a flag decides what is shown", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });

  expect(await posthog.getFeatureFlag("beta-feature", "user-1")).toBe(true);
  expect(await posthog.getFeatureFlag("off-for-everyone", "user-1")).toBe(false);
  await posthog.shutdown();
});

test("the linter finds nothing", async () => {
  await using sim = await startSim();
  await using ph = await sim.project();
  const posthog = new PostHog(ph.apiKey, { host: ph.host });
  posthog.capture({ distinctId: "user-1", event: "signed_up", properties: { plan: "pro" } });
  await posthog.shutdown();

  const { findings } = await ph.lint();
  expect(findings.filter((it) => it.severity === "warning")).toEqual([]);
});
