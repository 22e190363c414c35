import { describe, expect, test } from "vitest";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { harBytes, harEntry } from "../../../src/lab/tapes/har/request-har.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";

const line = (given: Partial<TrafficLine> = {}): TrafficLine => ({
  n: 1,
  at: Date.UTC(2026, 0, 2),
  method: "POST",
  target: "/capture/",
  peer: "127.0.0.1",
  status: 200,
  us: 1_500,
  project: 1,
  headers: ["Host", "sim.test:7490", "Content-Type", "text/plain", "Content-Length", "7"],
  ...given,
});

const entryOf = (given: Partial<TrafficLine>) => harEntry(line(given));

const harOf = (lines: readonly TrafficLine[]) =>
  JSON.parse(
    atOnce(
      harBytes(
        lines.map((it) => Buffer.from(JSON.stringify(harEntry(it)))),
        undefined,
      ),
    ).toString(),
  );

describe("requests", () => {
  test.each<[string, Partial<TrafficLine>, object]>([
    ["with a body as it came", { body: { a: 1 } }, { mimeType: "text/plain", text: '{"a":1}' }],
    [
      "with one that was decoded",
      { body: { a: 1 }, steps: ["gzip", "base64"], raw: { base64: "H4s=" } },
      { mimeType: "application/json", text: '{"a":1}', comment: "decoded: gzip, base64" },
    ],
    ["with text that is no JSON", { raw: { text: "{oops" } }, { text: "{oops" }],
    ["with bytes", { raw: { base64: "AAEC" } }, { text: "AAEC", _encoding: "base64" }],
    [
      "whose body was too large to keep",
      { raw: { omitted: "too_large", bytes: 99_000 } },
      { text: "", comment: "not kept: too_large, 99000 bytes" },
    ],
  ])("%s", (_, given, postData) => {
    expect(entryOf(given).request).toMatchObject({
      url: "http://sim.test:7490/capture/",
      postData: { params: [], ...postData },
      bodySize: 7,
    });
  });

  test.each<[string, Partial<TrafficLine>, object]>([
    ["without a host", { headers: [] }, { url: "http://localhost/capture/", bodySize: 0, headers: [] }],
    ["to the server itself", { method: "OPTIONS", target: "*", headers: [] }, { url: "http://localhost/*" }],
    ["with a length that is none", { body: 1, headers: ["content-length", "x"] }, { bodySize: -1 }],
    [
      "whose size only the journal knows",
      { headers: [], raw: { omitted: "redacted", bytes: 12 }, body: {} },
      { bodySize: 12 },
    ],
    [
      "with a parameter twice",
      { target: "/e/?a=1&a=%3F&b" },
      {
        queryString: [
          { name: "a", value: "1" },
          { name: "a", value: "?" },
          { name: "b", value: "" },
        ],
      },
    ],
  ])("%s", (_, given, request) => {
    expect(entryOf(given).request).toMatchObject(request);
  });

  test("without a body", () => {
    expect(entryOf({ method: "GET" }).request).not.toHaveProperty("postData");
  });
});

test.each<[string, Partial<TrafficLine>, object]>([
  ["none", { reply: null, reply_headers: [] }, { size: 0, mimeType: "x-unknown" }],
  ["JSON", { reply: { ü: 1 } }, { size: 8, mimeType: "application/json", text: '{"ü":1}' }],
  [
    "text",
    { reply: "ok", reply_headers: ["Content-Type", "text/plain; charset=utf-8"] },
    { size: 2, mimeType: "text/plain; charset=utf-8", text: "ok" },
  ],
  ["of no type", { reply: "ok", reply_headers: [] }, { size: 2, mimeType: "x-unknown", text: "ok" }],
  [
    "large",
    { reply: { omitted: "too_large", bytes: 70_000 } },
    { size: 70_000, mimeType: "application/json", comment: "not kept: too_large" },
  ],
  // an answer may have such keys itself
  ["like that", { reply: { omitted: 1, bytes: 2 } }, { mimeType: "application/json", text: '{"omitted":1,"bytes":2}' }],
])("an answer's content: %s", (_, given, content) => {
  expect(entryOf(given).response).toMatchObject({ content });
});

test("an answer that a fault kept from arriving has the status 0", () => {
  expect(entryOf({ status: 0, fault: "hang" })).toMatchObject({
    response: { status: 0, statusText: "", headers: [], redirectURL: "" },
    _phx_sim: { fault: "hang" },
  });
});

const pairs = (...flat: [name: string, value: string][]) => flat.map(([name, value]) => ({ name, value }));

test.each<[string, Partial<TrafficLine>, object]>([
  [
    "the usual ones, which a line does not say",
    {},
    { headers: pairs(["content-type", "application/json"], ["x-phx-source", "emulator"]) },
  ],
  ["none", { reply_headers: [] }, { headers: [], redirectURL: "" }],
  [
    "its own",
    { status: 302, reply_headers: ["Location", "/there", "set-cookie", "***", "set-cookie", "***"] },
    { headers: pairs(["Location", "/there"], ["set-cookie", "***"], ["set-cookie", "***"]), redirectURL: "/there" },
  ],
])("an answer's headers: %s", (_, given, response) => {
  expect(entryOf(given).response).toMatchObject(response);
});

test("a HAR says who made it, and has the entries in the order of the lines", () => {
  expect(harOf([line({ n: 3 }), line({ n: 1 })])).toMatchObject({
    log: {
      version: "1.2",
      creator: { name: "phx-sim", version: expect.any(String) },
      entries: [
        { startedDateTime: "2026-01-02T00:00:00.000Z", time: 1.5, timings: { wait: 1.5 }, _phx_sim: { n: 3 } },
        { _phx_sim: { n: 1 } },
      ],
    },
  });
  expect(harOf([])).toMatchObject({ log: { entries: [] } });
});
