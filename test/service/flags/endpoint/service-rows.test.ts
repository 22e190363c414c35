import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import { newFolder } from "../../../support/folder.ts";

// Requests of flags whose right answer a source of the service gives; each goes over HTTP.

const key = "phc_rows";
const headers = { authorization: "Bearer phx_rows", "content-type": "application/json" };

const sims: Sim[] = [];
afterEach(() => Promise.all(sims.splice(0).map((sim) => sim.close())));

async function start(settings: Record<string, boolean> = {}, options: SimOptions = {}): Promise<Sim> {
  const project = { id: 1, name: "App", api_key: key, settings, flags: { beta: true, other: true } };
  const sim = await startSim({
    scenario: {
      version: 1,
      organizations: [{ name: "Org", projects: [project] }],
      personal_api_keys: [
        { key: "phx_rows", scopes: ["*"] },
        { key: "phx_other", scopes: ["dashboard:read"] },
      ],
    },
    ...options,
  });
  sims.push(sim);
  return sim;
}

interface Answer {
  status: number;
  text: string;
  json: Record<string, unknown> & { flags?: Record<string, { metadata: { has_experiment: boolean } }> };
}

async function flags(sim: Sim, body: object, query = "v=2", more: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${sim.url}/flags/?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...more },
    body: JSON.stringify({ token: key, distinct_id: "u", ...body }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: text.startsWith("{") ? (JSON.parse(text) as Answer["json"]) : {} };
}

describe("types of fields (upstream rust/feature-flags, flag_request.rs)", () => {
  test.each<[string, object]>([
    ["groups: a list", { groups: [] }],
    ["groups: text", { groups: "company" }],
    ["person_properties: a list", { person_properties: [] }],
    ["person_properties: text", { person_properties: "{}" }],
    ["group_properties: a list", { group_properties: [] }],
    ["group_properties of a group: text", { group_properties: { company: "acme" } }],
    ["flag_keys: text", { flag_keys: "beta" }],
    ["flag_keys_to_evaluate: text", { flag_keys_to_evaluate: "beta" }],
    ["flag_keys: numbers", { flag_keys: [1] }],
    ["disable_flags: text", { disable_flags: "true" }],
    ["disable_flags: a number", { disable_flags: 1 }],
    ["geoip_disable: text", { geoip_disable: "false" }],
    ["$anon_distinct_id: a number", { $anon_distinct_id: 42 }],
    ["token: a number", { token: 7 }],
    ["token and api_key", { api_key: key }],
    ["distinct_id and $distinct_id", { $distinct_id: "u" }],
    ["distinct_id: a list", { distinct_id: ["u"] }],
    ["distinct_id: a boolean", { distinct_id: true }],
    ["$groups: a list", { $groups: [] }],
    ["groups and $groups", { groups: {}, $groups: {} }],
    ["$properties: text", { $properties: "{}" }],
    ["$group_properties of a group: text", { $group_properties: { company: "acme" } }],
    ["$device_id: a number", { $device_id: 5 }],
    ["timezone: a number", { timezone: 5 }],
    ["ip_address: a number", { ip_address: 5 }],
    ["evaluation_contexts: text", { evaluation_contexts: "web" }],
    ["evaluation_environments: text", { evaluation_environments: "web" }],
    ["evaluation_runtime: a number", { evaluation_runtime: 5 }],
  ])("%s: 400", async (_, body) => {
    const { status, text } = await flags(await start(), body);
    expect(status).toBe(400);
    expect(text).toContain("invalid JSON");
  });

  test.each<[string, object]>([
    ["null is absent", { groups: null, person_properties: null, flag_keys: null, disable_flags: null }],
    ["a number as distinct_id", { distinct_id: 7 }],
    ["a runtime in any case", { evaluation_runtime: "SERVER" }],
    ["what is right", { groups: { company: "acme" }, group_properties: { company: {} }, flag_keys: ["beta"] }],
  ])("%s: 200", async (_, body) => {
    expect((await flags(await start(), body)).status).toBe(200);
  });
});

describe("crawlers (PostHog/posthog#59254)", () => {
  const googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
  const headless = "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/141.0.0.0 Safari/537.36";
  test.each<[string, Record<string, string>, "documented" | "production", number]>([
    ["a crawler by its user agent", { "user-agent": googlebot }, "documented", 0],
    ["one by its address", { "x-forwarded-for": "66.249.66.1" }, "documented", 0],
    ["one by its IPv6 address", { "x-forwarded-for": "2001:4860:4801:10::1" }, "documented", 0],
    ["another address", { "x-forwarded-for": "66.250.0.1" }, "documented", 2],
    ["the browser of a test", { "user-agent": headless }, "documented", 2],
    ["the browser of a test", { "user-agent": headless }, "production", 0],
    ["an SDK", { "user-agent": "posthog-node/5.0.0" }, "production", 2],
  ])("%s: %j in dialect %s gets %d flags", async (_, more, dialect, count) => {
    const { status, json } = await flags(await start({}, { dialect }), {}, "v=2", more);
    expect(status).toBe(200);
    expect(Object.keys(json.flags ?? {})).toHaveLength(count);
  });
});

describe("shapes", () => {
  test("v=3 has typed flags only with the setting of the project", async () => {
    const plain = await flags(await start(), {}, "v=3");
    expect(plain.json.flags?.beta).toHaveProperty("enabled", true);
    const typed = await flags(await start({ flags_v3_response_enabled: true }), {}, "v=3");
    expect(typed.json.flags?.beta).toHaveProperty("value", true);
  });

  test("config=true without a version has the shape of v=1", async () => {
    const { json } = await flags(await start(), {}, "config=true");
    expect(json).toMatchObject({ featureFlags: { beta: true }, supportedCompression: expect.anything() });
    expect(json).not.toHaveProperty("flags");
  });

  test("a personal key without the scope gets 401 at the definitions", async () => {
    const sim = await start();
    const ask = (personal: string) =>
      fetch(`${sim.url}/flags/definitions?token=${key}`, { headers: { authorization: `Bearer ${personal}` } });
    expect((await ask("phx_rows")).status).toBe(200);
    expect((await ask("phx_other")).status).toBe(401);
  });
});

describe("flags of experiments", () => {
  test("are marked in answers and definitions, as soon as there is one", async () => {
    const sim = await start();
    const marks = async () => {
      const { json } = await flags(sim, {});
      return Object.fromEntries(
        Object.entries(json.flags ?? {}).map(([name, it]) => [name, it.metadata.has_experiment]),
      );
    };
    expect(await marks()).toEqual({ beta: false, other: false });
    const filters = {
      multivariate: {
        variants: [
          { key: "control", rollout_percentage: 50 },
          { key: "test", rollout_percentage: 50 },
        ],
      },
      groups: [{ rollout_percentage: 100 }],
    };
    const made = await fetch(`${sim.url}/api/projects/1/feature_flags/`, {
      method: "POST",
      headers,
      body: JSON.stringify({ key: "tried", filters }),
    });
    expect(made.status).toBe(201);
    expect(await marks()).toEqual({ beta: false, other: false, tried: false });
    const experiment = await fetch(`${sim.url}/api/projects/1/experiments/`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "Try", feature_flag_key: "tried" }),
    });
    expect(experiment.status).toBe(201);
    expect(await marks()).toEqual({ beta: false, other: false, tried: true });
    const definitions = await fetch(`${sim.url}/flags/definitions?token=${key}`, { headers });
    expect(((await definitions.json()) as { flags: object[] }).flags).toContainEqual(
      expect.objectContaining({ key: "tried", has_experiment: true }),
    );
  });
});

describe("minimal $feature_flag_called", () => {
  test("the gate is in answers of v=2 and in definitions, only with the setting", async () => {
    const gated = await start({ minimal_flag_called_events: true });
    const plain = await start();
    expect((await flags(gated, {})).json.minimalFlagCalledEvents).toBe(true);
    expect((await flags(gated, {}, "v=1")).json).not.toHaveProperty("minimalFlagCalledEvents");
    expect((await flags(plain, {})).json).not.toHaveProperty("minimalFlagCalledEvents");
    const definitions = async (sim: Sim, path: string) =>
      (await fetch(`${sim.url}${path}?token=${key}`, { headers })).json();
    for (const path of ["/flags/definitions", "/api/feature_flag/local_evaluation"]) {
      expect(await definitions(gated, path)).toMatchObject({ minimal_flag_called_events: true });
      expect(await definitions(plain, path)).not.toHaveProperty("minimal_flag_called_events");
    }
  });

  test("the management API changes the setting", async () => {
    const sim = await start();
    const change = async (value: unknown) =>
      fetch(`${sim.url}/api/projects/1/`, {
        method: "PATCH",
        headers,
        body: JSON.stringify({ minimal_flag_called_events: value }),
      });
    expect(await (await change(true)).json()).toMatchObject({ minimal_flag_called_events: true });
    expect((await flags(sim, {})).json.minimalFlagCalledEvents).toBe(true);
    expect((await change("yes, please")).status).toBe(400);
    expect((await change(null)).status).toBe(200);
    expect((await flags(sim, {})).json).not.toHaveProperty("minimalFlagCalledEvents");
  });

  test.each([
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ])("an SDK sends few properties if the gate is %s; local evaluation: %s", async (isGated, isLocal) => {
    const sim = await start({ minimal_flag_called_events: isGated });
    const client = new PostHog(key, { host: sim.url, flushAt: 1, ...(isLocal && { personalApiKey: "phx_rows" }) });
    if (isLocal) await client.reloadFeatureFlags();
    client.register?.({ tier: "gold" });
    await client.getFeatureFlag("beta", "u");
    await client.shutdown();
    const [event] = await sim.events.list({ event: "$feature_flag_called" });
    expect(event?.properties).toMatchObject({ $feature_flag: "beta", $feature_flag_response: true });
    expect(event?.properties.locally_evaluated).toBe(isLocal);
    for (const name of ["tier", "$feature/beta"]) expect(Object.hasOwn(event?.properties ?? {}, name)).toBe(!isGated);
    // a failed assertion names the cause
    const missed = await sim.events
      .waitFor("$feature_flag_called", { plan: "pro" }, { timeoutMs: 0 })
      .catch((error: Error) => error.message);
    const cause = "the project has minimal_flag_called_events, and no experiment uses the flag";
    expect(String(missed).includes(cause)).toBe(isGated);
    expect((await sim.lint()).findings).toEqual([]);
  });
});

describe("whole numbers beyond a double in a scenario", () => {
  test("ids and persons have the exact text", async () => {
    const folder = newFolder();
    const file = join(folder, "big.yaml");
    const person = "{ distinct_ids: [9007199254740993], properties: { n: 9007199254740993 } }";
    const filter = "{ key: n, type: person, operator: exact, value: 9007199254740993 }";
    writeFileSync(
      file,
      `version: 1\npersons:\n  - ${person}\nflags:\n  big: { filters: { groups: [{ properties: [${filter}] }] } }\n`,
    );
    const sim = await startSim({ scenario: file });
    sims.push(sim);
    const served = async (id: string) => {
      const body = `{"token":"phc_sim_default","distinct_id":${id}}`;
      const answer = await fetch(`${sim.url}/flags/?v=1`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      return ((await answer.json()) as { featureFlags: object }).featureFlags;
    };
    expect(await served("9007199254740993")).toEqual({ big: true });
    expect(await served('"9007199254740993"')).toEqual({ big: true });
    expect(await served("9007199254740992")).toEqual({ big: false });
  });
});
