import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../../src/kernel/base/json.ts";
import { type ExportOptions, exportHar, writeEntry } from "../../../../src/lab/tapes/har/export.ts";
import { HarError } from "../../../../src/lab/tapes/har/import.ts";
import type { TapeProblem } from "../../../../src/lab/tapes/shapes.ts";
import { newFolder } from "../../../support/folder.ts";
import { fileOf, imported } from "./har-files.ts";
import { exchangeWith, foreignTape, rawWith, tapeOf } from "./tapes.ts";

async function exported(tape: string, options: ExportOptions = {}): Promise<string> {
  let text = "";
  for await (const chunk of exportHar(tape, options)) text += chunk;
  return text;
}

const partOf = (entry: JsonObject, part: "request" | "response"): JsonObject => {
  const found = entry[part];
  if (!isObject(found)) throw new Error(`no ${part}`);
  return found;
};

test("an exchange is a whole entry of HAR 1.2", () => {
  const entry = writeEntry(
    exchangeWith(
      {
        body: { json: { a: 1 } },
        headers: [
          ["content-type", "application/json"],
          ["Cookie", "a=1; b=2"],
        ],
      },
      {
        body: { text: "x" },
        headers: [
          ["Set-Cookie", "s=1; Path=/; HttpOnly; Secure; SameSite=Lax"],
          ["Location", "/y"],
        ],
      },
    ),
  );
  expect(entry).toEqual({
    startedDateTime: "2026-03-01T12:00:00.000Z",
    time: 30,
    request: {
      method: "POST",
      url: "https://us.i.posthog.com/flags/?v=2&v=%C3%A9",
      httpVersion: "HTTP/2.0",
      cookies: [],
      headers: [
        { name: "content-type", value: "application/json" },
        { name: "Cookie", value: "a=1; b=2" },
      ],
      queryString: [
        { name: "v", value: "2" },
        { name: "v", value: "é" },
      ],
      headersSize: -1,
      bodySize: 0,
      postData: { mimeType: "application/json", text: '{"a":1}' },
    },
    response: {
      status: 200,
      statusText: "OK",
      httpVersion: "HTTP/2.0",
      cookies: [],
      headers: [
        { name: "Set-Cookie", value: "s=1; Path=/; HttpOnly; Secure; SameSite=Lax" },
        { name: "Location", value: "/y" },
      ],
      content: { size: 1, mimeType: "x-unknown", text: "x" },
      redirectURL: "/y",
      headersSize: -1,
      bodySize: 0,
    },
    cache: {},
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: 20.5, receive: 9.5 },
    _phx_sim: { i: 1, route: "flags", complete: true, redacted: [], request_encodings: [], answer_encodings: [] },
  });
});

describe("bodies", () => {
  const b64 = Buffer.from([0xff, 0, 1]).toString("base64");
  const gzip = { bytes: 9, encodings: ["gzip"] };
  const packed: [string, string][] = [
    ["Content-Encoding", "gzip"],
    ["Content-Length", "9"],
    ["X", "y"],
  ];

  test.each<[string, Parameters<typeof exchangeWith>[0], JsonObject]>([
    ["no body", {}, { bodySize: 0 }],
    [
      "decoded: the headers that reported how it was packed are gone",
      { body: { text: "a=1" }, wire: gzip, headers: packed },
      {
        headers: [{ name: "X", value: "y" }],
        postData: { mimeType: "", text: "a=1", comment: "decoded: gzip" },
        bodySize: 9,
      },
    ],
    [
      "bytes, for which HAR has no place",
      { body: { b64 } },
      { _requestBodyStatus: "discarded:not-representable", _content: { text: b64, size: 3, encoding: "base64" } },
    ],
    ["too large", { body: { omitted: "too_large", bytes: 9 } }, { _requestBodyStatus: "discarded:too-large" }],
    ["not kept", { body: { omitted: "excluded", bytes: 9 } }, { _requestBodyStatus: "discarded:not-kept:excluded" }],
    [
      "packed in a way that could not be undone",
      { body: { b64 }, wire: { ...gzip, trouble: "gzip: damaged" }, headers: packed },
      { headers: packed.map(([name, value]) => ({ name, value })) },
    ],
  ])("request: %s", (_, req, expected) => {
    const request = partOf(writeEntry(exchangeWith(req)), "request");
    expect(request).toMatchObject(expected);
    expect("postData" in request).toBe("postData" in expected);
    expect("params" in request).toBe(false);
  });

  test.each<[string, Parameters<typeof exchangeWith>[1], JsonObject]>([
    ["bytes", { body: { b64 } }, { size: 3, mimeType: "application/json", text: b64, encoding: "base64" }],
    ["text beyond ASCII", { body: { text: "é" } }, { size: 2, mimeType: "application/json", text: "é" }],
    ["none", {}, { size: 0, mimeType: "application/json" }],
    [
      "not kept",
      { body: { omitted: "redacted", bytes: 7 } },
      { size: 7, mimeType: "application/json", comment: "not kept: redacted" },
    ],
  ])("answer: %s", (_, res, content) => {
    expect(partOf(writeEntry(exchangeWith({}, res)), "response").content).toEqual(content);
  });

  test("no answer is status 0", () => {
    const entry = writeEntry(exchangeWith({}, null, { complete: false, aborted: "client" }));
    expect(entry.response).toMatchObject({ status: 0, _error: "net::ERR_ABORTED", content: { size: 0 } });
    expect(entry.time).toBe(0);
  });
});

describe("a tape", () => {
  const big = JSON.stringify({ results: ["x".repeat(100_000)] });

  test("goes out and comes back", async () => {
    const tape = await tapeOf([
      rawWith({ method: "POST", url: "https://us.i.posthog.com/flags/?v=2", body: gzipSync('{"distinct_id":"u"}') }),
      rawWith({}, { body: Buffer.from(big), headers: ["Content-Type", "application/json", "Content-Length", "3"] }),
      rawWith({}, { body: gzipSync("zipped"), headers: ["Content-Encoding", "gzip", "Content-Type", "text/plain"] }),
      rawWith({ method: "POST", body: Buffer.from([0xff, 0xfe, 0xfd]) }, { body: Buffer.from([0x89, 0xff]) }),
      rawWith({ answer: null }),
    ]);
    const { exchanges, problems } = await imported(fileOf(await exported(tape)));
    expect(problems).toEqual([]);
    expect(exchanges.map(({ method, url, body }) => [method, url, `${body}`])).toEqual([
      ["POST", "https://us.i.posthog.com/flags/?v=2", '{"distinct_id":"u"}'],
      ["GET", "https://us.posthog.com/api/users/@me/", ""],
      ["GET", "https://us.posthog.com/api/users/@me/", ""],
      ["POST", "https://us.posthog.com/api/users/@me/", `${Buffer.from([0xff, 0xfe, 0xfd])}`],
      ["GET", "https://us.posthog.com/api/users/@me/", ""],
    ]);
    expect(exchanges.map(({ answer }) => answer && `${answer.body}`)).toEqual([
      "{}",
      big,
      "zipped",
      `${Buffer.from([0x89, 0xff])}`,
      null,
    ]);
    expect(exchanges.map(({ answer }) => answer && [answer.ttfb, answer.total])).toEqual([
      ...Array(4).fill([5, 8]),
      null,
    ]);
  });

  test("without exchanges is a HAR without entries", async () => {
    expect(JSON.parse(await exported(foreignTape([])))).toMatchObject({
      log: { version: "1.2", creator: { name: "phx-sim" }, entries: [] },
    });
  });

  test("damaged lines are reported and left out", async () => {
    const problems: TapeProblem[] = [];
    const tape = foreignTape([exchangeWith(), { i: "one" }, exchangeWith({}, {}, { i: 2 })]);
    const text = await exported(tape, { onProblem: (it) => problems.push(it) });
    expect(JSON.parse(text).log.entries).toHaveLength(2);
    expect(problems).toMatchObject([{ line: 3 }]);
  });
});

describe("secrets", () => {
  const key = `phx_${"a1B2c3D4".repeat(4)}`;

  test.each<[string, object]>([
    ["a header", exchangeWith({ headers: [["Authorization", `Bearer ${key}`]] })],
    ["the address", exchangeWith({ url: `https://us.posthog.com/api/?personal_api_key=${key}` })],
    ["a body", exchangeWith({ body: { json: { deep: [{ note: `it is ${key}` }] } } })],
    ["an answer's cookie", exchangeWith({}, { headers: [["Set-Cookie", "session=hunter2hunter2"]] })],
  ])("in %s of another user's tape do not get out", async (_, exchange) => {
    const text = await exported(foreignTape([exchange]));
    expect(text).not.toContain(key);
    expect(text).not.toContain("hunter2");
    expect(text).toContain("{{secret:");
  });

  test.each<[string, () => string]>([["in the header", () => foreignTape([], { creator: key })]])(
    "%s: nothing is exported, unless it is forced",
    async (_, make) => {
      const tape = make();
      await expect(exported(tape)).rejects.toThrow(HarError);
      await expect(exported(tape)).rejects.toThrow(/looks like a key/);
      expect(await exported(tape, { unsafe: true })).toContain(key);
    },
  );

  test("in a route: it is redacted", async () => {
    const tape = foreignTape([exchangeWith({}, {}, { route: `GET /${key}` })]);
    expect(await exported(tape)).not.toContain(key);
  });
});

test.each<[string, string, RegExp]>([
  ["missing", "none.tape.ndjson", /no such file/],
  ["no tape", "text.ndjson", /is not a tape/],
  ["newer", "newer.ndjson", /newer|version/i],
])("a tape that is %s is refused", async (_, name, message) => {
  const folder = newFolder();
  writeFileSync(join(folder, "text.ndjson"), "hello\n");
  writeFileSync(join(folder, "newer.ndjson"), '{"tape":2}\n');
  await expect(exported(join(folder, name))).rejects.toThrow(message);
});
