import { truncateSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import type { RawBody, RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { HarError, importHar } from "../../../../src/lab/tapes/har/import.ts";
import { entryWith, fileOf, harWith, imported } from "./har-files.ts";

const bytesOf = (body: RawBody | undefined): Buffer => {
  if (!Buffer.isBuffer(body)) throw new Error(`not kept: ${JSON.stringify(body)}`);
  return body;
};

const importing = (...entries: Json[]) => imported(fileOf(harWith(entries)));

async function only(entry: JsonObject): Promise<RawExchange & { codes: string[] }> {
  const { exchanges, problems } = await importing(entry);
  const [exchange] = exchanges;
  if (!exchange || exchanges.length !== 1) throw new Error(JSON.stringify(problems));
  return { ...exchange, codes: problems.map(({ code }) => code) };
}

const header = (name: string, value: string) => ({ name, value });
const gzipped = gzipSync('{"batch":[]}');
/** What Python makes of bytes: those that are no UTF-8 become lone surrogates. */
const surrogateEscaped = (bytes: Buffer): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join("");

test("an entry becomes an exchange", async () => {
  expect(await only(entryWith())).toEqual({
    at: Date.parse("2026-03-01T12:00:00Z"),
    method: "POST",
    url: "https://us.i.posthog.com/flags/?v=2",
    http: "1.1",
    headers: ["Content-Type", "application/json"],
    body: Buffer.from('{"token":"phc_a"}'),
    answer: {
      status: 200,
      reason: "OK",
      http: "1.1",
      headers: ["content-type", "application/json"],
      body: Buffer.from("{}"),
      ttfb: 21,
      total: 30,
    },
    codes: [],
  });
});

describe("what tools write", () => {
  test.each<[string, JsonObject, object]>([
    ["a fragment", { url: "https://eu.i.posthog.com/e/#here?x" }, { url: "https://eu.i.posthog.com/e/" }],
    ["a method in lower case", { method: "post" }, { method: "POST" }],
    ["h2", { httpVersion: "h2" }, { http: "2.0" }],
    ["http/2.0", { httpVersion: "http/2.0" }, { http: "2.0" }],
    ["h3", { httpVersion: "h3-29" }, { http: "3.0" }],
    ["no version", { httpVersion: "" }, { http: "1.1" }],
    ["no version at all", { httpVersion: null }, { http: "1.1" }],
    [
      "pseudo-headers",
      { headers: [header(":authority", "x"), header(":path", "/"), header("a", "1")] },
      { headers: ["a", "1"] },
    ],
    [
      "names that are none",
      { headers: [header("a b", "1"), header("", "1"), header("ok", "2")] },
      { headers: ["ok", "2"] },
    ],
    ["headers that are no list", { headers: { a: 1 } }, { headers: [] }],
    ["rows that are no objects", { headers: [null, 3, "x", header("ok", "1")] }, { headers: ["ok", "1"] }],
    ["values joined by line breaks", { headers: [header("x", "1\n2")] }, { headers: ["x", "1", "x", "2"] }],
    ["a number as value", { headers: [{ name: "x", value: 5 }] }, { headers: ["x", "5"] }],
    [
      "the packing of a body that is unpacked",
      { headers: [header("Content-Encoding", "br"), header("Content-Length", "9")] },
      { headers: ["Content-Length", "17"] },
    ],
    ["the transfer of an unpacked body", { headers: [header("Transfer-Encoding", "chunked")] }, { headers: [] }],
    [
      "headers with a similar name",
      {
        headers: ["x-content-encoding", "content-encoding-x", "x-content-length", "content-length-x"].map((it) =>
          header(it, "9"),
        ),
      },
      {
        headers: [
          "x-content-encoding",
          "9",
          "content-encoding-x",
          "9",
          "x-content-length",
          "9",
          "content-length-x",
          "9",
        ],
      },
    ],
    [
      "the length of one byte",
      { postData: { text: "1" }, headers: [header("content-length", "9")] },
      { headers: ["content-length", "1"] },
    ],
    [
      "the length of no body",
      { postData: null, bodySize: 0, headers: [header("content-length", "9")] },
      { headers: ["content-length", "9"] },
    ],
    ["blanks around the method", { method: " patch " }, { method: "PATCH" }],
    ["a method of one letter", { method: "m" }, { method: "M" }],
    ["a method of 32 letters", { method: "M".repeat(32) }, { method: "M".repeat(32) }],
    ["blanks around the address", { url: " https://us.i.posthog.com/e/ " }, { url: "https://us.i.posthog.com/e/" }],
  ])("%s", async (_, request, expected) => {
    expect(await only(entryWith(request))).toMatchObject(expected);
  });

  test.each<[status: unknown, answered: boolean]>([
    [100, true],
    [999, true],
    [99, false],
    [1000, false],
    [200.5, false],
    [0, false],
    [null, false],
  ])("the status %j", async (status, isAnswered) => {
    const { answer } = await only(entryWith({}, { status: status as Json, httpVersion: "h2" }));
    expect(answer).toEqual(isAnswered ? expect.objectContaining({ status, http: "2.0" }) : null);
  });

  test.each<[JsonObject, JsonObject, object]>([
    [{ status: 0, _error: "net::ERR_BLOCKED_BY_CLIENT" }, {}, { codes: ["blocked"] }],
    [{ status: 0, _failureText: "net::err_blocked_by_client" }, {}, { codes: ["blocked"] }],
    [{ status: 0 }, { _error: "NS_BINDING_ABORTED" }, { codes: [], aborted: "client" }],
    [{ status: 0, _failureText: "Cancelled" }, {}, { codes: [], aborted: "client" }],
    [{ status: 0, _error: "net::ERR_CONNECTION_RESET" }, {}, { codes: [], aborted: "upstream" }],
    [{ status: 0, _failureText: "read ECONNRESET" }, {}, { codes: [], aborted: "upstream" }],
    [{ status: 0 }, { _error: "net::ERR_EMPTY_RESPONSE" }, { codes: [], aborted: "upstream" }],
    [{ status: 0, _error: "net::ERR_CONNECTION_REFUSED" }, {}, { codes: [], aborted: undefined }],
    [{ status: 0, _error: "net::ERR_FAILED" }, { _error: "aborted" }, { aborted: undefined }],
    [{ status: 200 }, { _error: "aborted" }, { aborted: undefined }],
  ])("a failure in %j and %j", async (response, rest, expected) => {
    const { aborted, codes } = await only(entryWith({}, response, rest));
    expect({ aborted, codes }).toMatchObject(expected);
  });

  test("cookies joined by line breaks are several again", async () => {
    const { answer } = await only(entryWith({}, { headers: [header("set-cookie", "a=1; Path=/\nb=2")] }));
    expect(answer?.headers).toEqual(["set-cookie", "a=1; Path=/", "set-cookie", "b=2"]);
  });

  test.each<[string, JsonObject, number, number, string[]]>([
    ["negative times", { timings: { send: -5, wait: 10, receive: -3 }, time: 4 }, 10, 10, ["odd_times"]],
    ["times as text", { timings: { send: "1", wait: "2.5", receive: "1" }, time: "7" }, 3.5, 7, []],
    ["no times", { timings: null, time: null }, 0, 0, []],
    ["ssl within connect", { timings: { connect: 10, ssl: 8, send: 0, wait: 5, receive: 0 }, time: 15 }, 15, 15, []],
  ])("%s", async (_, rest, ttfb, total, codes) => {
    const found = await only(entryWith({}, {}, rest));
    expect(found.answer).toMatchObject({ ttfb, total });
    expect(found.codes).toEqual(codes);
  });

  test("an entry without a time began with the one before", async () => {
    const { exchanges, problems } = await importing(entryWith(), entryWith({}, {}, { startedDateTime: "soon" }));
    expect(exchanges.map(({ at }) => at)).toEqual([1772366400000, 1772366400000]);
    expect(problems).toMatchObject([{ entry: 2, code: "no_start", skipped: false }]);
  });
});

describe("request bodies", () => {
  const base64 = gzipped.toString("base64");
  const form = [header("name", "a b&c"), header("data", "é")];
  test.each<[string, JsonObject, Buffer | string]>([
    ["text", { postData: { text: "{}" } }, "{}"],
    ["text beside empty params", { postData: { text: "a=1", params: [] } }, "a=1"],
    [
      "params without text",
      { postData: { mimeType: "application/x-www-form-urlencoded", params: form } },
      "name=a+b%26c&data=%C3%A9",
    ],
    ["params beside an empty text", { postData: { text: "", params: form } }, "name=a+b%26c&data=%C3%A9"],
    ["base64 as later proposals have it", { postData: { text: base64, encoding: "base64" } }, gzipped],
    ["base64 as our journal has it", { postData: { text: base64, _encoding: "base64" } }, gzipped],
    [
      "base64 as HTTP Toolkit has it",
      { postData: null, _content: { text: base64, encoding: "base64", size: 1 } },
      gzipped,
    ],
    ["bytes as characters", { postData: { text: gzipped.toString("latin1") } }, gzipped],
    ["bytes as Python escapes them", { postData: { text: surrogateEscaped(gzipped) } }, gzipped],
    ["none", { postData: null, bodySize: 0 }, ""],
    ["none, size not known", { postData: null, bodySize: -1 }, ""],
  ])("%s", async (_, request, expected) => {
    const { body, codes } = await only(entryWith(request));
    expect(bytesOf(body)).toEqual(typeof expected === "string" ? Buffer.from(expected) : expected);
    expect(codes).toEqual([]);
  });

  test.each<[string, JsonObject, string, number]>([
    ["that are missing", { postData: null, bodySize: 120 }, "no_request_body", 120],
    [
      "that are missing, by their header",
      { postData: null, bodySize: -1, headers: [header("content-length", "44")] },
      "no_request_body",
      44,
    ],
    ["whose bytes are lost", { postData: { text: "\u001f\ufffd\b\u0000" } }, "damaged_body", 6],
  ])("%s", async (_, request, code, bytes) => {
    const { body, codes } = await only(entryWith(request));
    expect({ body, codes }).toEqual({ body: { omitted: "not_kept", bytes }, codes: [code] });
  });

  test("gzip keeps the header that names it", async () => {
    const { body, headers } = await only(
      entryWith({
        headers: [header("content-encoding", "gzip"), header("content-length", "1")],
        postData: { text: gzipped.toString("latin1") },
      }),
    );
    expect(gunzipSync(bytesOf(body)).toString()).toBe('{"batch":[]}');
    expect(headers).toEqual(["content-encoding", "gzip", "content-length", `${gzipped.length}`]);
  });

  test("a multipart form is put together again", async () => {
    const { body } = await only(
      entryWith({
        headers: [header("content-type", "multipart/form-data; boundary=XX")],
        postData: { params: [header("a", "1"), header('b"', "2")] },
      }),
    );
    const part = (name: string, value: string) =>
      `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    expect(bytesOf(body).toString()).toBe(`${part("a", "1")}${part("b%22", "2")}--XX--\r\n`);
  });
});

describe("answers", () => {
  const png = Buffer.from([0x89, 0x50, 0xff, 0x00]);
  test.each<[string, JsonObject, Buffer]>([
    ["base64", { content: { text: png.toString("base64"), encoding: "base64" } }, png],
    ["base64 in capitals", { content: { text: png.toString("base64"), encoding: "BASE64" } }, png],
    ["wrong sizes", { content: { text: "whole", size: 0 }, bodySize: -1, _transferSize: 3 }, Buffer.from("whole")],
    ["empty", { content: { size: 0, text: "" } }, Buffer.alloc(0)],
    ["204 with a size", { status: 204, content: { size: 9 } }, Buffer.alloc(0)],
    ["304 from a cache", { status: 304, content: { size: 900 } }, Buffer.alloc(0)],
    ["no content at all", { content: null, bodySize: -1 }, Buffer.alloc(0)],
  ])("%s", async (_, response, expected) => {
    const { answer, codes } = await only(entryWith({}, response));
    expect(bytesOf(answer?.body)).toEqual(expected);
    expect(codes).toEqual([]);
  });

  test.each<[string, JsonObject, RawBody, string]>([
    ["that are missing", { content: { size: 70 } }, { omitted: "not_kept", bytes: 70 }, "no_answer_body"],
    [
      "that are empty against their size",
      { content: { size: 7, text: "" } },
      { omitted: "not_kept", bytes: 7 },
      "no_answer_body",
    ],
    [
      "in files of their own",
      { content: { size: 7, _file: "../../x" } },
      { omitted: "not_kept", bytes: 7 },
      "body_elsewhere",
    ],
    [
      "that only claim to be base64",
      { content: { text: "{é}", encoding: "base64" } },
      Buffer.from("{é}"),
      "odd_base64",
    ],
  ])("%s", async (_, response, body, code) => {
    const found = await only(entryWith({}, response));
    expect({ body: found.answer?.body, codes: found.codes }).toEqual({ body, codes: [code] });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["status 0", { status: 0 }, {}],
    ["status -1", { status: -1 }, {}],
    ["a status that is none", { status: "OK" }, {}],
    ["no answer in the entry", {}, { response: null }],
  ])("%s: no answer came", async (_, response, rest) => {
    expect(await only(entryWith({}, response, rest))).toMatchObject({ answer: null });
  });

  test("who gave up is known where it is reported", async () => {
    expect(await only(entryWith({}, { status: 0, _error: "net::ERR_ABORTED" }))).toMatchObject({ aborted: "client" });
    const blocked = await only(entryWith({}, { status: 0, _error: "net::ERR_BLOCKED_BY_CLIENT" }));
    expect(blocked.codes).toEqual(["blocked"]);
    expect(blocked.aborted).toBeUndefined();
  });
});

describe("what is imported", () => {
  const at = (url: string, method = "GET") => entryWith({ url, method });
  test.each<[string, boolean]>([
    ["https://us.i.posthog.com/anything", true],
    ["https://posthog.com/", true],
    ["https://eu-assets.i.posthog.com/static/array.js", true],
    ["https://evil-posthog.com/", false],
    ["https://posthog.com.evil.test/", false],
    ["https://my.app/ingest/i/v0/e/?ip=1", true],
    ["https://my.app/ingest/flags?v=2", true],
    ["https://my.app/static/array.js", true],
    ["https://my.app/static/app.js", false],
    ...[
      ...["e", "ai", "ai/batch", "general", "analytics/events"].map((it) => `i/v1/${it}`),
      ...["e", "s", "batch", "capture", "engage", "track", "flags", "decide"],
      ...["recorder", "posthog-recorder", "surveys", "toolbar", "dead-clicks-autocapture"].map(
        (it) => `static/${it}.js`,
      ),
      ...["exception-autocapture", "web-vitals", "lazy-recorder"].map((it) => `static/1.449.0/${it}.js`),
      ...["feature_flag/local_evaluation", "surveys", "product_tours", "early_access_features"].map(
        (it) => `api/${it}`,
      ),
      ...["flags/definitions", "api/web_experiments", "api/users/@me"],
      ...["projects", "environments", "organizations"].map((it) => `api/${it}/1`),
      ...["@current", "0190aaaa-0000-7000-8000-000000000001"].map((it) => `api/organizations/${it}`),
    ].flatMap((it): [string, boolean][] => [
      [`https://my.app/below/${it}`, true],
      [`https://my.app/${it}${it.endsWith(".js") ? "" : "/"}?a=1`, true],
      [`https://my.app/${it}x`, false],
    ]),
    ["https://my.app/i/vx/e/", true],
    ["https://my.app/i/vx/ai/", false],
    ["https://my.app/static/v1/recorder.js", false],
    ["https://my.app/api/projects/x0190aaaa-0000-7000-8000-000000000001/", false],
    ["https://my.app/api/projects/0190aaaa-0000-7000-8000-00000000000/", false],
    ["https://my.app/ingest/array/phc_x/config.js", true],
    ["http://localhost:8000/api/projects/@current/dashboards/", true],
    ["http://localhost:8000/api/projects/mine/", false],
    ["https://my.app/s/?a", true],
    ["https://my.app/shop", false],
    ["https://my.app/", false],
  ])("%s: %s", async (url, wanted) => {
    const { exchanges, problems } = await importing(at(url));
    expect(exchanges.length === 1).toBe(wanted);
    expect(problems).toMatchObject(wanted ? [] : [{ entry: 1, code: "elsewhere", skipped: true }]);
  });

  test("--all takes every entry", async () => {
    const headers = [header("Access-Control-Request-Method", "POST")];
    const preflight = entryWith({ method: "OPTIONS", url: "http://x.test/z", headers });
    const { exchanges } = await imported(
      fileOf(harWith([at("https://my.app/shop"), at("http://x.test/y"), preflight])),
      true,
    );
    const urls = ["https://my.app/shop", "http://x.test/y", "http://x.test/z"];
    expect(exchanges.map(({ url }) => url)).toEqual(urls);
  });

  test.each([
    ["POST", "access-control-request-method"],
    ["OPTIONS", "accept"],
    ["OPTIONS", "x-access-control-request-method"],
    ["OPTIONS", "access-control-request-methods"],
  ])("%s with %s is no preflight", async (method, name) => {
    const { exchanges } = await importing(entryWith({ method, headers: [header(name, "POST")] }));
    expect(exchanges).toMatchObject([{ method }]);
  });

  test("an address in a query is no websocket", async () => {
    const url = "https://us.i.posthog.com/e/?from=wss://a";
    expect((await importing(at(url))).exchanges).toMatchObject([{ url }]);
  });

  test.each<[string, Json]>([
    ["websocket", at("wss://us.posthog.com/ws")],
    ["websocket", entryWith({ method: "GET" }, { status: 101 })],
    ["websocket", entryWith({}, {}, { _webSocketMessages: [] })],
    ["websocket", at("WSS://us.posthog.com/ws")],
    ["websocket", entryWith({}, {}, { _resourceType: "websocket" })],
    ["tunnel", at("https://us.i.posthog.com:443", "CONNECT")],
    ["tunnel", at("us.i.posthog.com:443", "CONNECT")],
    ["not_http", at("Web2+app://us.i.posthog.com/e/")],
    ["no_request", at("/flags?from=about:blank")],
    [
      "preflight",
      entryWith({
        method: "OPTIONS",
        headers: [header("accept", "*/*"), header("access-control-request-method", "POST")],
      }),
    ],
    ["not_http", at("xhttp://us.i.posthog.com/e/")],
    ["no_request", entryWith({ method: "M".repeat(33) })],
    ["not_http", at("data:text/plain,posthog.com")],
    ["not_http", at("chrome-extension://x/posthog.js")],
    ["preflight", entryWith({ method: "OPTIONS", headers: [header("Access-Control-Request-Method", "POST")] })],
    ["no_request", at("")],
    ["no_request", at("/relative")],
    ["no_request", entryWith({ method: "" })],
    ["no_request", entryWith({ method: "GET / HTTP/1.1\r\nX: y" })],
    ["no_request", {}],
    ["no_request", { request: [] }],
    ["not_json", []],
  ])("%s is left out", async (code, entry) => {
    const { exchanges, problems } = await importing(entry, entryWith());
    expect(exchanges).toHaveLength(1);
    expect(problems).toMatchObject([{ entry: 1, code, skipped: true }]);
  });
});

describe("files", () => {
  test("a byte order mark does not matter", async () => {
    const file = fileOf(`\ufeff${harWith([entryWith()])}`);
    expect((await imported(file)).exchanges).toHaveLength(1);
    expect(importHar(file).creator).toBe("Tool 7");
  });

  test.each<[string, string | Buffer, RegExp]>([
    ["empty", "", /it is empty/],
    ["not JSON", "<html></html>", /it does not begin with \{/],
    ["broken JSON", "{nope}", /it is not JSON/],
    ["another JSON", '{"log":{"entries":{}}}', /no list log\.entries/],
    ["a list elsewhere", '{"entries":[{"request":{}}]}', /no list log\.entries/],
    ["cut off at once", '{"log":{"entries":[{"request":', /was cut off/],
    ["a zip", Buffer.from([0x50, 0x4b, 3, 4, 0]), /zip archive/],
    ["gzip", gzipSync("{}"), /compressed with gzip/],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le"), /UTF-16/],
  ])("%s is refused", async (_, content, message) => {
    await expect(imported(fileOf(content))).rejects.toThrow(HarError);
    await expect(imported(fileOf(content))).rejects.toThrow(message);
  });

  test("a HAR without entries is sound", async () => {
    expect(await imported(fileOf(harWith([])))).toEqual({ exchanges: [], problems: [] });
  });

  test("a file that was cut off is refused, without quoting it", async () => {
    const text = harWith([entryWith(), entryWith()]);
    await expect(imported(fileOf(text.slice(0, -40)))).rejects.toThrow(
      /^it is not JSON, or was cut off; export it again$/,
    );
  });

  test("a file of more than 256 MB is refused before it is read", async () => {
    const file = fileOf(harWith([entryWith()]));
    truncateSync(file, 256 * 1024 * 1024 + 1);
    await expect(imported(file)).rejects.toThrow(/^it is larger than 256 MB; export fewer requests/);
  });

  test("brackets and quotes in texts are texts", async () => {
    const url = 'https://us.i.posthog.com/e/?q={"a":["\\"]}}],"entries":[';
    const log: JsonObject = { comment: '"entries":[{', pages: [{ id: "[{", entries: [{}] }] };
    const { exchanges, problems } = await imported(fileOf(harWith([entryWith({ url })], log)));
    expect(problems).toEqual([]);
    expect(exchanges.map((it) => it.url)).toEqual([url]);
  });

  test("keys that name prototypes are only keys", async () => {
    const text = harWith([entryWith()]).replace('"cache":{}', '"__proto__":{"status":500},"constructor":1');
    expect((await imported(fileOf(text))).exchanges).toMatchObject([{ answer: { status: 200 } }]);
  });

  test("the creator may stand after the entries", async () => {
    const har = { log: { entries: [entryWith()], browser: { name: "Firefox", version: "148" } } };
    expect(importHar(fileOf(JSON.stringify(har))).creator).toBe("Firefox 148");
    expect(importHar(fileOf('{"log":{"entries":[]}}')).creator).toBe("HAR");
  });
});
