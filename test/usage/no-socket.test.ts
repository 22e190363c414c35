import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";

test("an SDK without a socket", async () => {
  await using sim = await startSim();
  const posthog = new PostHog(sim.apiKey, {
    host: sim.url,
    fetch: (url, options) => sim.handle(new Request(url, options as RequestInit)),
  });

  posthog.capture({ distinctId: "user-1", event: "signed_up" });
  await posthog.shutdown();

  expect((await sim.events.list()).map((it) => it.event)).toEqual(["signed_up"]);
});
