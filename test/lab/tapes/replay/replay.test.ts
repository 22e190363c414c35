import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Sim } from "../../../../src/index.ts";
import type { Redactor } from "../../../../src/lab/tapes/format/header.ts";
import { control } from "../../../support/control.ts";
import { json } from "../format/fixture.ts";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

const token = "phc_recorded";
const flags = (distinct_id: string, on: boolean) =>
  exchange("POST /flags/?v=2", answer({ flags: { beta: { key: "beta", enabled: on } } }), {
    body: { token, distinct_id },
  });
const dashboards = "GET /api/projects/1/dashboards/";

describe("what is on the tape is answered from it", () => {
  test("flags, by their body, in the order of the recording; the last answer repeats", async () => {
    const tape = await tapeOf([flags("u1", true), flags("u1", false), flags("u2", true)]);
    const sim = await started({ tape });
    const ask = (distinct_id: string) => asked(sim, "POST /flags/?v=2", { body: { token: "phc_live", distinct_id } });
    const first = await ask("u1");
    expect(JSON.parse(first.text)).toEqual({ flags: { beta: { key: "beta", enabled: true } } });
    expect(first).toMatchObject({ status: 200, source: "tape:checkout#1" });
    expect([(await ask("u1")).source, (await ask("u1")).source, (await ask("u2")).source]).toEqual([
      "tape:checkout#2",
      "tape:checkout#2",
      "tape:checkout#3",
    ]);
  });

  const unredacted: Redactor = { profile: "none", redact: (it) => it };
  test.each([
    ["text", "note", "a note", undefined],
    ["bytes", "note", Buffer.from([0xff, 0xfe, 0x00]), undefined],
    ["a secret", "password", "Tr0ub4dor-and-3", undefined],
    ["a secret, on a tape that was not redacted", "password", "Tr0ub4dor-and-3", unredacted],
  ])("forms, whatever their boundary: %s", async (_, field, value, redactor) => {
    const form = (boundary: string, end = ""): Buffer =>
      Buffer.concat([
        Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n`),
        Buffer.from(value),
        Buffer.from(`\r\n--${boundary}--\r\n${end}`),
      ]);
    const type = (boundary: string) => `multipart/form-data; boundary=${boundary}`;
    const recorded = {
      ...exchange("POST /api/projects/1/files/", answer({ id: 1 })),
      headers: ["Host", "us.i.posthog.com", "Content-Type", type("----first1")],
      body: form("----first1"),
    };
    const sim = await started({ tape: await tapeOf([recorded], "forms", redactor) });
    const send = async (body: Buffer) => {
      const headers = { "content-type": type("----other22") };
      const path = `${sim.url}/api/projects/1/files/`;
      return (await fetch(path, { method: "POST", headers, body: new Uint8Array(body) })).status;
    };
    expect(await send(form("----other22"))).toBe(200);
    expect(await send(form("----other22", "more"))).toBe(599);
  });

  test("the journal says where answers are from; a recorded refusal is none of the app's", async () => {
    const tape = await tapeOf([
      exchange(dashboards, answer({ results: [] })),
      exchange("GET /api/projects/1/dashboards/7/", answer({ detail: "Not found." }, { status: 404 })),
    ]);
    const sim = await started({ tape });
    await asked(sim, dashboards);
    expect(await asked(sim, "GET /api/projects/1/dashboards/7/")).toMatchObject({ status: 404 });
    const requests = await sim.requests.list();
    expect(requests.map(({ source, outcome, rejected }) => [source, outcome, rejected?.reason])).toEqual([
      ["tape:checkout#2", "rejected", "tape"],
      ["tape:checkout#1", "answered", undefined],
    ]);
  });

  test("paths that the emulator does not have", async () => {
    const sim = await started({ tape: await tapeOf([exchange("GET /api/never/heard/", answer({ a: 1 }))]) });
    expect(await asked(sim, "GET /api/never/heard/")).toMatchObject({ status: 200, text: '{"a":1}' });
  });

  test("headers as recorded, without those of the connection, of the body's coding and of CORS", async () => {
    const headers = [
      ["Content-Type", "application/json; charset=utf-8"],
      ["Set-Cookie", "a=1; Path=/"],
      ["Set-Cookie", "b=2"],
      ["X-Request-Id", "r1"],
      ["Content-Encoding", "gzip"],
      ["Content-Length", "999"],
      ["Transfer-Encoding", "chunked"],
      ["Connection", "keep-alive, x-hop"],
      ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"],
      ["Alt-Svc", 'h3=":443"'],
      ["Strict-Transport-Security", "max-age=1"],
      ["Access-Control-Allow-Origin", "https://recorded.test"],
      ["X-Phx-Source", "upstream"],
    ].flat();
    const tape = await tapeOf([exchange(dashboards, answer(null, { headers, body: gzipSync(json({ results: [] })) }))]);
    const sim = await started({ tape });
    const given = await asked(sim, dashboards, { headers: { origin: "http://app.test" } });
    expect(given.text).toBe('{"results":[]}');
    expect(given.headers.getSetCookie()).toHaveLength(2);
    const said = Object.fromEntries(given.headers);
    expect(said).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": "14",
      "x-request-id": "r1",
      "x-phx-source": "tape:checkout#1",
      "access-control-allow-origin": "http://app.test",
    });
    expect(new Date(said.date ?? "").getFullYear()).toBeGreaterThan(1970);
    for (const name of ["content-encoding", "transfer-encoding", "alt-svc", "strict-transport-security"])
      expect(said).not.toHaveProperty(name);
  });

  test.each([
    ["text", Buffer.from("posthog = 1;\n")],
    ["bytes", randomBytes(2_000)],
    ["a side file of JSON", json({ list: Array.from({ length: 20_000 }, (_, i) => i) })],
    ["a side file of bytes", randomBytes(300_000)],
    ["nothing", Buffer.alloc(0)],
  ])("a body that is %s", async (_, body) => {
    const headers = ["Content-Type", "application/javascript"];
    const tape = await tapeOf([exchange("GET /static/array.js", answer(null, { headers, body }))]);
    const sim = await started({ tape });
    const response = await fetch(`${sim.url}/static/array.js`);
    const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    expect(hash(Buffer.from(await response.arrayBuffer()))).toBe(hash(body));
    expect(response.headers.get("content-length")).toBe(String(body.length));
  });

  test.each([204, 304])("a %i has no body", async (status) => {
    const tape = await tapeOf([
      exchange(dashboards, answer(null, { status, body: Buffer.alloc(0) }), { headers: ["If-None-Match", "x"] }),
    ]);
    const sim = await started({ tape });
    expect(await asked(sim, dashboards, { headers: { "if-none-match": "x" } })).toMatchObject({ status, text: "" });
  });

  test("HEAD has the headers only", async () => {
    const sim = await started({
      tape: await tapeOf([exchange("HEAD /static/array.js", answer(null, { body: Buffer.alloc(0) }))]),
    });
    expect(await asked(sim, "HEAD /static/array.js")).toMatchObject({
      status: 200,
      text: "",
      source: "tape:checkout#1",
    });
  });
});

describe("what the emulator answers anyway", () => {
  test("captures: their events are in the log, whatever key they carry", async () => {
    const batch = (event: string) => ({ api_key: token, batch: [{ event, distinct_id: "u1", properties: {} }] });
    const tape = await tapeOf([
      exchange("POST /batch/", answer({ status: "recorded" }), { body: batch("bought") }),
      exchange("POST /batch/", answer({ status: "recorded" }), { body: batch("left") }),
    ]);
    const sim = await started({ tape });
    const sent = await asked(sim, "POST /batch/", { body: { ...batch("bought"), api_key: "phc_live" } });
    expect(sent).toMatchObject({ status: 200, source: "emulator", text: '{"status":"Ok"}' });
    expect(await sim.events.waitFor("bought")).toMatchObject({ distinct_id: "u1" });
    const { ledger } = (await sim.tapes.get()) ?? {};
    expect(ledger).toMatchObject({ total: 0, unused: [], unused_count: 0, miss_count: 0, captures: 2 });
    expect(ledger?.events).toEqual({ recorded: 2, missing: [{ event: "left", times: 1 }] });
  });

  test("preflights, and the control API", async () => {
    const sim = await started({ tape: await tapeOf([]) });
    const preflight = await asked(sim, "OPTIONS /flags/", {
      headers: { origin: "http://app.test", "access-control-request-method": "POST" },
    });
    expect(preflight).toMatchObject({ status: 200, source: "emulator" });
    expect(await sim.tapes.get()).toMatchObject({ ledger: { miss_count: 0 } });
  });
});

describe("secrets that were taken out of the recording", () => {
  test("the asker's own key stands where the recorded one stood; what no one knows is a visible fake", async () => {
    const given = { api_token: "phc_recordedkey", other: "phx_recordedsecret", name: "Shop" };
    const recorded = exchange("GET /api/projects/1/?token=phc_recordedkey", answer(given));
    const sim = await started({ tape: await tapeOf([recorded]) });
    const { text } = await asked(sim, "GET /api/projects/1/?token=phc_livekey");
    expect(JSON.parse(text)).toEqual({
      api_token: "phc_livekey",
      other: expect.stringMatching(/redacted/),
      name: "Shop",
    });
  });
});

/** Of each exchange of the tape in force: was it given as an answer? */
async function usedIn(sim: Sim): Promise<boolean[]> {
  const shelf = JSON.parse(await (await fetch(`${sim.url}/__sim/tapes/exchanges`)).text()) as {
    exchanges: { used: boolean }[];
  };
  return shelf.exchanges.map(({ used }) => used);
}

describe("recorded refusals", () => {
  const list = "GET /api/projects/1/dashboards/";
  const tape = () =>
    tapeOf([
      exchange(list, answer({ code: "throttled" }, { status: 429 })),
      exchange(list, null),
      exchange(list, answer({ results: [] })),
    ]);

  test("a 429 comes in its turn; what has no answer is left out, and is not said to be used", async () => {
    const sim = await started({ tape: await tape() });
    expect((await asked(sim, list)).status).toBe(429);
    expect((await asked(sim, list)).source).toBe("tape:checkout#3");
    const ledger = (await sim.tapes.get())?.ledger;
    expect(ledger).toMatchObject({ total: 2, requests: 2, hits: 2, unused: [] });
    expect(ledger?.left_out).toMatchObject([{ i: 2, why: "no response was recorded" }]);
    expect(await usedIn(sim)).toEqual([true, false, true]);
  });

  test("skipStatus leaves them out: at the start, and of a running sim", async () => {
    const file = await tape();
    const sim = await started({ tape: file, skipStatus: [429] });
    expect((await asked(sim, list)).source).toBe("tape:checkout#3");
    expect(await sim.tapes.load(file)).toMatchObject({ skip_status: [], ledger: { total: 2 } });
    expect(await sim.tapes.load(file, { skipStatus: [429] })).toMatchObject({
      skip_status: [429],
      ledger: { total: 1, left_out: [{ i: 1, why: "its status 429 is skipped" }, { i: 2 }] },
    });
    expect(await usedIn(sim)).toEqual([false, false, false]);
  });

  test.each([
    [{ skip_status: "429" }, "/skip_status"],
    [{ skip_status: ["429"] }, "/skip_status/0"],
    [{ skip_status: [42] }, "/skip_status"],
  ])("%j is refused at %s", async (order, pointer) => {
    const sim = await started({});
    const { status, answer: said } = await control(sim, "POST", "/tapes", { tape: await tape(), ...order });
    expect([status, said.pointer]).toEqual([400, pointer]);
  });
});
