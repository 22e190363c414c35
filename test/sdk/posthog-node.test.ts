import { PostHog, type PostHogOptions } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { openFront } from "./front.ts";

const scenario: SimOptions["scenario"] = {
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
          flags: {
            "beta-feature": { rollout: 100, payloads: { true: { color: "blue" } } },
            "off-for-everyone": { rollout: 0 },
            "pro-only": { person: { plan: "pro" } },
            "three-ways": { variants: { control: 0, test: 100 }, payloads: { test: { cta: "Buy" } } },
            settings: {
              is_remote_configuration: true,
              filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '{"limit":5}' } },
            },
          },
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_node", scopes: ["*"] }],
};

let sim: Sim;
const clients: PostHog[] = [];
const errors: unknown[] = [];

beforeEach(async () => {
  sim = await startSim({ scenario });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(clients.splice(0).map((client) => client.shutdown()));
  await sim.close();
  expect(errors.splice(0)).toEqual([]);
});

/** A client of the sim; every error it reports fails the test. */
function connect(options: PostHogOptions = {}): PostHog {
  const client = new PostHog(sim.apiKey, { host: sim.url, flushInterval: 60_000, ...options });
  client.on("error", (error: unknown) => errors.push(error));
  clients.push(client);
  return client;
}

/** The journal's lines whose path starts so, oldest first. */
async function requestsTo(path: string) {
  const requests = await sim.requests.list({ limit: 1_000 });
  return requests.filter((it) => String(it.target).startsWith(path)).reverse();
}

async function detailOf(n: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${sim.url}/__sim/requests/${n}`);
  return (await response.json()) as Record<string, unknown>;
}

const names = async () => (await sim.events.list({ outcome: "kept" })).map((it) => it.event);

/** Version 5 sends capture v1 on demand; version 6 sends nothing else. */
const modes = [
  { mode: "legacy", path: "/batch/" },
  { mode: "v1", path: "/i/v1/analytics/events" },
];

describe.each(modes)("events, $mode", ({ mode, path }) => {
  beforeEach(() => void (mode === "v1" && vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1")));

  test("a full batch is sent as one gzipped request", async () => {
    const client = connect({ flushAt: 3 });
    for (const n of [1, 2, 3]) client.capture({ distinctId: "u1", event: `e${n}`, properties: { n } });
    const last = await sim.events.waitFor("e3");
    expect(await names()).toEqual(["e1", "e2", "e3"]);
    expect(last).toMatchObject({ distinct_id: "u1", project: 7, properties: { n: 3, $lib: "posthog-node" } });
    const requests = await requestsTo(path);
    expect(requests).toMatchObject([{ status: 200, events: 3, dropped: 0 }]);
    expect(await detailOf(requests[0]?.n)).toMatchObject({ decode_steps: ["gzip"] });
  });

  test("without compression", async () => {
    const client = connect({ disableCompression: true });
    client.capture({ distinctId: "u1", event: "plain" });
    await client.flush();
    expect(await names()).toEqual(["plain"]);
    const [request] = await requestsTo(path);
    expect(await detailOf(request?.n)).toMatchObject({ decode_steps: [] });
  });

  test("an event from the past keeps its time, corrected by the time under way", async () => {
    const at = Date.parse("2024-01-02T03:04:05.678Z");
    await connect().captureImmediate({ distinctId: "u1", event: "old", timestamp: new Date(at) });
    const [event] = await sim.events.list();
    const correction = Date.parse(event?.timestamp ?? "") - at;
    expect(correction).toBeGreaterThanOrEqual(0);
    expect(correction).toBeLessThan(60_000);
  });

  test("shutdown sends what is waiting", async () => {
    const client = connect({ flushAt: 100 });
    for (let n = 0; n < 25; n++) client.capture({ distinctId: `u${n}`, event: "waiting" });
    expect(await sim.events.list()).toEqual([]);
    await client.shutdown();
    expect(await sim.events.list({ event: "waiting" })).toHaveLength(25);
  });

  test("captureImmediate is visible when it returns", async () => {
    await connect().captureImmediate({ distinctId: "u1", event: "now" });
    expect(await names()).toEqual(["now"]);
  });

  test("identify makes a person with properties", async () => {
    const client = connect();
    client.identify({ distinctId: "u1", properties: { $set: { plan: "pro" }, $set_once: { first: 1 } } });
    await client.flush();
    expect(await sim.persons.list({ distinct_id: "u1" })).toMatchObject([{ properties: { plan: "pro", first: 1 } }]);
  });

  test("an alias leads to the same person", async () => {
    const client = connect();
    client.capture({ distinctId: "u1", event: "seen" });
    client.alias({ distinctId: "u1", alias: "u1-old" });
    await client.flush();
    const [mine] = await sim.persons.list({ distinct_id: "u1" });
    const [aliased] = await sim.persons.list({ distinct_id: "u1-old" });
    expect(mine).toBeDefined();
    expect(aliased).toEqual(mine);
  });

  test("groups have properties, and events know their group", async () => {
    const client = connect();
    client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { tier: "gold" } });
    client.capture({ distinctId: "u1", event: "in a group", groups: { company: "acme" } });
    await client.flush();
    expect(await sim.groups.list()).toMatchObject([{ key: "acme", properties: { tier: "gold" } }]);
    const [event] = await sim.events.list({ event: "in a group" });
    expect(event?.properties).toMatchObject({ $groups: { company: "acme" }, $group_0: "acme" });
  });

  test("captureException sends the error with its stack", async () => {
    const client = connect();
    client.captureException(new TypeError("it broke"), "u1", { where: "checkout" });
    const event = await waitAfterFlush(client, "$exception");
    expect(event).toMatchObject({
      distinct_id: "u1",
      properties: { where: "checkout", $exception_list: [{ type: "TypeError", value: "it broke" }] },
    });
  });
});

/** captureException prepares its event in the background: it is in the queue only when that is done. */
async function waitAfterFlush(client: PostHog, event: string) {
  const waiting = sim.events.waitFor(event);
  await client.shutdown();
  return waiting;
}

describe.each(modes)("when a request fails, $mode", ({ mode, path }) => {
  beforeEach(() => void (mode === "v1" && vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1")));

  test("it is sent again until it is taken, once", async () => {
    await using front = await openFront(sim.url, ["refused", "refused"]);
    const client = connect({ host: front.url, fetchRetryDelay: 1 });
    client.capture({ distinctId: "u1", event: "stubborn" });
    await client.flush();
    expect(front.asked).toEqual([`POST ${path} (refused)`, `POST ${path} (refused)`, `POST ${path}`]);
    expect(await sim.events.list()).toMatchObject([{ event: "stubborn", outcome: "kept" }]);
  });

  test("an answer that was lost does not count the event twice", async () => {
    await using front = await openFront(sim.url, ["lost answer"]);
    const client = connect({ host: front.url, fetchRetryDelay: 1 });
    client.capture({ distinctId: "u1", event: "once" });
    await client.flush();
    expect(front.asked).toEqual([`POST ${path} (lost answer)`, `POST ${path}`]);
    expect(await sim.events.list()).toMatchObject([
      { event: "once", outcome: "kept" },
      { event: "once", outcome: "dropped", reason: "duplicate_event_uuid" },
    ]);
  });
});

describe("capture v1", () => {
  beforeEach(() => void vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1"));

  test("every event is answered by its uuid", async () => {
    const client = connect();
    client.capture({ distinctId: "u1", event: "first", properties: { $process_person_profile: false } });
    client.capture({ distinctId: "u1", event: "second" });
    await client.flush();
    expect(await names()).toEqual(["first", "second"]);
    const requests = await requestsTo("/i/v1/analytics/events");
    expect(requests).toMatchObject([{ status: 200, events: 2 }]);
    const { reply } = (await detailOf(requests[0]?.n)) as { reply: { results: object } };
    expect(Object.values(reply.results)).toEqual([{ result: "ok" }, { result: "ok" }]);
  });

  test("events of LLM analytics have paths of their own, which version 5 does not change", async () => {
    const client = connect();
    client.capture({ distinctId: "u1", event: "$ai_generation", properties: { $ai_trace_id: "t" } });
    client.captureAi({ distinctId: "u1", event: "$ai_span", properties: { $ai_trace_id: "t" } });
    client.capture({ distinctId: "u1", event: "bought" });
    await client.flush();
    for (const path of ["/batch/", "/i/v0/ai/batch/", "/i/v1/analytics/events"])
      expect(await requestsTo(path)).toMatchObject([{ status: 200, events: 1, dropped: 0 }]);
    expect((await names()).sort()).toEqual(["$ai_generation", "$ai_span", "bought"]);
  });

  test.each([
    ["events-dropped", "billing_limit_exceeded"],
    ["events-invalid", "invalid_event"],
  ] as const)("%s: the SDK's error has the reason of each event", async (preset, details) => {
    await sim.faults.apply(preset, { times: 1 });
    const client = connect();
    client.capture({ distinctId: "u1", event: "bought" });
    await client.flush();
    const [{ uuid } = {}] = await sim.events.list({ outcome: "dropped" });
    expect(errors.splice(0)).toMatchObject([{ name: "CaptureV1Error", drops: [{ uuid, details }] }]);
  });

  test("events-retried: the SDK sends them again, and they are kept once", async () => {
    await sim.faults.apply("events-retried", { times: 1 });
    const client = connect();
    client.capture({ distinctId: "u1", event: "bought" });
    await client.flush();
    expect(await sim.events.list()).toMatchObject([
      { outcome: "dropped", detail: "retry: not_persisted" },
      { outcome: "kept" },
    ]);
  });
});

describe("flags, asked of the sim", () => {
  test("values, payloads and the reason why", async () => {
    const client = connect();
    expect(await client.getAllFlagsAndPayloads("u1")).toEqual({
      featureFlags: expect.objectContaining({
        "beta-feature": true,
        "off-for-everyone": false,
        "pro-only": false,
        "three-ways": "test",
      }),
      featureFlagPayloads: expect.objectContaining({ "beta-feature": { color: "blue" }, "three-ways": { cta: "Buy" } }),
    });
    const [request] = await requestsTo("/flags");
    expect(request).toMatchObject({ method: "POST", target: "/flags/?v=2", status: 200, project: 7 });
  });

  test("person properties of the request and of the stored person", async () => {
    const client = connect();
    const flagOf = async (distinctId: string, personProperties?: Record<string, string>) =>
      (await client.evaluateFlags(distinctId, personProperties ? { personProperties } : {})).isEnabled("pro-only");
    expect(await flagOf("u1")).toBe(false);
    expect(await flagOf("u1", { plan: "pro" })).toBe(true);
    await client.identifyImmediate({ distinctId: "u1", properties: { plan: "pro" } });
    expect(await flagOf("u1")).toBe(true);
  });

  test("each check is reported as an event, with the flag's id, version and reason", async () => {
    const client = connect();
    const flags = await client.evaluateFlags("u1");
    expect(flags.getFlag("three-ways")).toBe("test");
    await client.flush();
    const event = await sim.events.waitFor("$feature_flag_called");
    expect(event.properties).toMatchObject({
      $feature_flag: "three-ways",
      $feature_flag_response: "test",
      $feature_flag_id: expect.any(Number),
      $feature_flag_version: 1,
      $feature_flag_reason: expect.any(String),
      $feature_flag_request_id: expect.any(String),
    });
  });
});

describe("flags, evaluated locally", () => {
  const local = { personalApiKey: "phx_node", featureFlagsPollingInterval: 60_000 };

  test("from the definitions, without asking again", async () => {
    const client = connect(local);
    expect(await client.waitForLocalEvaluationReady()).toBe(true);
    const flags = await client.getAllFlags("u1", { onlyEvaluateLocally: true });
    expect(flags).toMatchObject({ "beta-feature": true, "off-for-everyone": false, "three-ways": "test" });
    expect(await requestsTo("/flags/?v=2")).toEqual([]);
    expect(await requestsTo("/flags/definitions")).toMatchObject([{ status: 200, project: 7 }]);
  });

  test("unchanged definitions are not sent again", async () => {
    const client = connect(local);
    await client.waitForLocalEvaluationReady();
    // The first reload may join the load that is just ending; the second asks in any case.
    await client.reloadFeatureFlags();
    await client.reloadFeatureFlags();
    const [first, ...later] = (await requestsTo("/flags/definitions")).map((it) => it.status);
    expect(first).toBe(200);
    expect(new Set(later)).toEqual(new Set([304]));
    expect(await client.getAllFlags("u1", { onlyEvaluateLocally: true })).toMatchObject({ "beta-feature": true });
  });

  test("a remote config payload", async () => {
    expect(await connect(local).getRemoteConfigPayload("settings")).toEqual({ limit: 5 });
  });
});

describe("what else it sends", () => {
  test("logs and metrics", async () => {
    const client = connect();
    client.captureLog({ body: "a line", level: "info" });
    client.metrics.count("orders", 2);
    await client.shutdown();
    expect(await requestsTo("/i/v1/logs")).toMatchObject([{ status: 200, project: 7 }]);
    expect(await requestsTo("/i/v1/metrics")).toMatchObject([{ status: 200, project: 7 }]);
  });

  test("emails are accepted, and stay queued", async () => {
    const client = connect({ secretKey: "phs_node", appHost: sim.url });
    const sent = await client.emails.send({
      to: "a@example.com",
      templateId: "0195a000-0000-7000-8000-000000000002",
      distinctId: "u1",
    });
    expect(sent).toMatchObject({ error: null, data: { replayed: false } });
    expect(await client.emails.get(sent.data?.id ?? "")).toMatchObject({ data: { status: "queued" } });
  });
});
