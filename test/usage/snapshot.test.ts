import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";

test("an order, as a snapshot", async () => {
  await using sim = await startSim();
  await using ph = await sim.project();
  const posthog = new PostHog(ph.apiKey, { host: ph.host });
  const order = crypto.randomUUID();
  posthog.capture({ distinctId: "ada", event: "order placed", properties: { order, total: 49 } });
  posthog.capture({
    distinctId: "ada",
    event: "order paid",
    properties: { order, paid_at: new Date().toISOString() },
  });
  await posthog.shutdown();

  expect(await ph.events.snapshot()).toMatchInlineSnapshot(`
    [
      {
        "distinct_id": "ada",
        "event": "order placed",
        "properties": {
          "order": "<id 1>",
          "total": 49,
        },
      },
      {
        "distinct_id": "ada",
        "event": "order paid",
        "properties": {
          "order": "<id 1>",
          "paid_at": "<time>",
        },
      },
    ]
  `);
});
