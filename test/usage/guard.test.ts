import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";

test("a client that was not pointed at the sim is found out", async () => {
  await using sim = await startSim();
  const guard = sim.guard();

  // Keeps its default host; the SDK swallows the error, the guard does not.
  const posthog = new PostHog("phc_of_the_real_project");
  posthog.capture({ distinctId: "user-1", event: "signed_up" });
  await posthog.shutdown();

  expect(() => guard.verify()).toThrow("POST https://us.i.posthog.com/batch/");
  guard.close();
});
