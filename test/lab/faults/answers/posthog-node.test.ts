import { PostHog } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";

let sim: Sim;
const clients: PostHog[] = [];

beforeEach(async () => {
  sim = await startSim();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(clients.splice(0).map((client) => client.shutdown()));
  await sim.close();
});

function connect(partition?: string): PostHog {
  const client = new PostHog(sim.apiKey, {
    host: sim.url,
    flushInterval: 60_000,
    fetchRetryDelay: 1,
    fetch: (url, { headers, ...options }) =>
      fetch(url, {
        ...options,
        headers: { ...headers, ...(partition !== undefined && { "x-test-id": partition }) },
      } as RequestInit),
  });
  clients.push(client);
  return client;
}

/** What the journal has: status, whether it was scripted, uuids of the events in the body. Oldest first. */
async function journal(partition?: string) {
  const lines = (await sim.requests.list(partition === undefined ? {} : { partition })).reverse();
  return Promise.all(
    lines.map(async ({ n, status, scripted }) => {
      const response = await fetch(`${sim.url}/__sim/requests/${n}`);
      const { body } = (await response.json()) as { body: { batch: { uuid: string }[] } };
      return [status, scripted, body.batch.map(({ uuid }) => uuid)];
    }),
  );
}

test("a scripted 503, then a scripted 200: the batch is sent again, and nothing is kept", async () => {
  await sim.answers.queue([
    { status: 503, body: "later" },
    { status: 200, body: { status: "Ok" } },
  ]);
  const client = connect();
  client.capture({ distinctId: "u1", event: "one" });
  client.capture({ distinctId: "u1", event: "two" });
  await client.flush();
  const [first, second, ...more] = await journal();
  const uuids = [expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)];
  expect(first).toEqual([503, true, uuids]);
  expect(second).toEqual([200, true, first?.[2]]);
  expect(more).toEqual([]);
  expect(await sim.events.list()).toEqual([]);
});

test("after a scripted 503 the emulator takes the batch", async () => {
  await sim.answers.queue({ status: 503 });
  const client = connect();
  client.capture({ distinctId: "u1", event: "one" });
  await client.flush();
  expect((await journal()).map(([status, scripted]) => [status, scripted])).toEqual([
    [503, true],
    [200, false],
  ]);
  expect((await sim.events.list()).map(({ event }) => event)).toEqual(["one"]);
});

test("clients of partitions do not meet each other's answers", async () => {
  await sim.answers.queue({ status: 503, times: 2 }, { partition: "unlucky" });
  const names = ["unlucky", "lucky"];
  await Promise.all(
    names.map(async (name) => {
      const client = connect(name);
      client.capture({ distinctId: name, event: name });
      await client.flush();
    }),
  );
  const statuses = async (name: string) => (await journal(name)).map(([status]) => status);
  expect([await statuses("unlucky"), await statuses("lucky")]).toEqual([[503, 503, 200], [200]]);
});

describe("in v1 mode", () => {
  beforeEach(() => void vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1"));

  test("events that are to be sent again are", async () => {
    const reported = (result: string) => ({ status: 200, body: { results: { $each_uuid: { result } } } });
    await sim.answers.queue([reported("retry"), reported("ok")]);
    const client = connect();
    client.capture({ distinctId: "u1", event: "again" });
    await client.flush();
    const [first, second, ...more] = await journal();
    expect([first?.slice(0, 2), second, more]).toEqual([[200, true], [200, true, first?.[2]], []]);
  });

  test("only the event at the position of a retry is sent again", async () => {
    await sim.answers.queue({ status: 200, results: ["ok", "retry"] });
    const client = connect();
    client.capture({ distinctId: "u1", event: "first" });
    client.capture({ distinctId: "u1", event: "second" });
    await client.flush();
    const [scripted, again, ...more] = await journal();
    const uuids = [expect.any(String), expect.any(String)];
    expect([scripted, again, more]).toEqual([[200, true, uuids], [200, false, [expect.any(String)]], []]);
    expect((await sim.events.list()).map(({ event }) => event)).toEqual(["second"]);
  });

  test("the journal has the project key of the header, which is public", async () => {
    const client = connect();
    client.capture({ distinctId: "u1", event: "seen" });
    await client.flush();
    const [line] = await sim.requests.list();
    const response = await fetch(`${sim.url}/__sim/requests/${line?.n}`);
    const { headers } = (await response.json()) as { headers: [string, string][] };
    const named = headers.find(([name]) => name.toLowerCase() === "authorization");
    expect(named?.[1]).toBe(`Bearer ${sim.apiKey}`);
  });
});
