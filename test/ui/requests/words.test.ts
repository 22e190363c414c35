import { describe, expect, test } from "vitest";
import { fixFor } from "../../../src/kernel/http/rejection-fixes.ts";
import { decodeChain } from "../../../ui/api/requests.ts";
import { harName, harPath } from "../../../ui/views/requests/copies.ts";
import { bytesFrom, hexLines, mostBytes, rawView } from "../../../ui/views/requests/decoding.ts";
import { reasonsIn, stepFrom } from "../../../ui/views/requests/list-filter.ts";
import {
  barShare,
  eventsText,
  msText,
  readSource,
  sourceInFull,
  verdictOf,
} from "../../../ui/views/requests/row-texts.ts";
import { projectFoundBy, sdkOf } from "../../../ui/views/requests/sender.ts";
import { requestOf } from "./request.ts";

describe("what answered", () => {
  test.each([
    ["emulator", null, "emulator", "emulator"],
    ["script", null, "script", "script"],
    ["upstream", null, "upstream", "upstream"],
    ["fault", "slow", "fault", "fault slow"],
    ["emulator", "slow", "fault", "fault slow"],
    ["tape:check:out#12", null, "tape", "tape check:out #12"],
    ["tape:checkout", null, "tape", "tape checkout"],
    ["constructor", null, "other", "constructor"],
  ])("%s, fault %s: %s", (source, fault, kind, text) => {
    expect(readSource({ source, fault })).toMatchObject({ kind, text });
  });

  test("a tape's exchange is known by its number", () => {
    expect(readSource({ source: "tape:a#7", fault: null }).tape).toEqual({ name: "a", i: 7 });
  });

  test.each([
    [{ scripted: true, fault: null, source: null }, "script"],
    [{ scripted: false, fault: "x", source: null }, "fault"],
    [{ scripted: false, fault: null, source: "tape:a#1" }, "tape:a#1"],
    [{ scripted: false, fault: null, source: null }, "emulator"],
  ])("in full: %j is %s", (given, source) => {
    expect(sourceInFull(given).source).toBe(source);
  });
});

const row = { outcome: "answered", unmatched: false, reason: null, status: 200, dropped: 0 } as const;

test.each([
  [row, "good", "answered", undefined],
  [{ ...row, dropped: 2 }, "bad", "2 dropped", "dropped"],
  [{ ...row, status: 404 }, "odd", "answered", undefined],
  [{ ...row, status: 0 }, "bad", "no response", undefined],
  [{ ...row, outcome: "rejected", reason: "throttled", status: 429 }, "bad", "throttled", "rejected"],
  [
    { ...row, outcome: "rejected", reason: "not_found", unmatched: true, status: 404 },
    "bad",
    "not emulated",
    "rejected",
  ],
] as const)("%j is %s", (given, tone, text, of) => {
  expect(verdictOf(given)).toEqual({ tone, text, of });
});

test.each([
  [{ events: 0, dropped: 0 }, ""],
  [{ events: 3, dropped: 0 }, "3"],
  [{ events: 3, dropped: 1 }, "3, 1 dropped"],
])("events %j", (given, text) => {
  expect(eventsText(given)).toBe(text);
});

test.each([
  [0.04, "0.0 ms"],
  [9.96, "10.0 ms"],
  [45.2, "45 ms"],
  [1_240, "1.24 s"],
])("%d ms", (ms, text) => {
  expect(msText(ms)).toBe(text);
});

test("bars grow with the time and end at their end", () => {
  const shares = [0, 1, 10, 100, 9_999, 1e9].map(barShare);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
  expect(barShare(-5)).toBe(0);
});

describe("decoding", () => {
  test.each([
    [{}, []],
    [{ body: {} }, ["no content type", "JSON"]],
    [
      { body: {}, decode_steps: ["gzip", "base64"], headers: [["Content-Type", "text/plain; charset=UTF-8"]] },
      ["text/plain", "gzip", "base64", "JSON"],
    ],
    [{ body: {}, decode_steps: ["query", "base64"] }, ["query", "base64", "JSON"]],
    [{ raw: { base64: "AA==" }, decode_steps: ["gzip"] }, ["no content type", "gzip", "not JSON"]],
  ] as const)("%j", (over, chain) => {
    expect(decodeChain(requestOf(over))).toEqual(chain);
  });

  test.each([
    [null, { is: "none" }],
    [{ text: "x" }, { is: "text", text: "x" }],
    [
      { omitted: "too_large", bytes: 9 },
      { is: "omitted", why: "it is too large", bytes: 9 },
    ],
    [
      { omitted: "constructor", bytes: 9 },
      { is: "omitted", why: "constructor", bytes: 9 },
    ],
    [{ base64: "H4s=" }, { is: "bytes", bytes: 2, lines: [{ offset: "000000", hex: "1f 8b", text: "··" }] }],
    [{ base64: "no base64!" }, { is: "bytes", bytes: 0, lines: [] }],
  ])("raw %j", (raw, expected) => {
    expect(rawView({ raw })).toEqual(expected);
  });

  test("long bodies are shown in part", () => {
    const lines = hexLines(new Uint8Array(mostBytes + 100).fill(0x41));
    expect(lines).toHaveLength(mostBytes / 16);
    expect(lines[1]).toMatchObject({ offset: "000010", text: "A".repeat(16) });
    expect(bytesFrom("QUI=")).toEqual(new Uint8Array([0x41, 0x42]));
  });
});

describe("who", () => {
  const event = (properties: object) => ({ properties }) as never;
  test.each([
    [{ carried: [event({ $lib: "web", $lib_version: "1.2" })] }, "posthog-js 1.2"],
    [{ carried: [event({ $lib: "posthog-python" })] }, "posthog-python"],
    [{ carried: [event({ $lib: "constructor" })] }, "constructor"],
    [{ headers: [["User-Agent", "posthog-node/5.1"]] }, "posthog-node 5.1"],
    [{ headers: [["user-agent", "curl/8"]] }, undefined],
  ] as const)("%j", (over, expected) => {
    expect(sdkOf(requestOf(over))).toBe(expected);
  });

  test.each([
    [{ project_header: "2", body: { api_key: "phc_a" } }, "its X-Phx-Project header", "2"],
    [{ target: "/api/projects/7/dashboards/?x=1" }, "the project in its path", "7"],
    [{ target: "/array/phc_b/config" }, "the key in its path", "phc_b"],
    [{ body: { api_key: "phc_a" } }, "the key in its body", "phc_a"],
    [{ body: { properties: { token: "phc_c" } } }, "the key in its body", "phc_c"],
    [{ body: { batch: [{ token: "phc_d" }] } }, "the key of its first event", "phc_d"],
    [{ body: [{ api_key: "phc_e" }] }, "the key of its first event", "phc_e"],
    [{ target: "/e/?token=phc_f" }, "the key in its query", "phc_f"],
    [{ headers: [["Authorization", "Bearer phx_***"]] }, "its Authorization header", "Bearer phx_***"],
  ] as const)("project of %j", (over, where, value) => {
    expect(projectFoundBy(requestOf(over as object))).toEqual({ where, value });
  });

  test("a request that names no project", () => {
    expect(projectFoundBy(requestOf({ body: { api_key: 5 } }))).toBeUndefined();
  });
});

test.each([
  ["invalid_api_key", /^use the project key phc_x \(/],
  ["not_found", /^$/],
  ["tape_miss", /on-miss emulate/],
  ["constructor", /^$/],
])("fix for %s", (reason, expected) => {
  expect(fixFor(reason, "phc_x")).toMatch(expected);
});

test("steps through a list with gaps in its numbers", () => {
  const numbers = [9, 7, 3];
  const rows = {
    at: (index: number) => (numbers[index] === undefined ? undefined : { n: numbers[index], reason: null }),
    indexOf: (n: number) => numbers.indexOf(n),
  };
  expect([stepFrom(rows, undefined, 1), stepFrom(rows, 9, 1), stepFrom(rows, 3, 1)]).toEqual([9, 7, undefined]);
  expect([stepFrom(rows, 9, -1), stepFrom(rows, 3, -1), stepFrom(rows, 8, 1)]).toEqual([undefined, 7, 9]);
});

test("reasons are reported once each", () => {
  const rows = ["a", null, "b", "a"].map((reason) => ({ reason }));
  expect(reasonsIn({ at: (index) => rows[index] })).toEqual(["a", "b"]);
});

test.each([
  [{}, "requests.har?limit=10000", "phx-sim.har"],
  [
    { filter: "is:rejected", project: 2, from: 3, to: 5 },
    "requests.har?limit=10000&filter=is%3Arejected&project=2&since=2&until=5",
    "phx-sim.har",
  ],
  [{ from: 4, to: 4 }, "requests.har?limit=10000&since=3&until=4", "phx-sim-request-4.har"],
])("HAR of %j", (request, path, name) => {
  expect([harPath(request), harName(request)]).toEqual([path, name]);
});
