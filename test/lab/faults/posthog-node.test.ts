import { PostHog, type PostHogOptions } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type FaultPresetName, type Sim, startSim } from "../../../src/index.ts";
import type { Scenario } from "../../../src/lab/scenario/scenario.ts";

const scenario: Scenario = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [
        {
          id: 7,
          name: "App",
          api_key: "phc_node",
          secret_api_key: "phs_node",
          flags: { alpha: { rollout: 100 }, beta: { rollout: 100 } },
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_node", scopes: ["*"] }],
};

let sim: Sim;
const clients: PostHog[] = [];
let errors: unknown[] = [];

beforeEach(async () => {
  sim = await startSim({ scenario });
  errors = [];
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await sim.faults.clear();
  await Promise.all(clients.splice(0).map((client) => client.shutdown()));
  await sim.close();
});

function connect(options: PostHogOptions = {}): PostHog {
  const client = new PostHog(sim.apiKey, { host: sim.url, flushInterval: 60_000, fetchRetryDelay: 1, ...options });
  client.on("error", (error: unknown) => errors.push(error));
  clients.push(client);
  return client;
}

/** What the journal has of requests to a path: status, fault, uuids of the events in the body. Oldest first. */
async function journal(path: string) {
  const lines = (await sim.requests.list()).filter(({ target }) => String(target).startsWith(path)).reverse();
  return Promise.all(
    lines.map(async ({ n, status, fault }) => {
      const response = await fetch(`${sim.url}/__sim/requests/${n}`);
      const { body } = (await response.json()) as { body: { batch?: { uuid: string }[] } | null };
      return { status, fault, uuids: body?.batch?.map(({ uuid }) => uuid) };
    }),
  );
}

const kept = async () => (await sim.events.list({ outcome: "kept" })).map(({ event, uuid }) => [event, uuid]);

describe("captures, meeting a fault twice, are sent again with the same uuids and kept once", () => {
  const rows: [preset: FaultPresetName, status: number][] = [
    ["capture-503", 503],
    ["rate-limited", 429],
    ["connection-reset", 0],
  ];
  test.each(rows)("%s", async (preset, status) => {
    const client = connect();
    await sim.faults.apply(preset, { times: 2 });
    client.capture({ distinctId: "u1", event: "one" });
    client.capture({ distinctId: "u1", event: "two" });
    await client.flush();
    const tries = await journal("/batch");
    expect(tries.map((it) => [it.status, it.fault])).toEqual([
      [status, preset],
      [status, preset],
      [200, null],
    ]);
    const [{ uuids = [] } = {}, ...others] = tries;
    expect(uuids).toHaveLength(2);
    expect(others.map((it) => it.uuids)).toEqual([uuids, uuids]);
    expect(await kept()).toEqual([
      ["one", uuids[0]],
      ["two", uuids[1]],
    ]);
  });

  test("an answer that was lost does not count them twice", async () => {
    const client = connect();
    await sim.faults.apply({ name: "lost", effect: { socket: "reset", after: true }, times: 1 });
    client.capture({ distinctId: "u1", event: "once" });
    await client.flush();
    expect((await journal("/batch")).map((it) => [it.status, it.fault])).toEqual([
      [0, "lost"],
      [200, null],
    ]);
    expect(await kept()).toHaveLength(1);
    expect((await sim.events.dropped()).map(({ reason }) => reason)).toEqual(["duplicate_event_uuid"]);
  });

  test("in v1 mode Retry-After is honoured", async () => {
    vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1");
    const client = connect();
    await sim.faults.apply("rate-limited", { times: 1 });
    client.capture({ distinctId: "u1", event: "patient" });
    await client.flush();
    const tries = (await sim.requests.list()).reverse();
    expect(tries.map(({ status, fault }) => [status, fault])).toEqual([
      [429, "rate-limited"],
      [200, null],
    ]);
    const [first = 0, second = 0] = tries.map(({ at }) => Date.parse(String(at)));
    expect(second - first).toBeGreaterThanOrEqual(990);
    expect((await kept()).map(([event]) => event)).toEqual(["patient"]);
  });
});

test("garbage-json: a capture's answer is not read", async () => {
  const client = connect();
  await sim.faults.apply("garbage-json");
  client.capture({ distinctId: "u1", event: "kept" });
  await client.flush();
  expect((await journal("/batch")).map((it) => [it.status, it.fault])).toEqual([[200, "garbage-json"]]);
  expect((await kept()).map(([event]) => event)).toEqual(["kept"]);
  expect(errors).toEqual([]);
});

test("quota-exhausted: captures are accepted and dropped", async () => {
  const client = connect();
  await sim.faults.apply("quota-exhausted");
  client.capture({ distinctId: "u1", event: "too much" });
  await client.flush();
  expect(await sim.events.list()).toMatchObject([{ event: "too much", outcome: "dropped", reason: "over_quota" }]);
  expect(errors).toEqual([]);
});

describe("flags", () => {
  const all = { alpha: true, beta: true };
  const rows: [preset: FaultPresetName, flags: object, tries: unknown[]][] = [
    ["flags-down", {}, [503]],
    ["connection-reset", {}, [0, 0]],
    ["garbage-json", {}, [200]],
    ["quota-exhausted", {}, [200]],
    ["rate-limited", {}, [429]],
    ["flags-partial", { alpha: false, beta: true }, [200]],
    ["capture-503", all, [200]],
  ];
  test.each(rows)("%s: %j", async (preset, flags, statuses) => {
    const client = connect();
    await sim.faults.apply(preset);
    expect(await client.getAllFlags("u1")).toEqual(flags);
    const tries = await journal("/flags");
    expect(tries.map(({ status }) => status)).toEqual(statuses);
    const fault = preset === "capture-503" ? null : preset;
    expect(tries.map((it) => it.fault)).toEqual(statuses.map(() => fault));
    await sim.faults.clear();
    expect(await client.getAllFlags("u1")).toEqual(all);
  });

  test("a reset once is not noticed: it asks again", async () => {
    await sim.faults.apply("connection-reset", { times: 1 });
    expect(await connect().getAllFlags("u1")).toEqual(all);
    expect((await journal("/flags")).map(({ status }) => status)).toEqual([0, 200]);
  });

  test("flags-slow: slower than the client waits, and there are none", async () => {
    const client = connect({ featureFlagsRequestTimeoutMs: 40 });
    await sim.faults.apply("flags-slow", { effect: { latency: "1m" } });
    expect(await client.getAllFlags("u1")).toEqual({});
    await sim.faults.clear();
    await sim.faults.apply("flags-slow", { effect: { latency: "1ms" } });
    expect(await connect().getAllFlags("u1")).toEqual(all);
  });

  test("quota-exhausted: local evaluation has no definitions", async () => {
    await sim.faults.apply("quota-exhausted");
    const client = connect({ personalApiKey: "phx_node", featureFlagsPollingInterval: 60_000 });
    expect(await client.waitForLocalEvaluationReady(500)).toBe(false);
    expect((await journal("/flags/definitions")).map(({ status }) => status)).toContain(402);
  });
});
