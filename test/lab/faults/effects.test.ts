import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { openSim } from "../../support/sim.ts";
import { outcome, rawly, transports } from "./transports.ts";

const scenario = {
  version: 1 as const,
  organizations: [
    {
      name: "Org",
      projects: [
        {
          id: 1,
          name: "One",
          api_key: "phc_one",
          secret_api_key: "phs_one",
          flags: { a: { rollout: 100 }, b: { rollout: 100 }, c: { rollout: 100 }, d: { rollout: 0 } },
        },
        { id: 2, name: "Two", api_key: "phc_two" },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
};

const notices: string[] = [];
const { sim } = await openSim({ scenario, onNotice: (text) => notices.push(text) });
afterEach(async () => {
  await sim.reset();
  expect(notices.splice(0).filter((text) => text.includes("bug"))).toEqual([]);
});

const post = (path: string, body: object, more: RequestInit = {}): Request =>
  new Request(sim.url + path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    ...more,
  });

const event = (more: object = {}) => ({ api_key: "phc_one", event: "seen", distinct_id: "u", ...more });
const names = async () => (await sim.events.list({ outcome: "kept" })).map((it) => it.event);
const journal = async () => (await sim.requests.list()).reverse();

describe.each(transports)("%s", (_, ask) => {
  const send = (path: string, body: object, more?: RequestInit) => outcome(ask(sim, post(path, body, more)));

  test("a status is answered in front: nothing is kept, the journal knows what came", async () => {
    await sim.faults.apply("capture-503", { times: 1 });
    const first = await send("/capture/", event());
    expect(first).toMatchObject({ status: 503, source: "fault", text: "transient error, please retry" });
    expect(await names()).toEqual([]);
    expect(await send("/capture/", event())).toMatchObject({ status: 200, source: "emulator" });
    expect(await names()).toEqual(["seen"]);
    const [failed, kept] = await journal();
    expect(failed).toMatchObject({
      status: 503,
      fault: "capture-503",
      project: 1,
      outcome: "rejected",
      rejected: { reason: "fault" },
      events: 0,
    });
    expect(kept).toMatchObject({ status: 200, fault: null, outcome: "answered", events: 1 });
    const detail = await ask(sim, new Request(`${sim.url}/__sim/requests/${failed?.n}`));
    expect(await detail.json()).toMatchObject({ body: event(), reply: "transient error, please retry" });
  });

  test("body and headers of one's own", async () => {
    await sim.faults.apply({
      effect: { status: 418, body: { short: "stout" }, headers: { "Retry-After": "7", "X-Own": "1" } },
    });
    const came = await send("/batch/", { api_key: "phc_one", batch: [] });
    expect(came).toMatchObject({ status: 418, text: '{"short":"stout"}' });
    if (!("headers" in came)) throw new Error(came.error);
    expect(came.headers.get("content-type")).toBe("application/json");
    expect(came.headers.get("retry-after")).toBe("7");
    expect(came.headers.get("x-own")).toBe("1");
  });

  test("text that only says that it is JSON does not hurt the journal", async () => {
    const headers = { "Content-Type": "application/json" };
    await sim.faults.apply({ effect: { status: 200, body: '{"no":', headers } });
    expect(await send("/capture/", event())).toMatchObject({ status: 200, text: '{"no":' });
    const [line] = await journal();
    const detail = await ask(sim, new Request(`${sim.url}/__sim/requests/${line?.n}`));
    expect(await detail.json()).toMatchObject({ reply: '{"no":', body: event() });
  });

  test("a text is a text, a status without body has none", async () => {
    await sim.faults.apply({ effect: { status: 502, body: "<h1>Bad gateway</h1>" }, times: 1 });
    await sim.faults.apply({ effect: { status: 204 }, times: 1 });
    expect(await send("/flags/", {})).toMatchObject({ status: 502, text: "<h1>Bad gateway</h1>" });
    expect(await send("/flags/", {})).toMatchObject({ status: 204, text: "" });
  });

  test("a reset before: nothing is kept", async () => {
    await sim.faults.apply("connection-reset", { times: 1 });
    expect(await send("/capture/", event())).toMatchObject({ error: "fetch failed", code: "ECONNRESET" });
    expect(await names()).toEqual([]);
    expect(await journal()).toMatchObject([
      { status: 0, fault: "connection-reset", outcome: "rejected", events: 0, project: 1 },
    ]);
  });

  test("a reset after: it is kept, and only the answer is lost", async () => {
    await sim.faults.apply({ name: "lost", effect: { socket: "reset", after: true }, times: 1 });
    const uuid = "0195a000-0000-7000-8000-000000000001";
    expect(await send("/capture/", event({ uuid }))).toMatchObject({ code: "ECONNRESET" });
    expect(await names()).toEqual(["seen"]);
    expect(await send("/capture/", event({ uuid }))).toMatchObject({ status: 200 });
    expect((await sim.events.dropped()).map((it) => it.reason)).toEqual(["duplicate_event_uuid"]);
    expect(await journal()).toMatchObject([
      { status: 0, fault: "lost", outcome: "answered", events: 1 },
      { status: 200, fault: null },
    ]);
  });

  test("a hang lasts until the client gives up, and nothing is in flight meanwhile", async () => {
    await sim.faults.apply({ name: "stuck", effect: { socket: "hang" } });
    const patience = new AbortController();
    const asked = send("/capture/", event(), { signal: patience.signal });
    await expect.poll(journal).toMatchObject([{ status: 0, fault: "stuck" }]);
    await sim.settle({ idleMs: 0 });
    patience.abort(new Error("enough"));
    expect(await asked).toMatchObject({ error: "enough" });
    expect(await names()).toEqual([]);
  });

  test("a latency goes before, and the request is handled anyway", async () => {
    await sim.faults.apply({ name: "slow", effect: { latency: 30 }, times: 1 });
    expect(await send("/capture/", event())).toMatchObject({ status: 200, source: "fault" });
    expect(await names()).toEqual(["seen"]);
    const [line] = await journal();
    expect(line).toMatchObject({ status: 200, fault: "slow", outcome: "answered" });
    expect(line?.ms).toBeGreaterThanOrEqual(29);
  });

  test("who does not wait for a slow answer gets none, but is heard", async () => {
    await sim.faults.apply("flags-slow", { match: { route: "capture" }, effect: { latency: "10m" } });
    const patience = new AbortController();
    const asked = send("/capture/", event(), { signal: patience.signal });
    await expect.poll(async () => (await sim.faults.list())[0]?.used).toBe(1);
    patience.abort(new Error("enough"));
    expect(await asked).toMatchObject({ error: "enough" });
    expect(await sim.events.waitFor("seen")).toMatchObject({ distinct_id: "u" });
  });

  test("garbage: it is kept, and the answer is not JSON though it says so", async () => {
    await sim.faults.apply("garbage-json");
    const came = await send("/capture/", event());
    expect(came).toMatchObject({ status: 200, source: "fault" });
    if (!("text" in came)) throw new Error(came.error);
    expect(came.headers.get("content-type")).toBe("application/json");
    expect(() => JSON.parse(came.text)).toThrow();
    expect(await names()).toEqual(["seen"]);
  });

  test("a truncated answer ends half way", async () => {
    await sim.faults.apply({ name: "half", effect: { body: "truncate" } });
    const response = await ask(sim, post("/flags/?v=2", { token: "phc_one", distinct_id: "u" }));
    expect([response.status, response.headers.get("x-phx-source")]).toEqual([200, "fault"]);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(await journal()).toMatchObject([{ status: 200, fault: "half", outcome: "answered" }]);
  });

  test("an answer without a body cannot be cut: the connection is", async () => {
    await sim.faults.apply({ effect: { body: "truncate" } });
    expect(await send("/capture/?beacon=1", event())).toMatchObject({ code: "ECONNRESET" });
  });

  test("flags: every second one fails, the others are what they are", async () => {
    await sim.faults.apply("flags-partial");
    const came = await send("/flags/?v=2", { token: "phc_one", distinct_id: "u" });
    const { flags, errorsWhileComputingFlags } = JSON.parse("text" in came ? came.text : "{}");
    expect(errorsWhileComputingFlags).toBe(true);
    const reported = Object.values(flags).map((it) => {
      const { key, enabled, failed, reason } = it as Record<string, unknown> & { reason: { code: string } };
      return [key, enabled, failed ?? false, reason.code];
    });
    expect(reported.sort()).toEqual([
      ["a", false, true, "database_error"],
      ["b", true, false, "condition_match"],
      ["c", false, true, "database_error"],
      ["d", false, false, "out_of_rollout_bound"],
    ]);
  });

  test("flags: those that are named fail, in every shape", async () => {
    await sim.faults.apply({ effect: { flags: ["b", "unheard-of"] } });
    const answer = async (path: string) => {
      const came = await send(path, { api_key: "phc_one", distinct_id: "u" });
      return JSON.parse("text" in came ? came.text : "{}");
    };
    const values = { featureFlags: { a: true, b: false, c: true, d: false }, errorsWhileComputingFlags: true };
    expect(await answer("/decide/?v=3")).toMatchObject(values);
    expect(await answer("/flags/?v=1")).toMatchObject(values);
    expect(await answer("/flags/?v=2")).toMatchObject({ flags: { a: { enabled: true }, b: { failed: true } } });
  });
});

describe("over a socket, byte by byte", () => {
  const head = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  test("a reset is a reset, not an end", async () => {
    await sim.faults.apply("connection-reset");
    const came = await rawly(sim.url, head("/capture/", JSON.stringify(event())));
    expect(came).toEqual({ text: "", code: "ECONNRESET" });
  });

  test("a truncated answer promises more than it brings", async () => {
    await sim.faults.apply({ effect: { body: "truncate" } });
    const { text } = await rawly(sim.url, head("/capture/", JSON.stringify(event())));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/content-length: 15\r\n/i);
    expect(text.split("\r\n\r\n")[1]).toBe('{"statu');
  });

  test("requests behind a hung one on its connection wait with it; other connections do not", async () => {
    await sim.faults.apply({ effect: { socket: "hang" }, times: 1 });
    const body = JSON.stringify(event());
    const stuck = rawly(sim.url, head("/capture/", body) + head("/capture/", body));
    await sim.events.waitFor("seen");
    expect((await fetch(post("/capture/", event({ event: "other" })))).status).toBe(200);
    expect(await names()).toEqual(["seen", "other"]);
    expect(stuck).toBeInstanceOf(Promise);
  });
});

describe("whose request it is", () => {
  const rows: [what: string, request: () => Request, project: number | null][] = [
    ["body", () => post("/capture/", event({ api_key: "phc_two" })), 2],
    ["item", () => post("/capture/", { event: "a", distinct_id: "u", properties: { token: "phc_two" } }), 2],
    ["list", () => post("/capture/", [{ event: "a", distinct_id: "u", token: "phc_two" }]), 2],
    ["flags' token", () => post("/flags/", { token: "phc_two", distinct_id: "u" }), 2],
    ["query", () => new Request(`${sim.url}/array/phc_one/config?token=phc_two`), 2],
    ["path's key", () => new Request(`${sim.url}/array/phc_two/config`), 2],
    ["v1's bearer", () => post("/i/v1/analytics/events", {}, { headers: { authorization: "Bearer phc_two" } }), 2],
    [
      "secret key",
      () => new Request(`${sim.url}/flags/definitions`, { headers: { authorization: "Bearer phs_one" } }),
      1,
    ],
    ["path's number", () => new Request(`${sim.url}/api/projects/2/dashboards/`), 2],
    ["unknown number", () => new Request(`${sim.url}/api/projects/99/dashboards/`), null],
    ["unknown key", () => post("/capture/", event({ api_key: "phc_nobody" })), null],
    ["no JSON", () => new Request(`${sim.url}/capture/`, { method: "POST", body: "{nonsense" }), null],
    ["nothing", () => new Request(`${sim.url}/api/organizations/`), null],
  ];
  test.each(rows)("by its %s", async (_, request, project) => {
    await sim.faults.apply({ effect: { status: 500 }, match: { project: 1 }, name: "one" });
    await sim.faults.apply({ effect: { status: 502 }, match: { project: 2 }, name: "two" });
    const { status } = await sim.handle(request());
    expect(status === 500 ? 1 : status === 502 ? 2 : null).toBe(project);
  });
});

describe("what the service says with a status", () => {
  const rows: [status: number, path: string, body: string | object, retryAfter?: string][] = [
    [503, "/capture/", "transient error, please retry"],
    [429, "/batch/", "rate limited"],
    [404, "/capture/", "Not Found"],
    [200, "/capture/", { status: "Ok" }],
    [429, "/i/v1/analytics/events", { error: "rate_limited" }, "1"],
    [504, "/i/v1/analytics/events", { error: "gateway_timeout" }],
    [
      429,
      "/flags/",
      { type: "validation_error", code: "rate_limit_exceeded", detail: "Rate limit exceeded", attr: null },
    ],
    [
      429,
      "/api/projects/1/dashboards/",
      {
        type: "throttled_error",
        code: "throttled",
        detail: "Request was throttled. Expected available in 1 second.",
        attr: null,
      },
      "1",
    ],
    [
      500,
      "/api/organizations/",
      { type: "server_error", code: "error", detail: "A server error occurred.", attr: null },
    ],
    [409, "/api/organizations/", { type: "invalid_request", code: "error", detail: "Conflict." }],
    [503, "/not/there", { type: "server_error" }],
  ];
  test.each(rows)("%i on %s", async (status, path, body, retryAfter) => {
    await sim.faults.apply({ effect: { status } });
    const came = await sim.handle(post(path, {}));
    const text = await came.text();
    expect([came.status, came.headers.get("retry-after")]).toEqual([status, retryAfter ?? null]);
    if (typeof body === "string") expect(text).toBe(body);
    else expect(JSON.parse(text)).toMatchObject(body);
  });
});

describe("quota-exhausted", () => {
  beforeAll(() => sim.reset());
  const recording = {
    api_key: "phc_one",
    event: "$snapshot",
    distinct_id: "u",
    properties: { $session_id: "s1", $snapshot_data: [] },
  };
  const rows: [path: string, body: object, status: number, answer: object, dropped: number][] = [
    ["/capture/", event(), 200, { status: "Ok" }, 1],
    ["/batch/", { api_key: "phc_one", batch: [event(), event()] }, 200, { status: "Ok" }, 2],
    ["/s/", recording, 200, { status: "Ok", quota_limited: ["recordings"] }, 1],
    [
      "/flags/?v=2",
      { token: "phc_one", distinct_id: "u" },
      200,
      { flags: {}, errorsWhileComputingFlags: false, quotaLimited: ["feature_flags"] },
      0,
    ],
  ];
  test.each(rows)("POST %s", async (path, body, status, answer, dropped) => {
    await sim.faults.apply("quota-exhausted");
    const came = await sim.handle(post(path, body));
    expect(came.status).toBe(status);
    expect(await came.json()).toMatchObject(answer);
    expect(await sim.events.list({ outcome: "kept" })).toEqual([]);
    const reasons = (await sim.events.dropped()).map((it) => it.reason);
    expect(reasons).toEqual(Array(dropped).fill("over_quota"));
    expect(await sim.persons.list()).toEqual([]);
    expect(await journal()).toMatchObject([{ fault: "quota-exhausted", outcome: "answered" }]);
  });

  test("capture v1 is refused, with the time to come back", async () => {
    await sim.faults.apply("quota-exhausted");
    const uuid = "0195a000-0000-7000-8000-000000000002";
    const came = await sim.handle(
      post(
        "/i/v1/analytics/events",
        {
          created_at: "2025-01-01T00:00:00Z",
          batch: [{ uuid, event: "a", distinct_id: "u", timestamp: "2025-01-01T00:00:00Z", properties: {} }],
        },
        {
          headers: {
            authorization: "Bearer phc_one",
            "content-type": "application/json",
            "posthog-sdk-info": "test/1.0.0",
            "user-agent": "test/1.0.0",
            "posthog-attempt": "1",
            "posthog-request-id": uuid,
            "posthog-request-timestamp": "2025-01-01T00:00:00Z",
          },
        },
      ),
    );
    expect(await came.json()).toMatchObject({ error: "billing_limit_exceeded" });
    expect([came.status, came.headers.get("retry-after")]).toEqual([429, "1"]);
  });

  test("answers /flags/definitions with 402", async () => {
    await sim.faults.apply("quota-exhausted");
    const came = await sim.handle(
      new Request(`${sim.url}/flags/definitions`, { headers: { authorization: "Bearer phs_one" } }),
    );
    expect(came.status).toBe(402);
    expect(await came.json()).toMatchObject({ type: "quota_limited", code: "payment_required" });
  });
});

describe("what no fault touches", () => {
  test("the control API answers during a fault", async () => {
    await sim.faults.apply("connection-reset");
    expect((await fetch(`${sim.url}/__sim/info`)).status).toBe(200);
    expect((await fetch(`${sim.url}/__sim/nothing`)).status).toBe(404);
    expect((await fetch(`${sim.url}/__sim/health`)).headers.get("x-phx-source")).toBe("emulator");
  });

  test("preflights, unless a rule names them", async () => {
    const preflight = () =>
      sim.handle(
        new Request(`${sim.url}/capture/`, {
          method: "OPTIONS",
          headers: { origin: "http://app.test", "access-control-request-method": "POST" },
        }),
      );
    await sim.faults.apply("capture-503");
    expect((await preflight()).status).toBe(200);
    await sim.faults.apply({ effect: { status: 500 }, match: { method: "OPTIONS" } });
    expect((await preflight()).status).toBe(500);
  });

  test("pages of other origins may read a fault's answer", async () => {
    await sim.faults.apply("capture-503");
    const came = await sim.handle(post("/e/", event(), { headers: { origin: "http://app.test" } }));
    expect([came.status, came.headers.get("access-control-allow-origin")]).toEqual([503, "http://app.test"]);
  });
});

describe("the end of the sim", () => {
  test.each(transports)("hung and slow requests do not hold it, %s", async (_, ask) => {
    const mine = await startSim({ scenario });
    const send = (path: string, token: string) =>
      outcome(
        ask(mine, new Request(mine.url + path, { method: "POST", body: JSON.stringify(event({ api_key: token })) })),
      );
    await mine.faults.apply({ effect: { socket: "hang" }, match: { route: "/capture" } });
    await mine.faults.apply({ effect: { latency: "10m" }, match: { route: "/e" } });
    const stuck = send("/capture/", "phc_one");
    const slow = send("/e/", "phc_two");
    await expect.poll(async () => (await mine.faults.list()).map(({ used }) => used)).toEqual([1, 1]);
    await mine.close();
    expect(await stuck).toMatchObject({ error: expect.any(String) });
    expect(await slow).toMatchObject({ status: 200 });
  });
});
