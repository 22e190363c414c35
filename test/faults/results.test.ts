import { PostHog } from "posthog-node";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

const sims: Sim[] = [];
afterEach(async () => {
  await Promise.all(sims.splice(0).map((sim) => sim.close()));
});

async function start(): Promise<Sim> {
  const sim = await startSim();
  sims.push(sim);
  return sim;
}

const uuid = "018f3b6e-0000-7000-8000-000000000001";

async function capture(sim: Sim, attempt = "1") {
  const time = new Date().toISOString();
  const item = { event: "bought", uuid, distinct_id: "u", timestamp: time, properties: {} };
  const answer = await fetch(`${sim.url}/i/v1/analytics/events`, {
    method: "POST",
    headers: {
      authorization: "Bearer phc_sim_default",
      "content-type": "application/json",
      "posthog-sdk-info": "test/1",
      "posthog-attempt": attempt,
      "posthog-request-id": uuid,
      "posthog-request-timestamp": time,
    },
    body: JSON.stringify({ created_at: time, batch: [item] }),
  });
  return { status: answer.status, json: await answer.json() };
}

describe("results of capture v1", () => {
  test.each([
    ["events-dropped", { result: "drop", details: "billing_limit_exceeded" }],
    ["events-invalid", { result: "drop", details: "invalid_event" }],
    ["events-retried", { result: "retry", details: "temporarily_unavailable" }],
  ] as const)("%s answers 200 with it, and keeps nothing", async (preset, result) => {
    const sim = await start();
    await sim.faults.apply(preset, { times: 1 });
    expect(await capture(sim)).toEqual({ status: 200, json: { results: { [uuid]: result } } });
    expect(await sim.events.list()).toMatchObject([
      { outcome: "dropped", reason: "scripted_result", detail: `${result.result}: ${result.details}` },
    ]);
    // the same event, sent again, is kept
    expect(await capture(sim, "2")).toEqual({ status: 200, json: { results: { [uuid]: { result: "ok" } } } });
    expect(await sim.events.list({ outcome: "kept" })).toHaveLength(1);
  });

  test("an effect of one's own", async () => {
    const sim = await start();
    const fault = await sim.faults.apply({ effect: { results: { result: "drop", details: "mine" } } });
    expect(fault.text).toContain("the result drop (mine)");
    expect((await capture(sim)).json).toEqual({ results: { [uuid]: { result: "drop", details: "mine" } } });
  });

  test("requests of older endpoints are not concerned", async () => {
    const sim = await start();
    const { id } = await sim.faults.apply("events-dropped");
    const client = new PostHog("phc_sim_default", { host: sim.url });
    client.capture({ distinctId: "u", event: "old" });
    await client.shutdown();
    expect(await sim.events.list({ outcome: "kept" })).toHaveLength(1);
    expect((await sim.faults.list()).find((it) => it.id === id)?.used).toBe(0);
  });

  test.each([{}, { result: "ok", details: "x" }, { result: "drop" }, { result: "drop", details: "" }])(
    "%j is refused",
    async (results) => {
      const sim = await start();
      const answer = await fetch(`${sim.url}/__sim/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ effect: { results } }),
      });
      expect(answer.status).toBe(400);
    },
  );
});
