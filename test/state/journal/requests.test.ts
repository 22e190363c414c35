import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { FileBytes } from "../../../src/kernel/store/bytes.ts";
import { entryWriter } from "../../../src/state/journal/log/traffic-entry.ts";
import { TrafficLog } from "../../../src/state/journal/log/traffic-log.ts";
import { newFolder } from "../../support/folder.ts";

let sim: Sim;

interface Sent {
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

async function send(method: string, path: string, { body, headers }: Sent = {}) {
  const response = await sim.handle(
    new Request(sim.url + path, { method, ...(body !== undefined && { body }), headers: headers ?? {} }),
  );
  const text = await response.text();
  return { status: response.status, text };
}

const get = async (path: string): Promise<JsonObject> => JSON.parse((await send("GET", path)).text);
const targetsOf = async (query: string): Promise<unknown[]> =>
  ((await get(`/__sim/requests?${query}`)).requests as JsonObject[]).map((it) => it.target);

test("a page ends after 20,000 requests that were looked at; the client goes on", async () => {
  const folder = newFolder();
  const name = join(folder, "traffic.ndjson");
  const log = new TrafficLog({ bytes: new FileBytes(name), name, keysOf: () => [] });
  const entryOf = entryWriter();
  const reply = { status: 200, headers: ["content-type", "application/json"], body: "{}" };
  for (let i = 0; i < 20_001; i++) {
    const call = { method: "GET", target: i === 0 ? "/first" : "/other", rawHeaders: [], body: Buffer.alloc(0) };
    log.append(entryOf({ ...call, peer: "127.0.0.1", at: i, started: 0 }, reply, {}));
  }
  await log.close();
  sim = await startSim({ data: folder });
  const query = "filter=route:/first&limit=5";
  expect(await get(`/__sim/requests?${query}`)).toMatchObject({ requests: [], before: 2 });
  expect((await sim.requests.list({ filter: "route:/first" })).map((it) => it.n)).toEqual([1]);
  await sim.close();
});

test("a page ends after 64 MB that were looked at; the client goes on", async () => {
  sim = await startSim();
  const body = JSON.stringify({ api_key: sim.apiKey, event: "large", distinct_id: "u", text: "x".repeat(16e6) });
  for (let i = 0; i < 5; i++) expect(await send("POST", "/capture/", { body })).toMatchObject({ status: 200 });
  const requests = "filter=route:/first&limit=5";
  expect(await get(`/__sim/requests?${requests}`)).toMatchObject({ requests: [], before: expect.any(Number) });
  expect(await sim.requests.list({ filter: "route:/first" })).toEqual([]);
  const page = await get(`/__sim/events?${new URLSearchParams({ filter: "prop.plan:pro", limit: "5" })}`);
  expect(page).toMatchObject({ events: [], more: true });
  expect(await sim.events.list({ filter: "prop.plan:pro" })).toEqual([]);
  await sim.close();
});

const event = (name: string, more: object = {}) =>
  JSON.stringify({ api_key: sim.apiKey, event: name, distinct_id: "u", ...more });

describe("unmatched requests", () => {
  beforeAll(async () => {
    sim = await startSim();
    await send("POST", "/capture/", { body: event("a") });
    await send("GET", "/nowhere/1");
    await send("POST", "/capture/", { body: "{}" });
    // these paths are there: what they name, or the method, is not
    await send("GET", "/array/phc_nobody/config");
    await send("GET", "/api/projects/999/persons/", { headers: { authorization: `Bearer ${sim.personalApiKey}` } });
    await send("PUT", "/capture/", { body: "{}" });
    await send("POST", "/api/nowhere/2/", { body: "{}", headers: { "x-test-id": "mine" } });
    await send("GET", "/__sim/nowhere");
  });
  afterAll(() => sim.close());

  test.each([
    ["outcome=unmatched", ["/api/nowhere/2/", "/nowhere/1"]],
    ["outcome=unmatched&limit=1", ["/api/nowhere/2/"]],
    ["outcome=unmatched&partition=mine", ["/api/nowhere/2/"]],
    ["outcome=unmatched&partition=other", []],
    ["outcome=unmatched&before=7", ["/nowhere/1"]],
    ["outcome=unmatched&since=2", ["/api/nowhere/2/"]],
    ["outcome=unmatched&project=1", ["/api/nowhere/2/", "/nowhere/1"]],
    ["outcome=unmatched&project=99", []],
    ["outcome=answered", ["/capture/"]],
    ["since=5", ["/api/nowhere/2/", "/capture/"]],
    ["since=7", []],
    ["since=2&before=4", ["/capture/"]],
  ])("%s", async (query, expected) => {
    expect(await targetsOf(query)).toEqual(expected);
  });

  test("are among the rejected ones", async () => {
    const rejected = await targetsOf("outcome=rejected");
    expect(rejected).toEqual(expect.arrayContaining(await targetsOf("outcome=unmatched")));
    expect(rejected).toHaveLength(6);
  });

  test.each(["outcome=lost", "since=-1", "since=x", "before=0"])("%s is a mistake", async (query) => {
    expect((await send("GET", `/__sim/requests?${query}`)).status).toBe(400);
    expect((await send("GET", `/__sim/requests.har?${query}`)).status).toBe(400);
  });

  test("are reported in strict mode, too", async () => {
    const strict = await startSim({ strict: true });
    await strict.handle(new Request(`${strict.url}/nowhere`));
    const response = await strict.handle(new Request(`${strict.url}/__sim/requests?outcome=unmatched`));
    const { requests } = (await response.json()) as { requests: JsonObject[] };
    expect(requests).toMatchObject([{ target: "/nowhere", status: 501, outcome: "rejected" }]);
    await strict.close();
  });
});

/** HTTP Archive 1.2 as its specification has it: every key that must be there, and of what type. */
const nameValues = { type: "array", items: shape({ name: "string", value: "string" }) };
const size = { type: "integer", minimum: -1 };
const harSchema = shape({
  log: shape({
    version: { const: "1.2" },
    creator: shape({ name: "string", version: "string" }),
    entries: {
      type: "array",
      items: shape({
        startedDateTime: { type: "string", format: "date-time" },
        time: { type: "number", minimum: 0 },
        request: shape(
          {
            method: "string",
            url: { type: "string", format: "uri" },
            httpVersion: "string",
            cookies: nameValues,
            headers: nameValues,
            queryString: nameValues,
            headersSize: size,
            bodySize: size,
          },
          { postData: shape({ mimeType: "string", text: "string", params: nameValues }) },
        ),
        response: shape({
          status: { type: "integer", minimum: 0 },
          statusText: "string",
          httpVersion: "string",
          cookies: nameValues,
          headers: nameValues,
          content: shape({ size: { type: "integer", minimum: 0 }, mimeType: "string" }, { text: "string" }),
          redirectURL: "string",
          headersSize: size,
          bodySize: size,
        }),
        cache: { type: "object", maxProperties: 0 },
        timings: shape({ send: "number", wait: "number", receive: "number" }),
      }),
    },
  }),
});

type Field = string | object;

/** An object with these keys; further ones are comments, or begin with `_`. */
function shape(fields: Record<string, Field>, optional: Record<string, Field> = {}): object {
  const schemaOf = (field: Field) => (typeof field === "string" ? { type: field } : field);
  const entries = Object.entries({ ...fields, ...optional, comment: "string" });
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, field]) => [name, schemaOf(field)])),
    required: Object.keys(fields),
    patternProperties: { "^_": {} },
    additionalProperties: false,
  };
}

interface Entry {
  request: JsonObject & { headers: JsonObject[]; postData?: JsonObject; queryString: JsonObject[] };
  response: JsonObject & { content: JsonObject };
  time: number;
  timings: { wait: number };
  _phx_sim: JsonObject;
}

async function har(query = ""): Promise<Entry[]> {
  const document = await get(`/__sim/requests.har?${query}`);
  return (document.log as unknown as { entries: Entry[] }).entries;
}

describe("the journal as HAR", () => {
  const packed = Uint8Array.from(gzipSync(Buffer.from('{"batch":[]}')));

  beforeAll(async () => {
    sim = await startSim();
    await send("POST", "/capture/?ip=1&x=a%20b", {
      body: event("one", { properties: { word: "Grüße" } }),
      headers: { "content-type": "application/json", cookie: "session=secret", "x-test-id": "mine" },
    });
    const batch = JSON.stringify({ api_key: sim.apiKey, batch: [JSON.parse(event("two")), {}] });
    await send("POST", "/batch/", { body: Uint8Array.from(gzipSync(batch)), headers: { "content-encoding": "gzip" } });
    await send("POST", "/capture/", { body: packed.slice(0, 9) });
    await send("GET", "/array/phc_nobody/config");
    await send("GET", "/nowhere?personal_api_key=phx_hidden", { headers: { authorization: "Bearer phx_verysecret" } });
    await send("POST", "/test/black_hole", { body: "anything" });
    await send("GET", "//static//array.js");
  });
  afterAll(() => sim.close());

  test("is as the specification has it", async () => {
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const formats = await import("ajv-formats");
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default.default(ajv);
    const check = ajv.compile(harSchema);
    const document = await get("/__sim/requests.har");
    expect({ valid: check(document), errors: check.errors }).toEqual({ valid: true, errors: null });
  });

  test("has the requests in the order of their arrival", async () => {
    const entries = await har();
    expect(entries.map((it) => it._phx_sim.n)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(entries.map((it) => it._phx_sim.outcome)).toEqual([
      "answered",
      "answered",
      "rejected",
      "rejected",
      "unmatched",
      "answered",
      "answered",
    ]);
    expect(entries[1]?._phx_sim).toMatchObject({ project: 1, events: 2, dropped: 1 });
  });

  test("says what was sent and answered", async () => {
    const [first] = await har("limit=10000");
    expect(first).toMatchObject({
      request: {
        method: "POST",
        url: `${sim.url}/capture/?ip=1&x=a%20b`,
        queryString: [
          { name: "ip", value: "1" },
          { name: "x", value: "a b" },
        ],
        postData: { mimeType: "application/json", text: event("one", { properties: { word: "Grüße" } }) },
      },
      response: {
        status: 200,
        statusText: "OK",
        content: { size: 15, mimeType: "application/json", text: '{"status":"Ok"}' },
      },
      _phx_sim: { partition: "mine" },
    });
    expect(first?.time).toBe(first?.timings.wait);
  });

  test("has bodies decoded as far as the journal has them, and else as they came", async () => {
    const [, batch, broken, , , hole] = await har();
    expect(JSON.parse(String(batch?.request.postData?.text))).toMatchObject({ batch: [{ event: "two" }, {}] });
    expect(batch?.request.postData).toMatchObject({ mimeType: "application/json", comment: "decoded: gzip" });
    expect(broken?.request.postData).toMatchObject({
      _encoding: "base64",
      text: Buffer.from(packed.slice(0, 9)).toString("base64"),
    });
    expect(hole?.request.postData).toMatchObject({ text: "anything" });
    expect(hole?.request).toMatchObject({ bodySize: expect.any(Number) });
  });

  test("has no secrets", async () => {
    const { text } = await send("GET", "/__sim/requests.har");
    for (const secret of ["session=secret", "verysecret", "phx_hidden"]) expect(text).not.toContain(secret);
    const [, , , , unmatched] = await har();
    expect(unmatched?.request.headers).toContainEqual({ name: "authorization", value: "Bearer phx_***" });
  });

  test("keeps a script's size instead of its text", async () => {
    const entry = (await har()).at(-1);
    expect(entry?.request.url).toBe(`${sim.url}//static//array.js`);
    expect(entry?.response.content).toMatchObject({
      comment: expect.stringMatching(/^not kept: /),
      size: expect.any(Number),
    });
    expect(entry?.response.content).not.toHaveProperty("text");
  });

  test.each([
    ["limit=2", [6, 7]],
    ["since=5", [6, 7]],
    ["until=2", [1, 2]],
    ["since=2&until=3", [3]],
    ["project=1", [1, 2]],
    ["project=999", []],
    ["partition=mine", [1]],
    ["since=7", []],
  ])("%s", async (query, expected) => {
    expect((await har(query)).map((it) => it._phx_sim.n)).toEqual(expected);
  });

  test.each(["limit=0", "limit=10001", "until=0", "project=x"])("%s is a mistake", async (query) => {
    expect((await send("GET", `/__sim/requests.har?${query}`)).status).toBe(400);
  });

  test("has a request whose answer a fault kept from arriving", async () => {
    const own = await startSim();
    const ask = (path: string, body?: object) =>
      own.handle(
        new Request(own.url + path, {
          ...(body && { method: "POST", body: JSON.stringify(body) }),
          headers: { "content-type": "application/json" },
        }),
      );
    await ask("/__sim/faults", { effect: { status: 503 }, times: 1 });
    await ask("/capture/", { api_key: own.apiKey, event: "lost", distinct_id: "u" });
    const { log } = (await (await ask("/__sim/requests.har")).json()) as { log: { entries: Entry[] } };
    expect(log.entries).toMatchObject([
      {
        response: { status: 503, statusText: "Service Unavailable" },
        _phx_sim: { outcome: "rejected", fault: "fault-1", rejected: { reason: "fault" } },
      },
    ]);
    await own.close();
  });

  test("of a long journal has its last 1,000 by default", async () => {
    const long = await startSim();
    const ask = async (query: string) => {
      const response = await long.handle(new Request(`${long.url}/__sim/requests.har?${query}`));
      const { log } = (await response.json()) as { log: { entries: Entry[] } };
      return log.entries.map((it) => it._phx_sim.n);
    };
    await Promise.all(Array.from({ length: 1_005 }, () => long.handle(new Request(`${long.url}/nowhere`))));
    expect(await ask("")).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 6));
    expect(await ask("limit=10000")).toHaveLength(1_005);
    await long.close();
  });
});
