import { afterEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { scenarioFromTape } from "../../../../src/lab/scenario/from-tape/scenario-from-tape.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { createComparison } from "../../../../src/lab/tapes/verify/compare.ts";
import { createIdMap } from "../../../../src/lab/tapes/verify/id-map.ts";
import { createSimVerifier } from "../../../../src/lab/tapes/verify/verifier.ts";
import { openSim, recorded, tour } from "./recorded.ts";

const open: Sim[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((it) => it.close()));
});

const opened = async (starting: Promise<Sim>): Promise<Sim> => {
  const sim = await starting;
  open.push(sim);
  return sim;
};

/** What the production dialect answers on the tour, without its secrets. */
async function productionTape(): Promise<Exchange[]> {
  const { redact } = createRedactor();
  return (await recorded(await opened(openSim("production")), tour)).map((it) => redact(it));
}

async function differences(tape: Exchange[], dialect: "documented" | "production") {
  const { scenario, keys } = await scenarioFromTape(tape);
  const sim = await opened(startSim({ scenario, dialect, adoptTokens: true }));
  const verifier = createSimVerifier({ handle: sim.handle, keys });
  const comparison = createComparison();
  for (const it of tape) comparison.add(await verifier.verify(it));
  const { groups, compared } = comparison.result();
  expect(compared).toBe(tape.length);
  return (severity: string) =>
    groups.filter((it) => it.severity === severity).map(({ route, path }) => `${route} ${path}`);
}

describe("a tape of a sim", () => {
  test("against the same dialect nothing but what the tape cannot tell", async () => {
    const of = await differences(await productionTape(), "production");
    expect(of("break")).toEqual([]);
    expect(of("additive")).toEqual([]);
    // Members that no one asked for are not there.
    expect(of("value")).toEqual([
      "GET /api/users/@me body.organization.member_count",
      "GET /api/organizations body.results[].member_count",
    ]);
  });

  test("against the other dialect exactly the differences of the dialects", async () => {
    const of = await differences(await productionTape(), "documented");
    expect(of("break")).toEqual([
      "GET /api/users/@me body.organization.metadata",
      "GET /api/users/@me body.organization.member_count",
      "GET /api/organizations body.results[].metadata",
      "GET /api/organizations body.results[].member_count",
      "capture status",
    ]);
    const fields = new Set(of("additive").map((it) => /[^.]+$/.exec(it)?.[0]));
    expect(fields).toEqual(
      new Set(["hedgehog_config", "use_template", "use_dashboard", "delete_insights", "hogql_query"]),
    );
    expect(of("value")).toEqual(["flags body.supportedCompression[]"]);
  });
});

type Over = Partial<Omit<Exchange, "req">> & { req?: Partial<Exchange["req"]> };

const exchange = (over: Over = {}): Exchange => ({
  i: 1,
  at: "2026-01-01T00:00:00Z",
  route: "flags",
  res: { status: 200, reason: "", http: "1.1", headers: [], wire: { bytes: 0, encodings: [] }, ttfb: 0, total: 0 },
  complete: true,
  redacted: [],
  ...over,
  req: {
    method: "POST",
    url: "https://us.i.posthog.com/flags/?v=2",
    http: "1.1",
    headers: [],
    wire: { bytes: 0, encodings: [] },
    ...over.req,
  },
});
const status = (code: number): Pick<Exchange, "res"> => ({
  res: { ...(exchange().res ?? expect.fail()), status: code },
});

describe("what says nothing is left out", () => {
  test.each<[string, Exchange]>([
    ["cut_off", exchange({ res: null })],
    ["cut_off", exchange({ complete: false })],
    ["upstream_failed", exchange(status(502))],
    ["upstream_failed", exchange(status(429))],
    ["not_modified", exchange(status(304))],
    ["body_left_out", exchange({ req: { body: { omitted: "too_large", bytes: 1 } } })],
    ["body_left_out", exchange({ req: { body: { file: "a".repeat(64), bytes: 1 } } })],
    ["not_http", exchange({ req: { method: "CONNECT" } })],
    ["not_http", exchange(status(101))],
    ["not_http", exchange({ req: { method: "NO METHOD" } })],
    ["not_http", exchange({ req: { method: "TRACE" } })],
  ])("%s", async (reason, it) => {
    const verifier = createSimVerifier({ handle: async () => new Response(), keys: new Map() });
    expect(await verifier.verify(it)).toEqual({ skipped: reason });
  });
});

describe("requests", () => {
  const keys = new Map([
    ["{{secret:project_key#1}}", "phc_tape_1"],
    ["{{secret:authorization#1}}", "phx_tape_1"],
    ["phx_plain", "phx_tape_2"],
  ]);
  async function sent(it: Exchange): Promise<Request> {
    const requests: Request[] = [];
    const handle = async (request: Request) => {
      requests.push(request);
      return new Response();
    };
    await createSimVerifier({ handle, keys }).verify(it);
    return requests[0] ?? expect.fail();
  }
  const withAuthorization = async (value: string) =>
    (await sent(exchange({ req: { headers: [["Authorization", value]] } }))).headers.get("authorization");

  test("keys stand where placeholders stood, in paths, queries and bodies", async () => {
    const request = await sent(
      exchange({
        req: {
          url: "https://us.i.posthog.com/array/%7B%7Bsecret:project_key%231%7D%7D/config?token={{secret:project_key#1}}&x=1",
          body: { json: { api_key: "{{secret:project_key#1}}", batch: [{ password: "{{secret:password#2}}" }] } },
        },
      }),
    );
    const { pathname, search } = new URL(request.url);
    expect(`${pathname}${search}`).toBe("/array/phc_tape_1/config?token=phc_tape_1&x=1");
    expect(await request.json()).toEqual({ api_key: "phc_tape_1", batch: [{ password: "redacted-password-2" }] });
  });

  test.each([
    ["Bearer {{secret:authorization#1}}", "Bearer phx_tape_1"],
    ["{{secret:authorization#1}}", "Bearer phx_tape_1"],
    ["Basic {{secret:authorization#9}}", "Basic redacted-authorization-9"],
    ["Bearer phx_plain", "Bearer phx_tape_2"],
  ])("authorization %s", async (recordedValue, expected) => {
    expect(await withAuthorization(recordedValue)).toBe(expected);
  });

  test("how it travelled stays behind", async () => {
    const request = await sent(
      exchange({
        req: {
          url: "https://us.i.posthog.com/e/?compression=gzip-js&ip=1",
          headers: [
            ["Host", "us.i.posthog.com"],
            ["Content-Encoding", "gzip"],
            ["Content-Length", "12"],
            ["Content-Type", "application/x-www-form-urlencoded"],
            ["If-None-Match", "x"],
            ["bad header", "x"],
            ["Origin", "https://app.example"],
          ],
          body: { json: [] },
        },
      }),
    );
    expect(Object.fromEntries(request.headers)).toEqual({
      "content-type": "application/json",
      origin: "https://app.example",
    });
    expect(new URL(request.url).search).toBe("?ip=1");
    expect(await request.text()).toBe("[]");
  });

  test("keys that objects are born with stay keys", async () => {
    const json: Json = JSON.parse('{"__proto__": {"a": "{{secret:project_key#1}}"}}');
    expect(await (await sent(exchange({ req: { body: { json } } }))).text()).toBe('{"__proto__":{"a":"phc_tape_1"}}');
  });
});

describe("ids that the emulator gave", () => {
  const ids = createIdMap();
  ids.learn(
    "/api/projects/1/dashboards/",
    { id: 71, tiles: [{ id: 5, insight: { id: 9, short_id: "aBcD" } }] },
    { id: 2, tiles: [{ id: 6, insight: { id: 3, short_id: "xYzW" } }] },
  );
  test.each([
    ["/api/projects/1/dashboards/71/", "/api/projects/1/dashboards/2/"],
    ["/api/projects/71/dashboards/5/", "/api/projects/71/dashboards/5/"],
    ["/api/projects/1/insights/9/", "/api/projects/1/insights/3/"],
    ["/shared/aBcD", "/shared/xYzW"],
  ])("in the path %s", (path, expected) => {
    expect(ids.inPath(path)).toBe(expected);
  });

  test("in bodies, by the kind of thing they are ids of", () => {
    expect(ids.inBody({ to_dashboard: 71, dashboards: [71, 8], tile: { id: 5 }, limit: 71, dashboard_id: 71 })).toEqual(
      { to_dashboard: 2, dashboards: [2, 8], tile: { id: 6 }, limit: 71, dashboard_id: 2 },
    );
  });

  test("a recorded session with other ids works on", async () => {
    const tape = await productionTape();
    const shifted: Exchange[] = JSON.parse(
      JSON.stringify(tape.filter(({ req }) => /dashboards\/(?:3\/)?$/.test(req.url)))
        .replaceAll("dashboards/3/", "dashboards/7003/")
        .replaceAll('"id":3,', '"id":7003,'),
    );
    expect(shifted.map(({ req }) => req.url).join()).toContain("dashboards/7003/");
    const of = await differences(shifted, "production");
    expect(of("break")).toEqual([]);
  });
});
