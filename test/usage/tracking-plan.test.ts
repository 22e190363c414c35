import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { z } from "zod";
import { startSim } from "../../src/index.ts";
import { checkPlan, definePlan } from "../../src/plan.ts";

const plan = definePlan({
  signed_up: z.object({ plan: z.enum(["free", "pro"]), seats: z.int().optional() }),
});

test("events are as planned", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, { host: sim.url });
  posthog.capture({ distinctId: "user-1", event: "signed_up", properties: { plan: "pro" } });
  posthog.capture({ distinctId: "user-1", event: "signed_up", properties: { plan: "Pro" } });
  await posthog.shutdown();

  const { violations } = await checkPlan(plan, await sim.events.list());
  expect(violations).toMatchObject([
    { event: "signed_up", pointer: "/properties/plan", hint: "case differs" },
  ]);
});
