import { mock } from "node:test";
import { PostHog } from "posthog-node";
import { afterEach, expect, test, vi } from "vitest";
import { startSim } from "../../../src/index.ts";

afterEach(() => {
  mock.timers.reset();
  vi.useRealTimers();
});

const fakes: [name: string, start: () => void][] = [
  ["vitest", () => void vi.useFakeTimers()],
  ["node:test", () => mock.timers.enable({ apis: ["setTimeout"] })],
];
test.each(fakes)("fake timers of %s are named instead of the queue", { timeout: 20_000 }, async (_, start) => {
  await using sim = await startSim();
  start();
  const failed = sim.events.waitFor("queued", undefined, { timeoutMs: 50 });
  await expect(failed).rejects.toMatchObject({
    report: {
      hints: [expect.stringMatching(/^no request has reached/), expect.stringMatching(/^fake timers are in force/)],
    },
  });
});

test("a pattern that cannot be sent gets the same report", { timeout: 20_000 }, async () => {
  await using sim = await startSim();
  vi.useFakeTimers();
  const failed = sim.events.waitFor("queued", { amount: (it: unknown) => it === 1 }, { timeoutMs: 50 });
  await expect(failed).rejects.toThrow("  - fake timers are in force");
});

test("a sim in the process goes on with fake timers", { timeout: 20_000 }, async () => {
  await using sim = await startSim();
  vi.useFakeTimers();
  const posthog = new PostHog(sim.apiKey, { host: sim.host, flushAt: 1 });
  posthog.capture({ distinctId: "anna", event: "signed_up" });
  expect((await posthog.evaluateFlags("anna")).isEnabled("beta")).toBe(false);
  await sim.events.waitFor("signed_up");
  await sim.events.expectNone("other", undefined, { settleMs: 20 });
  await sim.settle({ idleMs: 20 });
});
