import { PostHog } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { captureWith, control } from "../../support/control.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim({
    scenario: {
      version: 1,
      organizations: [
        {
          name: "Org",
          projects: [
            {
              id: 7,
              name: "App",
              api_key: "phc_lint",
              flags: { beta: { rollout: 100 }, off: { rollout: 0 }, halves: { variants: { control: 50, test: 50 } } },
            },
          ],
        },
      ],
      personal_api_keys: [{ key: "phx_lint", scopes: ["*"] }],
    },
  });
});
afterEach(() => sim.close());

const capture = captureWith(() => sim);
const named = (event: string, properties: object = {}, more: object = {}) => ({
  event,
  distinct_id: "u1",
  properties,
  ...more,
});
const flip = () => capture([named("a", { x: 1 }), named("a", { x: "1" })]);
const codes = async (query?: Parameters<Sim["lint"]>[0]) => (await sim.lint(query)).findings.map(({ code }) => code);

const flags = (body: object) =>
  sim.handle(
    new Request(`${sim.url}/flags/?v=2`, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...body }) }),
  );

const exposures = (count: number, variant: string) =>
  capture(
    Array.from({ length: count }, (_, i) => ({
      ...named("$feature_flag_called", { $feature_flag: "halves", $feature_flag_response: variant }),
      distinct_id: `${variant}-${i}`,
    })),
  );

describe("the shares of an experiment", () => {
  test("are those of the flag", async () => {
    await exposures(140, "control");
    await exposures(60, "test");
    expect((await sim.lint()).findings).toMatchObject([
      {
        code: "sample_ratio_mismatch",
        severity: "warning",
        detail: expect.stringMatching(/control 140 \(expected 100\)/),
      },
    ]);
  });

  test("are not checked while the flag is overridden", async () => {
    await sim.flags.set("halves", "control");
    await exposures(200, "control");
    expect(await codes()).toEqual([]);
  });
});

describe("GET /__sim/lint", () => {
  test("reports what was found, where and how often", async () => {
    await flip();
    expect(await sim.lint()).toEqual({
      findings: [
        {
          code: "property_type_flip",
          severity: "warning",
          sentence: "a property has different types in events of one name",
          fix: expect.any(String),
          project: 7,
          event: "a",
          detail: "properties.x was number first, then text that reads as a number",
          first_seq: 2,
          last_seq: 2,
          count: 1,
          n: 1,
        },
      ],
      looked: 2,
      skipped: 0,
      behind: 0,
      cursor: 2,
    });
  });

  test("continues from where it was", async () => {
    await capture(named("a", { x: 1 }));
    expect(await codes()).toEqual([]);
    await capture(named("a", { x: "1" }));
    const page = await sim.lint();
    expect(page).toMatchObject({ looked: 2, cursor: 2, findings: [{ first_seq: 2 }] });
    expect(await sim.lint()).toEqual(page);
  });

  test("nothing yet", async () => {
    expect(await sim.lint()).toEqual({ findings: [], looked: 0, skipped: 0, behind: 0, cursor: 0 });
  });

  test.each([
    ["project=x", "?project"],
    ["project=-1", "?project"],
    ["max_ms=0", "?max_ms"],
    ["max_ms=1e9", "?max_ms"],
  ])("refuses %s", async (query, pointer) => {
    const { status, answer } = await control(sim, "GET", `lint?${query}`);
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
  });

  test("a project's handle reports its own", async () => {
    await flip();
    await using project = await sim.project();
    await capture([named("b", { x: 1 }), named("b", { x: "1" })], { key: project.apiKey });
    expect((await project.lint()).findings.map(({ event }) => event)).toEqual(["b"]);
    expect((await sim.lint({ project: 7 })).findings.map(({ event }) => event)).toEqual(["a"]);
    expect(await codes()).toHaveLength(2);
  });

  test("stops after the time it has, and goes on with the next call", async () => {
    for (let i = 0; i < 60; i++)
      await capture(Array.from({ length: 100 }, (_, j) => named(`e${i}`, { text: `${j}`.repeat(200) })));
    const first = await sim.lint({ maxMs: 1 });
    expect(first.looked + first.behind).toBe(6_000);
    expect(first.behind).toBeGreaterThan(0);
    expect(await sim.lint()).toMatchObject({ looked: 6_000, behind: 0, cursor: 6_000 });
  });

  test("several calls at once look at each event once", async () => {
    await flip();
    const pages = await Promise.all([sim.lint(), sim.lint({ maxMs: 1 }), sim.lint()]);
    for (const { looked, findings } of pages) expect([looked, findings[0]?.count]).toEqual([2, 1]);
  });

  test("looks at the newest only when too much is new", async () => {
    const many = Array.from({ length: 5_000 }, () => named("a"));
    await flip();
    for (let i = 0; i < 20; i++) await capture(many);
    await flip();
    const { findings, ...progress } = await sim.lint();
    // a request is looked at whole: of the first one that is, two events come before the last 100,000
    expect(progress).toEqual({ looked: 100_002, skipped: 2, behind: 0, cursor: 100_004 });
    expect(findings).toMatchObject([{ first_seq: 100_004 }]);
  });
});

describe("what is forgotten", () => {
  const ways: [string, () => Promise<unknown>][] = [
    ["events.clear()", () => sim.events.clear()],
    ["reset()", () => sim.reset()],
    ["reset of the events", () => sim.reset({ what: ["events"] })],
    ["reset of the project", () => control(sim, "POST", "reset", { project: 7 })],
    ["a clear of the project", () => control(sim, "DELETE", "events?project=7")],
  ];
  test.each(ways)("%s", async (_, forget) => {
    await flip();
    expect(await codes()).toHaveLength(1);
    await forget();
    expect(await codes()).toEqual([]);
    await capture(named("a", { x: "1" }));
    expect(await codes()).toEqual([]);
  });

  test.each(ways)("%s before anyone asked", async (_, forget) => {
    await sim.lint();
    await flip();
    await forget();
    await capture(named("a", { x: "1" }));
    expect(await codes()).toEqual([]);
  });

  test("another project's stays", async () => {
    await using project = await sim.project();
    await flip();
    await sim.lint();
    await control(sim, "DELETE", `events?project=${project.id}`);
    expect(await codes()).toHaveLength(1);
  });

  test("a snapshot brings back what there was, and no more", async () => {
    await flip();
    await sim.snapshot("before");
    await capture(named("mail", { to: "ann@example.com" }));
    expect(await codes()).toEqual(["property_type_flip", "pii_property"]);
    await sim.restore("before");
    expect(await codes()).toEqual(["property_type_flip"]);
  });
});

/** Requests in, codes out: what the rules see of each way in. */
describe("over the wire", () => {
  const hour = 3_600_000;
  const ago = (hours: number) => new Date(Date.now() - hours * hour).toISOString();
  const uuid = "0195a000-0000-7000-8000-000000000001";
  const rows: [string, () => Promise<unknown>, string[]][] = [
    ["timestamps", () => capture(named("a", {}, { timestamp: "1780315200" })), ["timestamp_not_iso", "timestamp_skew"]],
    ["old ones", () => capture(named("a", {}, { timestamp: ago(30) })), ["timestamp_skew"]],
    [
      "old ones in bulk",
      () => capture(Array.from({ length: 12 }, () => named("a", {}, { timestamp: ago(99) }))),
      ["historical_migration_missing"],
    ],
    [
      "a migration",
      () =>
        sim.handle(
          new Request(`${sim.url}/batch/`, {
            method: "POST",
            body: JSON.stringify({
              api_key: sim.apiKey,
              historical_migration: true,
              batch: [named("a", {}, { timestamp: ago(999) })],
            }),
          }),
        ),
      [],
    ],
    [
      "uuids",
      async () => [await capture(named("a", {}, { uuid })), await capture(named("b", {}, { uuid }))],
      ["duplicate_uuid"],
    ],
    [
      "retries",
      async () => [await capture(named("a", {}, { uuid })), await capture(named("a", {}, { uuid }))],
      ["retried_event"],
    ],
    ["groups", () => capture(named("a", { $groups: { company: "acme" } })), ["group_without_identify"]],
    [
      "groups that were described",
      () =>
        capture([
          named("$groupidentify", { $group_type: "company", $group_key: "acme" }),
          named("a", { $groups: { company: "acme" } }),
        ]),
      [],
    ],
    [
      "flags",
      async () => [
        await flags({ distinct_id: "u1" }),
        await capture(named("a", { "$feature/beta": false }, { timestamp: ago(-0.1) })),
      ],
      ["feature_flag_mismatch"],
    ],
    [
      "flags of the old endpoint",
      async () => [
        await sim.handle(
          new Request(`${sim.url}/decide/?v=3`, {
            method: "POST",
            body: JSON.stringify({ api_key: sim.apiKey, distinct_id: "u1" }),
          }),
        ),
        await capture(named("a", { "$feature/beta": "x" }, { timestamp: ago(-0.1) })),
      ],
      ["feature_flag_mismatch"],
    ],
    ["a large body", () => capture(named("a", { text: "x".repeat(17 * 1024 * 1024) })), ["large_body"]],
    ["no one's events", () => capture(named("a", { x: "ann@example.com" }), { key: "phc_unknown" }), []],
    ["what is no object", () => capture([named("a"), 7, null] as object[]), []],
    [
      "names that objects have",
      () =>
        capture([
          named("__proto__", JSON.parse('{"__proto__": {"x": 1}, "constructor": "ann@example.com"}')),
          named("constructor", JSON.parse('{"__proto__": 5, "$groups": {"__proto__": "x"}}')),
        ]),
      ["pii_property", "group_without_identify"],
    ],
  ];
  test.each(rows)("%s", async (_, send, expected) => {
    await send();
    expect((await codes()).sort()).toEqual([...expected].sort());
  });

  test("a clock that was set is not the senders' fault", async () => {
    await sim.clock.set("2030-01-01T00:00:00Z");
    await capture(named("a", {}, { timestamp: ago(0) }));
    expect(await codes()).toEqual([]);
  });
});

describe("a clean session of posthog-node", () => {
  const connect = (options = {}) => new PostHog(sim.apiKey, { host: sim.url, flushInterval: 60_000, ...options });

  test("has no findings", async () => {
    const client = connect();
    client.identify({ distinctId: "u1", properties: { email: "ann@example.com", plan: "pro" } });
    client.alias({ distinctId: "u1", alias: "anon-1" });
    client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { name: "Acme" } });
    client.capture({ distinctId: "u1", event: "signed up", properties: { plan: "pro", amount: 10 } });
    client.capture({ distinctId: "u1", event: "paid", groups: { company: "acme" }, properties: { amount: 1.5 } });
    expect(await client.isFeatureEnabled("beta", "u1")).toBe(true);
    expect(await client.getFeatureFlag("off", "u1")).toBe(false);
    const given = await client.evaluateFlags("u2", { flagKeys: ["beta", "off"] });
    client.capture({ distinctId: "u2", event: "signed up", properties: { plan: "free" }, flags: given });
    expect(given.isEnabled("beta")).toBe(true);
    client.captureException(new Error("broken"), "u1");
    await client.flush();
    await client.shutdown();
    const page = await sim.lint();
    expect(page.looked).toBeGreaterThan(6);
    expect(page.findings).toEqual([]);
  });

  test("that reports no flag calls has a hint", async () => {
    const client = connect();
    await client.getFeatureFlag("beta", "u1", { sendFeatureFlagEvents: false });
    client.capture({ distinctId: "u1", event: "paid" });
    await client.shutdown();
    expect(await codes()).toEqual(["feature_flag_called_missing"]);
  });
});

test("an experiment of the scenario: what is paid before the exposure is not counted", async () => {
  await using own = await startSim({
    scenario: {
      flags: { price: { variants: { control: 50, test: 50 } } },
      experiments: [
        {
          name: "Price",
          feature_flag_key: "price",
          start_date: "2026-01-01T00:00:00Z",
          metrics: [{ kind: "ExperimentMetric", metric_type: "mean", source: { kind: "EventsNode", event: "paid" } }],
        },
      ],
    },
  });
  const send = captureWith(() => own);
  const exposed = named("$feature_flag_called", { $feature_flag: "price", $feature_flag_response: "test" });
  await send([named("paid"), exposed, named("paid")]);
  expect((await own.lint()).findings.map(({ code, event, count }) => [code, event, count])).toEqual([
    ["metric_before_exposure", "paid", 1],
  ]);
});
