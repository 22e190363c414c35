import { PostHog } from "posthog-node";
import { afterEach, describe, expect, test } from "vitest";
import type { Sim } from "../../../../src/index.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { started, tapeOf, upstream } from "./tapes.ts";

const clients: PostHog[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.shutdown()));
});

/** A client of this sim; what it asks and gets is put on the list. */
function connect(sim: Sim, key: string, taped: RawExchange[] = []): PostHog {
  const client = new PostHog(key, {
    host: sim.url,
    flushInterval: 60_000,
    fetchRetryDelay: 1,
    fetch: async (url, options) => {
      const request = new Request(url, options as RequestInit);
      const body = Buffer.from(await request.clone().arrayBuffer());
      const response = await fetch(request);
      const answer = Buffer.from(await response.clone().arrayBuffer());
      taped.push({
        at: Date.now(),
        method: request.method,
        url: String(url).replace(sim.url, upstream),
        http: "1.1",
        headers: [...request.headers].flat(),
        body,
        answer: {
          status: response.status,
          reason: response.statusText,
          http: "1.1",
          headers: [...response.headers].flat(),
          body: answer,
          ttfb: 1,
          total: 1,
        },
      });
      return response;
    },
  });
  clients.push(client);
  return client;
}

/** What an app does; returns what it got. */
async function session(client: PostHog) {
  client.identify({ distinctId: "user-1", properties: { plan: "pro" } });
  client.capture({ distinctId: "user-1", event: "signed_up", properties: { source: "ad" } });
  await client.flush();
  const checkout = await client.getFeatureFlag("checkout", "user-1", { personProperties: { plan: "pro" } });
  const all = await client.getAllFlags("user-2");
  client.capture({ distinctId: "user-1", event: "bought" });
  await client.flush();
  return { checkout, all };
}

const recorded = async () => {
  const sim = await started({});
  await sim.flags.set("checkout", "blue", { force: true });
  await sim.flags.set("beta", true, { force: true });
  const taped: RawExchange[] = [];
  const reported = await session(connect(sim, sim.apiKey, taped));
  expect(reported.checkout).toBe("blue");
  return { reported, tape: await tapeOf(taped) };
};

describe("a session of posthog-node, recorded at one sim, replayed by another", () => {
  test("the same answers, nothing missed, nothing unused; its events are in the log", async () => {
    const { reported, tape } = await recorded();
    const sim = await started({ tape });
    expect(await session(connect(sim, "phc_another_project"))).toEqual(reported);
    expect((await sim.tapes.get())?.ledger).toMatchObject({ miss_count: 0, unused_count: 0, misses: [], unused: [] });
    const events = (await sim.events.list()).map(({ event }) => event);
    expect(events).toEqual(["$identify", "signed_up", "$feature_flag_called", "bought"]);
  });

  test("in two projects at the same time", async () => {
    const { reported, tape } = await recorded();
    const sim = await started({ tape });
    const sessions = ["phc_one", "phc_two"].map((key) => session(connect(sim, key)));
    expect(await Promise.all(sessions)).toEqual([reported, reported]);
    expect((await sim.tapes.get())?.ledger).toMatchObject({ miss_count: 0, unused_count: 0 });
  });
});
