import { expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import type { Scenario } from "../../../../src/lab/scenario/schema.ts";
import { newFolder } from "../../../support/folder.ts";

type Project = Scenario["organizations"][number]["projects"][number];

const scenarioOf = (project: Partial<Project>): Scenario => ({
  version: 1,
  organizations: [{ name: "Acme", projects: [{ name: "App", api_key: "phc_app", ...project }] }],
  personal_api_keys: [{ key: "phx_dev", user: "dev@phx-sim.test", scopes: ["*"] }],
});

/** Starts a sim for as long as the story takes. */
async function withSim<T>(options: SimOptions, story: (sim: Sim) => Promise<T>): Promise<T> {
  await using sim = await startSim(options);
  return await story(sim);
}

async function send(sim: Sim, path: string, init: RequestInit = {}) {
  const response = await sim.handle(new Request(new URL(path, sim.url), init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

async function valuesOf(sim: Sim, body: object): Promise<unknown> {
  const sent = { api_key: sim.apiKey, distinct_id: "u1", ...body };
  const { text } = await send(sim, "/flags?v=1", { method: "POST", body: JSON.stringify(sent) });
  return JSON.parse(text).featureFlags;
}

const capture = (sim: Sim, event: object) =>
  send(sim, "/capture", { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...event }) });

const definitions = (sim: Sim, method: string) =>
  send(sim, `/flags/definitions?token=${sim.apiKey}`, {
    method,
    headers: { authorization: `Bearer ${sim.personalApiKey}` },
  });

test("HEAD of the definitions has the tag of GET, and no body", async () => {
  await withSim({ scenario: scenarioOf({ flags: { a: true } }) }, async (sim) => {
    const [get, head] = [await definitions(sim, "GET"), await definitions(sim, "HEAD")];
    expect(get.text).toContain('"key":"a"');
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
  });
});

test.each<[query: string, members: object, absent: string]>([
  ["", { featureFlags: {}, featureFlagPayloads: {} }, "flags"],
  ["?v=1", { featureFlags: {}, featureFlagPayloads: {} }, "flags"],
  ["?v=2", { flags: {} }, "featureFlags"],
])("GET /flags%s has no flags, in the shape of its version", async (query, members, absent) => {
  await withSim({ scenario: scenarioOf({ flags: { a: true } }) }, async (sim) => {
    const { status, text } = await send(sim, `/flags${query}`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject(members);
    expect(JSON.parse(text)).not.toHaveProperty(absent);
  });
});

test("a scenario can say that flags are over quota, and may name contexts by either of their names", async () => {
  const flag = (more: object) => ({ filters: { groups: [{}] }, ...more });
  const flags = {
    docs: flag({ evaluation_tags: ["docs"] }),
    site: flag({ evaluation_contexts: ["site"], evaluation_tags: ["docs"] }),
    any: flag({ evaluation_tags: [] }),
  };
  await withSim({ scenario: scenarioOf({ flags }) }, async (sim) => {
    expect(await valuesOf(sim, { evaluation_contexts: ["docs"] })).toEqual({ docs: true, any: true });
  });
  const settings = { quota_limited: ["feature_flags"] };
  await withSim({ scenario: scenarioOf({ flags, settings }) }, async (sim) => {
    expect(await valuesOf(sim, {})).toEqual({});
    expect((await definitions(sim, "GET")).status).toBe(402);
  });
});

/** At 45 % distinct_id_1 is in and distinct_id_3 is out (§12 of the published vectors). */
test("what a person was hashed by survives an identification, a restart, and ends with the people", async () => {
  const sticky = { ensure_experience_continuity: true, filters: { groups: [{ rollout_percentage: 45 }] } };
  const options: SimOptions = { scenario: scenarioOf({ flags: { "simple-flag": sticky } }), data: newFolder() };
  const value = (sim: Sim) => valuesOf(sim, { distinct_id: "distinct_id_3" });
  await withSim(options, async (sim) => {
    await capture(sim, { event: "seen", distinct_id: "distinct_id_1" });
    const properties = { $anon_distinct_id: "distinct_id_1" };
    expect(await value(sim)).toEqual({ "simple-flag": false });
    await valuesOf(sim, { distinct_id: "distinct_id_3", ...properties });
    await capture(sim, { event: "$identify", distinct_id: "distinct_id_3", properties });
    expect(await value(sim)).toEqual({ "simple-flag": true });
  });
  await withSim(options, async (sim) => {
    expect(await value(sim)).toEqual({ "simple-flag": true });
    await send(sim, "/__sim/reset", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"what":["people"]}',
    });
    expect(await value(sim)).toEqual({ "simple-flag": false });
  });
});
