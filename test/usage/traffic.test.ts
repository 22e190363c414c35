import { expect, test } from "vitest";
import { generateTraffic, startSim } from "../../src/index.ts";

test("the figures of generated traffic", async () => {
  await using sim = await startSim();
  const figures = await sim.generate({ persona: "shopper", users: 50, days: 14, seed: 7 });

  const placed = await sim.events.list({ event: "order placed", limit: 1000 });
  expect(placed).toHaveLength(figures.by_event["order placed"]?.total ?? 0);

  const [, , , orders] = figures.funnel.counts; // product, basket, checkout, order
  expect(orders).toBeGreaterThan(0);
});

test("traffic without a sim", async () => {
  const traffic = await generateTraffic({ persona: "reader", users: 10, until: "2025-06-01" });
  const names = new Set<string>();
  for (const { event } of traffic) names.add(event);
  expect(Object.keys(traffic.figures().by_event).sort()).toEqual([...names].sort());
});
