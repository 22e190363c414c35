import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { worldOf } from "../../../src/lab/scenario/scenario.ts";
import { shippedScenarios } from "../../../src/lab/scenario/shipped.ts";
import { operatorNames } from "../../../src/service/flags/engine/operators.ts";
import { runStatuses } from "../../../src/state/documents/run-statuses.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
type Answer = any;

let sim: Sim;
const starting = (scenario: string) => {
  beforeAll(async () => {
    sim = await startSim({ scenario });
  });
  afterAll(() => sim.close());
};

async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; json: Answer }> {
  const answer = await sim.handle(new Request(`${sim.url}${path}`, init));
  const text = await answer.text();
  return { status: answer.status, json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
}

const as = (key: string, method = "GET", body?: unknown): RequestInit => ({
  method,
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

async function flagsOf(distinctId: string, more: object = {}, token = sim.apiKey): Promise<Answer> {
  const body = JSON.stringify({ token, distinct_id: distinctId, ...more });
  return (await ask("/flags/?v=2", { method: "POST", body })).json;
}

/** What each flag came to, by key. */
async function valuesOf(distinctId: string, more: object = {}, token?: string): Promise<Record<string, unknown>> {
  const { flags } = await flagsOf(distinctId, more, token);
  const rows = Object.entries<Answer>(flags);
  return Object.fromEntries(rows.map(([key, { variant, enabled }]) => [key, variant ?? enabled]));
}

const listed = async (path: string, key = sim.personalApiKey): Promise<Answer[]> =>
  (await ask(path, as(key))).json.results;

test.each([...shippedScenarios().keys()])("%s starts in strict mode, deliberate faults and all", async (name) => {
  await using strict = await startSim({ scenario: name, strict: true });
  expect((await strict.handle(new Request(`${strict.url}/no-such-path`))).status).toBe(501);
});

test("these are shipped", () => {
  expect([...shippedScenarios().keys()]).toEqual([
    "default",
    "bad-day",
    "exports",
    "flags-gallery",
    "saas-team",
    "shop",
    "traffic",
  ]);
});

test.each([...shippedScenarios()])("%s is sound, says what it is for, and makes a world", async (name, file) => {
  const { scenario, problems } = await readScenario(file);
  expect(problems).toEqual([]);
  expect(scenario?.description).toMatch(/^[A-Z].*\.$/);
  const world = scenario && worldOf(scenario);
  expect(WorldSchema.parse(world)).toEqual(world);
  const isYaml = extname(file) === ".yaml";
  expect(isYaml).toBe(name !== "default");
  if (isYaml)
    expect(readFileSync(file, "utf8")).toMatch(/^# yaml-language-server: \$schema=\.\/scenario.schema.json\n#/);
});

describe("default", () => {
  starting("default");

  test("has the keys that the documentation names, and a flag of each simple kind", async () => {
    expect([sim.apiKey, sim.secretApiKey, sim.personalApiKey]).toEqual([
      "phc_sim_default",
      "phs_sim_default",
      "phx_sim_default",
    ]);
    expect(await valuesOf("somebody")).toMatchObject({
      "beta-feature": true,
      "new-checkout": expect.stringMatching(/^(control|test)$/),
      "off-for-everyone": false,
    });
  });
});

describe("shop", () => {
  starting("shop");

  test("reports flags by what is known of a customer", async () => {
    expect(await valuesOf("customer-1001")).toMatchObject({
      "loyalty-prices": true,
      "free-shipping": true,
      "win-back-mail": false,
      "live-chat": false,
      "hero-banner": expect.stringMatching(/^(plants|books|gifts)$/),
    });
    expect(await valuesOf("customer-1002")).toMatchObject({
      "loyalty-prices": false,
      "free-shipping": false,
      "win-back-mail": true,
    });
  });

  test("a customer is one person by both ids", async () => {
    const [byNumber] = await listed("/api/projects/1/persons/?distinct_id=customer-1001");
    const [byMail] = await listed("/api/projects/1/persons/?distinct_id=ines@mail.test");
    expect(byNumber).toMatchObject({ distinct_ids: ["customer-1001", "ines@mail.test"], properties: { orders: 7 } });
    expect(byMail?.uuid).toBe(byNumber?.uuid);
  });

  test("asks how the order was", async () => {
    const { json } = await ask(`/api/surveys/?token=${sim.apiKey}`);
    expect(json.surveys).toMatchObject([{ name: "How was your order?", type: "popover" }]);
  });

  test("shows its dashboards, one of them to everyone with the link", async () => {
    const boards = await listed("/api/projects/1/dashboards/");
    expect(boards.map((it) => it.name)).toEqual(expect.arrayContaining(["The shop today", "Autumn campaign"]));
    expect((await ask("/shared_dashboard/autumn-campaign")).status).toBe(200);
  });

  test("knows where its addresses are", async () => {
    const event = { api_key: sim.apiKey, event: "e", distinct_id: "u", properties: { $ip: "198.51.100.9" } };
    await ask("/capture/", { method: "POST", body: JSON.stringify(event) });
    const [stored] = await sim.events.list({ event: "e" });
    expect(stored?.properties).toMatchObject({ $geoip_city_name: "Bergen", $geoip_country_code: "NO" });
  });

  test("the build server's key reads flags and nothing else", async () => {
    expect((await ask("/api/projects/1/feature_flags/", as("phx_shop_ci"))).status).toBe(200);
    expect((await ask("/api/projects/1/dashboards/", as("phx_shop_ci"))).status).toBe(403);
  });
});

describe("traffic", () => {
  starting("traffic");

  const insights = [
    "Orders a day",
    "Revenue by week",
    "Visitors by source",
    "From product to order",
    "Checkout by variant",
    "Customers who come back",
    "Best products",
  ];

  test("every tile of its dashboard has something to show", async () => {
    const [board] = await listed("/api/projects/1/dashboards/");
    const { json } = await ask(`/api/projects/1/dashboards/${board?.id}/`, as(sim.personalApiKey));
    expect(json.tiles.map((it: Answer) => it.insight?.name ?? null).sort()).toEqual([null, ...insights].sort());
    for (const insight of insights) {
      const { status, json } = await ask("/__sim/query", as("", "POST", { insight }));
      expect([insight, status]).toEqual([insight, 200]);
      expect(JSON.stringify(json.results)).toMatch(/[1-9]\d/);
    }
  });

  test("its events have the values that its flag gives", async () => {
    const events = await sim.events.list({ event: "checkout started", limit: 10 });
    for (const { properties } of events) {
      const { $device_id: id, "$feature/new-checkout": variant } = properties as Answer;
      expect(await valuesOf(id)).toEqual({ "new-checkout": variant });
    }
    expect(events.length).toBe(10);
  });
});

describe("saas-team", () => {
  starting("saas-team");

  test("whole companies get a flag, by the company's stored properties", async () => {
    const groups = (company: string, workspace = "none") => ({ groups: { company, workspace } });
    expect(await valuesOf("u-1", groups("acme"))).toMatchObject({ "audit-log": true, "new-editor": false });
    expect(await valuesOf("u-1", groups("tiny"))).toMatchObject({ "audit-log": false });
    expect(await valuesOf("u-1", groups("acme", "acme/design"))).toMatchObject({ "new-editor": true });
    const half = async (id: string) => (await valuesOf(id, groups("acme")))["half-of-the-companies"];
    expect(await half("u-1")).toBe(await half("u-2"));
  });

  test("persons have their roles", async () => {
    expect((await valuesOf("u-1"))["admin-tips"]).toBe(true);
    expect((await valuesOf("u-2"))["admin-tips"]).toBe(false);
  });

  test.each([
    ["phx_olga", 200],
    ["phx_amir", 200],
    ["phx_mei", 403],
    ["phx_gus", 200],
    ["phx_gus_read", 403],
    ["phx_website", 403],
  ])("%s edits the restricted dashboard: %i", async (key, status) => {
    const [board] = (await listed("/api/projects/1/dashboards/", "phx_olga")).filter(
      (it) => it.name === "Board numbers",
    );
    expect(board?.restriction_level).toBe(37);
    const path = `/api/projects/1/dashboards/${board?.id}/`;
    expect((await ask(path, as(key, "PATCH", { description: key }))).status).toBe(status);
  });

  test("a member who is no collaborator may read it", async () => {
    const boards = await listed("/api/projects/1/dashboards/", "phx_mei");
    expect(boards.map((it) => it.name)).toContain("Board numbers");
  });

  test("a person of two organizations sees both", async () => {
    const names = (await listed("/api/organizations/", "phx_gus")).map((it) => it.name);
    expect(names).toEqual(expect.arrayContaining(["Plank", "Agency"]));
  });
});

describe("exports", () => {
  starting("exports");

  const exportCalled = async (name: string): Promise<Answer> =>
    (await listed("/api/projects/1/batch_exports/")).find((it) => it.name === name);

  test("has a run in every status, and its logs", async () => {
    const { id } = await exportCalled("Events to S3");
    const runs = await listed(`/api/projects/1/batch_exports/${id}/runs/`);
    expect(new Set(runs.map((it) => it.status))).toEqual(new Set(runStatuses));
    const failed = runs.find((it) => it.status === "Failed");
    const { json } = await ask(`/api/projects/1/batch_exports/${id}/runs/${failed?.id}/logs/`, as(sim.personalApiKey));
    expect(JSON.stringify(json)).toContain("NoSuchBucket");
  });

  test("keeps no secret", async () => {
    const { json } = await ask("/api/projects/1/batch_exports/", as(sim.personalApiKey));
    expect(JSON.stringify(json)).not.toContain("not-a-secret");
  });

  test("has backfills, a paused export, and one for each interval", async () => {
    const { id } = await exportCalled("Persons to BigQuery");
    const backfills = await listed(`/api/projects/1/batch_exports/${id}/backfills/`);
    expect(new Set(backfills.map((it) => it.status))).toEqual(new Set(["Completed", "Running"]));
    expect((await exportCalled("Weekly report")).paused).toBe(true);
    const all = await listed("/api/projects/1/batch_exports/");
    expect(new Set(all.map((it) => it.interval))).toEqual(
      new Set(["hour", "day", "week", "every 5 minutes", "every 15 minutes"]),
    );
  });

  test("the watching key may not trigger anything", async () => {
    const { id } = await exportCalled("Weekly report");
    const path = `/api/projects/1/batch_exports/${id}/`;
    expect((await ask(path, as("phx_exports_read"))).status).toBe(200);
    expect((await ask(`${path}unpause/`, as("phx_exports_read", "POST", {}))).status).toBe(403);
  });
});

describe("flags-gallery", () => {
  starting("flags-gallery");

  test("has a flag for every operator", async () => {
    const flags = await listed("/api/projects/1/feature_flags/?limit=500");
    const text = JSON.stringify(flags.map((it) => it.filters));
    expect(operatorNames.filter((it) => !text.includes(`"operator":"${it}"`))).toEqual([]);
  });

  test("vera gets every flag but those with no-, otto none of the op- flags", async () => {
    const context = { evaluation_contexts: ["docs"], $device_id: "phone" };
    const vera = await valuesOf("vera", context);
    const wrong = Object.entries(vera).filter(([key, value]) => (value === false) !== key.startsWith("no-"));
    expect(wrong).toEqual([]);
    const otto = Object.entries(await valuesOf("otto", context)).filter(([key]) => key.startsWith("op-"));
    expect(otto.length).toBeGreaterThan(30);
    expect(otto.filter(([, value]) => value !== false)).toEqual([]);
  });

  test("the rest is as the file says", async () => {
    const vera = await valuesOf("vera");
    expect(vera).toMatchObject({
      variants: expect.stringMatching(/^(control|test)$/),
      "forced-variant": "blue",
      holdout: "holdout-7",
      "holdout-legacy": "holdout-8",
    });
    expect(Object.keys(vera)).not.toContain("no-inactive");
    expect(vera["by-device"]).toBe(false);
    const elsewhere = await valuesOf("vera", { evaluation_contexts: ["app"] });
    expect([Object.keys(vera), Object.keys(elsewhere)].map((it) => it.includes("in-context"))).toEqual([true, false]);
    const { flags, errorsWhileComputingFlags } = await flagsOf("vera");
    expect(errorsWhileComputingFlags).toBe(true);
    expect(flags["no-failed"]).toMatchObject({ enabled: false, failed: true });
    expect(flags.payload.metadata.payload).toBe('{"color":"teal","size":3}');
  });

  test("companies decide where groups are given", async () => {
    const of = (company: string) => valuesOf("otto", { groups: { company } });
    expect(await of("acme")).toMatchObject({ "no-group-without-group": true, "no-group-property": true });
    expect(await of("tiny")).toMatchObject({ "no-group-without-group": true, "no-group-property": false });
  });
});

describe("bad-day", () => {
  starting("bad-day");

  test("capture is down for three requests", async () => {
    const body = JSON.stringify({ api_key: sim.apiKey, event: "e", distinct_id: "u" });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await ask("/capture/", { method: "POST", body })).status);
    expect(statuses).toEqual([503, 503, 503, 200]);
  });

  test("some flags cannot be computed, the others still are", async () => {
    const { flags, errorsWhileComputingFlags } = await flagsOf("customer-1001");
    expect(errorsWhileComputingFlags).toBe(true);
    const broken = Object.entries<Answer>(flags).filter(([, it]) => it.failed);
    expect(broken.map(([key]) => key)).toEqual(["broken-by-cohort", "chicken", "egg"]);
    expect(flags["loyalty-prices"]).toMatchObject({ enabled: true });
    expect(Object.keys(flags)).not.toContain("hero-banner");
    expect(Object.keys(flags)).not.toContain("live-chat");
  });

  test("one project has used up its flag requests", async () => {
    expect(await flagsOf("u", {}, "phc_over_quota")).toMatchObject({ flags: {}, quotaLimited: ["feature_flags"] });
  });

  test("the export fails and is paused", async () => {
    const [failing] = await listed("/api/projects/1/batch_exports/");
    expect(failing).toMatchObject({ name: "Orders to S3", paused: true });
    expect(failing?.latest_runs.map((it: Answer) => it.status)).toEqual(["FailedBilling", "Failed", "Failed"]);
  });

  test("links to shared dashboards and keys without scopes are of no use", async () => {
    expect((await ask("/shared_dashboard/autumn-campaign")).status).toBe(404);
    expect((await ask("/api/projects/1/dashboards/", as("phx_no_scopes"))).status).toBe(403);
  });
});
