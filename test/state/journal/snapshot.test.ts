import { PostHog } from "posthog-node";
import { expect, test } from "vitest";
import type { Project } from "../../../src/index.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

/** A visit, each time with other ids, times and ports. */
async function visit(ph: Project): Promise<void> {
  const sdk = new PostHog(ph.apiKey, { host: ph.host, flushAt: 1, disableGeoip: false });
  const order = crypto.randomUUID();
  const port = 40_000 + Math.floor(Math.random() * 10_000);
  sdk.identify({ distinctId: "ada", properties: { plan: "pro" } });
  sdk.capture({
    distinctId: "ada",
    event: "order placed",
    properties: {
      order,
      at: new Date().toISOString(),
      ms: Date.now(),
      seconds: Math.floor(Date.now() / 1000),
      valid_until: "2031-01-01T00:00:00Z",
      total: 49,
      link: `http://localhost:${port}/orders/${order}`,
      nonce: Math.random(),
      items: [{ sku: "S-1", nonce: Math.random() }],
    },
    groups: { company: "acme" },
  });
  sdk.capture({ distinctId: crypto.randomUUID(), event: `order ${order} paid` });
  sdk.captureException(new Error("card refused"), "ada");
  await sdk.shutdown();
}

const steady = [
  { event: "$identify", distinct_id: "ada", properties: { $set: { plan: "pro" } } },
  {
    event: "order placed",
    distinct_id: "ada",
    properties: {
      $groups: { company: "acme" },
      at: "<time>",
      items: [{ sku: "S-1" }],
      link: "http://localhost:<port>/orders/<id 1>",
      ms: "<time>",
      order: "<id 1>",
      seconds: "<time>",
      total: 49,
      valid_until: "2031-01-01T00:00:00Z",
    },
  },
  { event: "order <id 1> paid", distinct_id: "<id 2>", properties: {} },
  {
    event: "$exception",
    distinct_id: "ada",
    properties: { $exception_level: "error", $exception_list: [{ type: "Error", value: "card refused" }] },
  },
];

test("the events of posthog-node are the same in each run", async () => {
  for (let run = 0; run < 3; run++) {
    await using ph = await sim.project();
    await visit(ph);
    expect(await ph.events.snapshot({ omit: ["nonce"] })).toEqual(steady);
  }
});

test("since a mark, and of a project of the sim", async () => {
  await using ph = await sim.project();
  await visit(ph);
  const since = await sim.events.mark();
  const body = { api_key: ph.apiKey, event: "later", distinct_id: "ada", properties: { $lib: "web", n: 1 } };
  await fetch(`${ph.host}/capture/`, { method: "POST", body: JSON.stringify(body) });
  const later = [{ event: "later", distinct_id: "ada", properties: { n: 1 } }];
  expect(await ph.events.snapshot({ since })).toEqual(later);
  expect(await sim.events.snapshot({ since, project: ph.id })).toEqual(later);
});

test("dropped events are there, with the reason", async () => {
  await using ph = await sim.project();
  const body = { api_key: ph.apiKey, batch: [{ event: "lost", distinct_id: "" }] };
  await fetch(`${ph.host}/batch/`, { method: "POST", body: JSON.stringify(body) });
  expect(await ph.events.snapshot()).toEqual([
    { event: "lost", distinct_id: "", properties: {}, dropped: "missing_distinct_id" },
  ]);
});

test("mistakes in the options are errors", async () => {
  // @ts-expect-error a name instead of a list
  await expect(sim.events.snapshot({ omit: "nonce" })).rejects.toThrow(/omit: expected a list of names.*"nonce"/);
  // @ts-expect-error an unknown option
  await expect(async () => sim.events.snapshot({ ommit: [] })).rejects.toThrow(/did you mean "omit"/);
});
