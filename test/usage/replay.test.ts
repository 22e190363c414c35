import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { answer, exchange, tapeOf } from "../lab/tapes/replay/tapes.ts";

/** As `phx-sim record --tape checkout` leaves it. */
const recorded = () =>
  tapeOf([
    exchange(
      "POST /flags/?v=2",
      answer({ flags: { checkout: { key: "checkout", enabled: true, variant: "blue" } }, requestId: "r1" }),
      { body: { token: "phc_ours", distinct_id: "user-1" } },
    ),
  ]);

test("what production said yesterday", async () => {
  await using sim = await startSim({ tape: await recorded(), onMiss: "emulate" });

  const posthog = new PostHog("phc_any_key", { host: sim.url });
  expect(await posthog.getFeatureFlag("checkout", "user-1")).toBe("blue");
  posthog.capture({ distinctId: "user-1", event: "bought" });
  await posthog.shutdown();

  await sim.events.waitFor("bought");
  const tape = await sim.tapes.get();
  expect(tape?.ledger.unused).toEqual([]);
  expect(tape?.ledger.misses).toEqual([]);
});
