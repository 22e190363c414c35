import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";

test("an SDK meets a service that is down", async () => {
  await using sim = await startSim();
  const capture = (headers: Record<string, string> = {}) =>
    fetch(`${sim.url}/capture/`, {
      method: "POST",
      headers,
      body: JSON.stringify({ api_key: sim.apiKey, event: "checkout", distinct_id: "user-1" }),
    });

  await sim.faults.apply("capture-503", { times: 2 });
  const answers = [await capture(), await capture(), await capture()];
  expect(answers.map((it) => it.status)).toEqual([503, 503, 200]);
  expect(await sim.events.list()).toHaveLength(1);

  await sim.answers.queue([{ status: 429, headers: { "retry-after": "1" } }], { partition: "test-7" });
  const limited = await capture({ "x-test-id": "test-7" });
  expect(limited.status).toBe(429);
});

test("time passes when the test says so", async () => {
  await using sim = await startSim();
  await sim.clock.freeze("2026-03-01T12:00:00Z");
  await sim.clock.advance("36h");
  expect(await sim.clock.now()).toEqual(new Date("2026-03-03T00:00:00Z"));
});

test("back to where a test began", async () => {
  await using sim = await startSim();
  await sim.snapshot("clean");
  await sim.flags.set("beta-feature", false);

  await sim.restore("clean");
  expect((await sim.flags.get("beta-feature")).overrides).toEqual([]);
});
