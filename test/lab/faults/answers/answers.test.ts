import { afterEach, describe, expect, test } from "vitest";
import type { AnswerPlace, ScriptedAnswer } from "../../../../src/index.ts";
import { openSim } from "../../../support/sim.ts";

const scenario = {
  version: 1 as const,
  organizations: [
    {
      name: "Org",
      projects: [
        { id: 7, name: "One", api_key: "phc_one", secret_api_key: "phs_one" },
        { id: 8, name: "Two", api_key: "phc_two" },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
};

const { sim } = await openSim({ scenario });
afterEach(() => sim.reset());

const uuids = ["0199c0de-0000-7000-8000-000000000001", "0199c0de-0000-7000-8000-000000000002"];

interface Sent {
  path?: string;
  method?: string;
  key?: string;
  partition?: string;
  headers?: Record<string, string>;
}

const v1Headers = (key = "phc_one") => ({
  authorization: `Bearer ${key}`,
  "posthog-sdk-info": "test/1.0",
  "posthog-attempt": "1",
  "posthog-request-timestamp": new Date().toISOString(),
  "posthog-request-id": "0199c0de-0000-7000-8000-0000000000aa",
});

const batchOf = (key: string) => ({
  api_key: key,
  created_at: new Date().toISOString(),
  batch: uuids.map((uuid) => ({
    uuid,
    event: "seen",
    distinct_id: "u1",
    timestamp: new Date().toISOString(),
    properties: {},
  })),
});

const ask = ({ path = "/batch/", method = "POST", key = "phc_one", partition, headers }: Sent = {}) =>
  fetch(sim.url + path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(partition !== undefined && { "x-test-id": partition }),
      ...headers,
    },
    ...(method === "POST" && { body: JSON.stringify(batchOf(key)) }),
  });

async function came(sent?: Sent) {
  const response = await ask(sent);
  return [response.status, response.headers.get("x-phx-source"), await response.text()];
}

const ok: unknown[] = [200, "emulator", '{"status":"Ok"}'];
const scripted = (status: number, text = ""): unknown[] => [status, "script", text];
const bare = (status: number): ScriptedAnswer => ({ status });

describe("a queue", () => {
  test("is given in its order, and then the emulator answers", async () => {
    await sim.answers.queue([bare(503), { status: 429, headers: { "Retry-After": "3" }, body: "slow" }]);
    expect(await came()).toEqual(scripted(503));
    expect(await sim.events.list()).toEqual([]);
    const second = await ask();
    expect([second.status, second.headers.get("retry-after"), second.headers.get("content-type")]).toEqual([
      429,
      "3",
      "text/plain; charset=utf-8",
    ]);
    expect(await second.text()).toBe("slow");
    expect(await came()).toEqual(ok);
    expect(await sim.events.list()).toHaveLength(2);
  });

  test("repeats a response as many times as it states", async () => {
    await sim.answers.queue([{ status: 500, times: 2 }, bare(503)]);
    expect([await came(), await came(), await came(), await came()]).toEqual([
      scripted(500),
      scripted(500),
      scripted(503),
      ok,
    ]);
  });

  const matches: [match: ScriptedAnswer["match"], other: Sent, suiting: Sent][] = [
    [{ route: "flags" }, {}, { path: "/flags/?v=2" }],
    [{ route: "/batch" }, { path: "/e/" }, {}],
    [{ method: "GET" }, {}, { path: "/array/phc_one/config", method: "GET" }],
    [{ route: "OPTIONS /batch" }, {}, { method: "OPTIONS", partition: "p" }],
    [undefined, { method: "OPTIONS" }, {}],
  ];
  test.each(matches)("%j lets others pass by", async (match, other, suiting) => {
    const place = suiting.partition === undefined ? { project: 7 } : { partition: suiting.partition };
    await sim.answers.queue({ status: 418, ...(match && { match }) }, place);
    expect(
      (await ask({ ...other, ...(suiting.partition !== undefined && { partition: suiting.partition }) })).headers.get(
        "x-phx-source",
      ),
    ).toBe("emulator");
    expect(await came(suiting)).toEqual(scripted(418));
  });

  test("what waits behind an answer for other requests is not held up by it", async () => {
    await sim.answers.queue([{ status: 418, match: { route: "flags" } }, bare(503)]);
    expect(await came()).toEqual(scripted(503));
    expect(await came({ path: "/flags/" })).toEqual(scripted(418));
  });

  test("counts before a fault, which is not used up by it", async () => {
    await sim.faults.apply({ effect: { status: 500 }, times: 1 });
    await sim.answers.queue(bare(202));
    expect(await came()).toEqual(scripted(202));
    expect((await ask()).headers.get("x-phx-source")).toBe("fault");
  });

  test("never touches the control API", async () => {
    await sim.answers.queue(bare(503));
    expect((await fetch(`${sim.url}/__sim/info`)).status).toBe(200);
    expect((await sim.answers.list())[0]?.used).toBe(0);
  });
});

describe("whose requests", () => {
  const one: AnswerPlace = { project: 7 };
  const two: AnswerPlace = { project: 8 };
  const here: AnswerPlace = { partition: "here" };
  const rows: [what: string, place: AnswerPlace | undefined, sent: Sent, isScripted: boolean][] = [
    ["the first project's", undefined, {}, true],
    ["a project's", one, {}, true],
    ["another's", two, {}, false],
    ["by the key in the body", two, { key: "phc_two" }, true],
    ["by the path", two, { path: "/api/projects/8/feature_flags/", method: "GET" }, true],
    ["by the key in the path", two, { path: "/array/phc_two/config", method: "GET" }, true],
    ["by a bearer", one, { path: "/flags/definitions", method: "GET", headers: v1Headers("phs_one") }, true],
    ["nobody's", one, { key: "phc_nobody" }, false],
    ["a partition's", here, { partition: "here" }, true],
    ["a partition's, of no one", here, { partition: "here", key: "phc_nobody" }, true],
    ["another partition's", here, { partition: "there" }, false],
    ["without a partition", here, {}, false],
    ["a project's, but in a partition", one, { partition: "here" }, false],
    ["no partition's: its name is none", one, { partition: "two words" }, true],
    ["no partition's: its name is too long", one, { partition: "x".repeat(201) }, true],
  ];
  test.each(rows)("%s", async (_, place, sent, isScripted) => {
    await sim.answers.queue(bare(418), place);
    const { headers } = await ask(sent);
    expect(headers.get("x-phx-source")).toBe(isScripted ? "script" : "emulator");
  });

  test("partitions side by side get their own answers and journals, each in its order", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `test-${i}`);
    const statuses = [500, 502, 503, 504];
    await Promise.all(
      names.map((partition, i) =>
        sim.answers.queue(
          statuses.map((status) => ({ status, body: { of: i } })),
          { partition },
        ),
      ),
    );
    await Promise.all(
      names.map(async (partition, i) => {
        for (const status of statuses) expect(await came({ partition })).toEqual(scripted(status, `{"of":${i}}`));
        expect(await came({ partition })).toEqual(ok);
      }),
    );
    for (const partition of names) {
      const journal = await sim.requests.list({ partition });
      expect(journal.map((it) => [it.partition, it.status, it.scripted]).reverse()).toEqual([
        ...statuses.map((status) => [partition, status, true]),
        [partition, 200, false],
      ]);
    }
    expect(await sim.requests.list({ partition: "test-9" })).toEqual([]);
  });
});

describe("keep", () => {
  test("has the request handled, and only its answer replaced", async () => {
    await sim.answers.queue({ status: 502, keep: true, body: "lost" });
    expect(await came()).toEqual(scripted(502, "lost"));
    expect((await sim.events.list({ outcome: "kept" })).map(({ uuid }) => uuid)).toEqual(uuids);
    expect(await sim.requests.list()).toMatchObject([{ status: 502, scripted: true, outcome: "answered", events: 2 }]);
  });

  test("replaces refusals, too", async () => {
    await sim.answers.queue({ status: 200, keep: true, match: { route: "/api/*" } });
    expect(await came({ path: "/api/projects/7/nothing", method: "GET" })).toEqual(scripted(200));
  });
});

describe("$each_uuid", () => {
  const template = { results: { $each_uuid: { result: "retry", details: "busy" }, more: 1 } };
  const result = { result: "retry", details: "busy" };
  const v1 = "/i/v1/analytics/events";
  const rows: [what: string, keep: boolean, path: string][] = [
    ["in place of the handler", false, v1],
    ["after the handler", true, v1],
    ["for a legacy batch", false, "/batch/"],
    ["for a legacy batch, after the handler", true, "/batch/"],
  ];
  test.each(rows)("is an entry for each uuid %s", async (_, keep, path) => {
    await sim.answers.queue({ status: 200, body: template, keep });
    const response = await ask({ path, headers: path === v1 ? v1Headers() : {} });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ results: { [uuids[0] ?? ""]: result, [uuids[1] ?? ""]: result, more: 1 } });
    expect(await sim.events.list({ outcome: "kept" })).toHaveLength(keep ? 2 : 0);
  });

  test("is filled, too, where the handler refuses the body unread", async () => {
    await sim.answers.queue({ status: 200, body: template, keep: true });
    const { authorization } = v1Headers();
    const response = await ask({ path: v1, headers: { authorization } });
    const answer = (await response.json()) as { results: object };
    expect(Object.keys(answer.results)).toEqual([...uuids, "more"]);
  });

  test("is nothing where no uuid came", async () => {
    await sim.answers.queue({ status: 200, body: [template] });
    expect(await (await ask({ path: "/array/phc_one/config", method: "GET" })).json()).toEqual([
      { results: { more: 1 } },
    ]);
  });

  test("stays as it is in a text", async () => {
    await sim.answers.queue({ status: 200, body: '{"$each_uuid":1}' });
    expect(await came()).toEqual(scripted(200, '{"$each_uuid":1}'));
  });
});

describe("results by position", () => {
  const v1 = "/i/v1/analytics/events";
  const [one = "", two = ""] = uuids;
  type Rows = [
    results: NonNullable<ScriptedAnswer["results"]>,
    more: Partial<ScriptedAnswer>,
    expected: object,
    retryAfter: string | null,
  ][];
  const rows: Rows = [
    [["ok", "ok"], {}, { [one]: { result: "ok" }, [two]: { result: "ok" } }, null],
    [["ok", "retry"], {}, { [one]: { result: "ok" }, [two]: { result: "retry" } }, "1"],
    [["ok", "drop"], {}, { [one]: { result: "ok" }, [two]: { result: "drop" } }, null],
    [["retry"], {}, { [one]: { result: "retry" }, [two]: { result: "ok" } }, "1"],
    [["ok", "ok", "retry"], {}, { [one]: { result: "ok" }, [two]: { result: "ok" } }, null],
    [["ok", "retry"], { keep: true }, { [one]: { result: "ok" }, [two]: { result: "retry" } }, "1"],
    [
      ["ok", "retry"],
      { headers: { "Retry-After": "7" } },
      { [one]: { result: "ok" }, [two]: { result: "retry" } },
      "7",
    ],
    [
      [{ result: "drop", details: "event_name_too_long" }, "some_new_result"],
      {},
      { [one]: { result: "drop", details: "event_name_too_long" }, [two]: { result: "some_new_result" } },
      null,
    ],
  ];
  test.each(rows)("%j with %j", async (results, more, expected, retryAfter) => {
    await sim.answers.queue({ status: 200, results, ...more });
    const response = await ask({ path: v1, headers: v1Headers() });
    expect([response.status, response.headers.get("x-phx-source")]).toEqual([200, "script"]);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect(response.headers.get("posthog-request-id")).toBe(v1Headers()["posthog-request-id"]);
    expect(await response.json()).toEqual({ results: expected });
    expect(await sim.events.list()).toHaveLength(more.keep ? 2 : 0);
  });

  test("an event without a uuid takes its position and has no result", async () => {
    await sim.answers.queue({ status: 200, results: ["retry", "drop"] });
    const response = await fetch(sim.url + v1, {
      method: "POST",
      headers: { "content-type": "application/json", ...v1Headers() },
      body: JSON.stringify({ batch: [{ event: "a" }, { event: "b", uuid: two }] }),
    });
    expect(response.headers.get("retry-after")).toBeNull();
    expect(await response.json()).toEqual({ results: { [two]: { result: "drop" } } });
  });

  test("a status without a body has none", async () => {
    await sim.answers.queue({ status: 204, results: ["retry"] });
    expect(await came({ path: v1, headers: v1Headers() })).toEqual(scripted(204));
  });
});

describe("on the wire", () => {
  const bodies: [body: ScriptedAnswer["body"], headers: Record<string, string>, type: string, text: string][] = [
    ["", {}, "text/plain; charset=utf-8", ""],
    [null, {}, "application/json", "null"],
    [[1, { a: "ä" }], {}, "application/json", '[1,{"a":"ä"}]'],
    ["{broken", { "Content-Type": "application/json" }, "application/json", "{broken"],
    ["a\nb", { "content-type": "application/json", "Content-Length": "1" }, "application/json", "a\nb"],
    ['{"a":\n1}', { "content-type": "application/json" }, "application/json", '{"a":\n1}'],
  ];
  test.each(bodies)("body %j with %j", async (body, headers, type, text) => {
    await sim.answers.queue({ status: 200, headers, body });
    const response = await ask({ partition: undefined });
    expect(response.headers.get("content-type")).toBe(type);
    expect(await response.text()).toBe(text);
    // The log can still be read.
    expect(await sim.requests.list()).toMatchObject([{ status: 200, scripted: true }]);
    expect(await came()).toEqual(ok);
  });

  test.each([204, 205, 304])("%i has no body, whatever was asked for", async (status) => {
    await sim.answers.queue({ status, body: { a: 1 } });
    expect(await came()).toEqual(scripted(status));
    await sim.answers.queue({ status, body: { a: 1 } });
    const inProcess = await sim.handle(new Request(`${sim.url}/array/phc_one/config`));
    expect([inProcess.status, await inProcess.text()]).toEqual([status, ""]);
  });

  test("a page of another origin reads it; its own word on that counts", async () => {
    const origin = { origin: "http://page.test" };
    await sim.answers.queue([bare(200), { status: 200, headers: { "Access-Control-Allow-Origin": "*" } }]);
    const allowed = async () => (await ask({ headers: origin })).headers.get("access-control-allow-origin");
    expect([await allowed(), await allowed()]).toEqual(["http://page.test", "*"]);
  });
});

test("the journal reports what came and what was answered", async () => {
  await sim.answers.queue({ status: 503, body: { no: 1 } }, { partition: "t1" });
  await ask({ partition: "t1", path: "/batch/?x=1" });
  const [summary] = await sim.requests.list({ partition: "t1" });
  const response = await fetch(`${sim.url}/__sim/requests/${summary?.n}`);
  expect(await response.json()).toMatchObject({
    method: "POST",
    target: "/batch/?x=1",
    status: 503,
    project: 7,
    fault: null,
    scripted: true,
    partition: "t1",
    outcome: "rejected",
    rejected: { reason: "script", detail: "a scripted answer was given; the request was not handled" },
    headers: expect.arrayContaining([["x-test-id", "t1"]]),
    body: { batch: [{ uuid: uuids[0] }, { uuid: uuids[1] }] },
    reply: { no: 1 },
    carried: [],
  });
});
