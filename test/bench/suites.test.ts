import { expect, test } from "vitest";
import { createFixtures } from "./fixture.ts";
import type { Pace } from "./suite.ts";
import { suites } from "./suites/index.ts";

/** Figures of so little work mean nothing; they show that a suite can be measured. */
const smallest: Pace = {
  ...{ rounds: 1, warmup: { leastMs: 0, mostMs: 0 }, measureMs: 10, starts: 1 },
  ...{ events: 2_000, growth: [100, 200], captures: 100, kills: 1, calls: 2, quietMs: 0, most: 100 },
};

const own = suites.filter(({ isOptional }) => !isOptional).map((it) => [it.name, it] as const);

test.concurrent.each(own)("%s can be measured", async (_, suite) => {
  const fixtures = createFixtures(smallest.events, smallest.quietMs);
  const { tables, verdicts } = await suite.run({ pace: smallest, fixtures, progress: () => {} });
  expect(tables.flatMap(({ rows }) => rows).length + verdicts.length).toBeGreaterThan(0);
});
