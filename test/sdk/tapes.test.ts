import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { newFolder } from "../support/folder.ts";

const project = {
  id: 7,
  name: "App",
  api_key: "phc_node",
  flags: { beta: { rollout: 100, payloads: { true: { color: "blue" } } }, pro: { person: { plan: "pro" } } },
};
const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [{ name: "Org", projects: [project] }],
  personal_api_keys: [{ key: "phx_node", scopes: ["*"] }],
};

const sims: Sim[] = [];
let folder = "";
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const it of sims.splice(0).reverse()) await it.close();
});

async function started(options: SimOptions): Promise<Sim> {
  const sim = await startSim(options);
  sims.push(sim);
  return sim;
}

/** What a server program does, with people that no other session has; returns what it got. */
async function session({ url }: Sim): Promise<unknown> {
  const errors: unknown[] = [];
  const client = new PostHog(project.api_key, {
    host: url,
    personalApiKey: "phx_node",
    flushInterval: 60_000,
    fetchRetryDelay: 1,
  });
  client.on("error", (error: unknown) => errors.push(error));
  await client.reloadFeatureFlags();
  const local = await client.evaluateFlags("ann", { onlyEvaluateLocally: true });
  const beta = local.isEnabled("beta");
  const anonymous = randomUUID();
  const flags = await client.getAllFlags(anonymous, { personProperties: { plan: "pro" } });
  client.capture({ distinctId: anonymous, event: "ordered", properties: { items: [1, 2], trace: randomUUID() } });
  client.identify({ distinctId: "ann", properties: { plan: "pro" } });
  client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { tier: "gold" } });
  await client.flush();
  client.alias({ distinctId: "ann", alias: anonymous });
  await client.shutdown();
  expect(errors).toEqual([]);
  return { beta, payload: local.getFlagPayload("beta"), flags };
}

const names = async (sim: Sim) => (await sim.events.list()).map(({ event }) => event);

async function recorded(name: string) {
  const tape = join(folder, `${name}.tape.ndjson`);
  const cloud = await started({ scenario, dialect: "production" });
  const near = await started({ mode: "record", upstream: cloud.url, tape });
  const reported = await session(near);
  await near.settle({ idleMs: 0 });
  expect(await near.recording.stop()).toMatchObject({ failed: 0, trouble: null });
  expect(await names(near)).toEqual(await names(cloud));
  return { tape, reported, events: await names(near) };
}

test("posthog-node, recorded twice: each tape answers the other session, nothing is left", async () => {
  const [first, second] = [await recorded("first"), await recorded("second")];
  expect(first.reported).toEqual({ beta: true, payload: { color: "blue" }, flags: { beta: true, pro: true } });
  for (const { tape, events } of [first, second]) {
    const replaying = await started({ tape, mode: "replay" });
    expect(await session(replaying)).toEqual(first.reported);
    await replaying.settle({ idleMs: 0 });
    expect(await names(replaying)).toEqual(events);
    expect((await replaying.tapes.get())?.ledger).toMatchObject({ misses: [], unused: [] });
  }
  expect(second.events).toEqual(first.events);
});
