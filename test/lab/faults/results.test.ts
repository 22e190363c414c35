import { PostHog } from "posthog-node";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";

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
  return { status: answer.status, json: await answer.json(), retryAfter: answer.headers.get("retry-after") };
}

describe("results of capture v1", () => {
  test.each([
    ["events-dropped", { result: "drop", details: "billing_limit_exceeded" }],
    ["events-invalid", { result: "drop", details: "invalid_event" }],
    ["events-retried", { result: "retry", details: "not_persisted" }],
  ] as const)("%s answers 200 with it, and keeps nothing", async (preset, result) => {
    const sim = await start();
    await sim.faults.apply(preset, { times: 1 });
    // upstream capture, v1/analytics/response.rs
    const retryAfter = result.result === "retry" ? "1" : null;
    expect(await capture(sim)).toEqual({ status: 200, json: { results: { [uuid]: result } }, retryAfter });
    expect(await sim.events.list()).toMatchObject([
      { outcome: "dropped", reason: "scripted_result", detail: `${result.result}: ${result.details}` },
    ]);
    // the same event, sent again, is kept
    expect(await capture(sim, "2")).toMatchObject({ status: 200, json: { results: { [uuid]: { result: "ok" } } } });
    expect(await sim.events.list({ outcome: "kept" })).toHaveLength(1);
  });

  test("the request and its HAR entry have the result of each event, the reason and its meaning", async () => {
    const sim = await start();
    await sim.faults.apply("events-dropped", { times: 1 });
    await capture(sim);
    await capture(sim);
    await capture(sim);
    const read = async (path: string) => (await fetch(`${sim.url}/__sim/${path}`)).json();
    const { log } = (await read("requests.har")) as { log: { entries: { _phx_sim: { results?: unknown } }[] } };
    const rows = [
      ["drop", "billing_limit_exceeded", "a fault gave this result; `phx-sim faults clear`, unless you test it"],
      ["ok", null, null],
      // dropped after the response, as in the service
      ["ok", null, expect.stringMatching(/^the project already has an event with this uuid; give each/)],
    ];
    for (const [i, [result, details, explanation]] of rows.entries()) {
      const results = [{ uuid, event: "bought", result, details, explanation }];
      expect(await read(`requests/${i + 1}`)).toMatchObject({ results });
      expect(log.entries[i]?._phx_sim.results).toEqual(results);
    }
    await fetch(`${sim.url}/flags/?v=2`, { method: "POST", body: "{}" });
    expect(await read("requests/4")).toMatchObject({ results: null });
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
