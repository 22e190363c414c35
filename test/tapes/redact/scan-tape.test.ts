import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../../src/tapes/format/exchange.ts";
import { TapeError } from "../../../src/tapes/format/tape-error.ts";
import { createRedactor } from "../../../src/tapes/redact/redactor.ts";
import { scanBytes, scanExchange, scanText } from "../../../src/tapes/redact/scan.ts";
import { type SecretFinding, scanTape } from "../../../src/tapes/redact/scan-tape.ts";
import { exchangeWith } from "./exchanges.ts";

const header = {
  tape: 1,
  id: "a",
  created: "2026-01-01T00:00:00Z",
  creator: "x",
  upstream: null,
  redaction: "default",
  noise: [],
};
const bad = exchangeWith({
  headers: [["Authorization", "Bearer phx_abcdef"]],
  body: { json: { a: [{ password: "hunter2" }] } },
});

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "scan-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, ...lines: unknown[]): string => {
  const file = join(folder, name);
  writeFileSync(file, lines.map((it) => (typeof it === "string" ? it : `${JSON.stringify(it)}\n`)).join(""));
  return file;
};

const scan = async (file: string): Promise<SecretFinding[]> => {
  const all: SecretFinding[] = [];
  for await (const found of scanTape(file)) all.push(found);
  return all;
};

describe("scanTape", () => {
  test("a redacted tape has no findings; the same tape before it has", async () => {
    const file = write("a.tape.ndjson", header, createRedactor().redact(bad));
    expect(await scan(file)).toEqual([]);
    const raw = write("b.tape.ndjson", header, createRedactor().redact(bad), bad);
    expect(await scan(raw)).toEqual([
      { file: raw, line: 3, path: "req.headers.authorization", kind: "personal_api_key", detail: "phx_***" },
      { file: raw, line: 3, path: "req.body.a[0].password", kind: "password", detail: "***" },
    ]);
  });

  test("a key in a route, which redaction takes out as well", async () => {
    const url = "https://us.i.posthog.com/api/x/phx_abcdef";
    const old = { ...exchangeWith({ headers: [] }), route: "GET /api/x/phx_abcdef" };
    const exchange = { ...old, req: { ...old.req, method: "GET", url } };
    const file = write("a.tape.ndjson", header, exchange);
    expect((await scan(file)).map(({ path, kind }) => [path, kind])).toEqual([
      ["req.path", "personal_api_key"],
      ["route", "personal_api_key"],
    ]);
    expect(createRedactor().redact(exchange).route).toBe("GET /api/x/:key");
  });

  test("damaged lines, the header and later volumes count", async () => {
    const file = write("a.tape.ndjson", { ...header, noise: ["phx_abcdef"] }, `{"i":1,"token":"half-a-li`);
    const second = write("a.2.tape.ndjson", header, bad);
    expect((await scan(file)).map(({ file, line, kind }) => [file, line, kind])).toEqual([
      [file, 1, "personal_api_key"],
      [file, 2, "token"],
      [second, 2, "personal_api_key"],
      [second, 2, "password"],
    ]);
  });

  test("side files, compressed ones and ones that nobody can read", async () => {
    const file = write("a.tape.ndjson", header);
    const side = join(folder, "a.tape.d");
    mkdirSync(side);
    writeFileSync(join(side, "1"), gzipSync('{"password":"hunter2-and-more-of-it"}'));
    writeFileSync(join(side, "2"), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff]));
    writeFileSync(join(side, "3"), Buffer.from([0, 1, 2, 250]));
    expect(
      (await scan(file)).map(({ file, line, kind, detail }) => [file.slice(-1), line, kind, detail]),
    ).toEqual([
      ["1", 0, "password", "hunt***"],
      ["2", 0, "unreadable", "***"],
    ]);
  });

  test("a file that is not there", async () => {
    await expect(scan(join(folder, "none.tape.ndjson"))).rejects.toThrow(TapeError);
  });
});

describe("scanText", () => {
  test.each([
    ["", []],
    ["nothing at all", []],
    ["{{secret:token#1}} and phc_public_key", []],
    ["key phx_abcdef", ["personal_api_key"]],
    ["a=1&password=x1&b=2", ["password"]],
    ['{"a":{"token":"x"}}', ["token"]],
  ])("%s", (text, kinds) => expect(scanText(text).map((it) => it.kind)).toEqual(kinds));
});

test.each([
  [`password=${"a1".repeat(8)}`, "a1a1***"],
  [`password=${"a1".repeat(7)}b`, "***"],
  ["password=phx_abcd", "phx_***"],
  ["password=xphx_abcd", "***"],
])("%s is masked as %s", (text, detail) => {
  expect(scanText(text).map((it) => it.detail)).toEqual([detail]);
});

const damaged = Buffer.from([31, 139, 8, 255, 255, 255]);

test.each<[what: string, bytes: Buffer, kinds: string[]]>([
  ["a text", Buffer.from("key phx_abcdef"), ["personal_api_key"]],
  [
    "a secret in bytes",
    Buffer.concat([Buffer.from([0, 255]), Buffer.from("phx_abcdef")]),
    ["personal_api_key"],
  ],
  ["bytes", Buffer.from([0, 255, 1, 254]), []],
  ["damaged gzip", damaged, ["unreadable"]],
])("scanBytes: %s", (_, bytes, kinds) => {
  expect(scanBytes(bytes).map((it) => it.kind)).toEqual(kinds);
});

test("bodies that cannot be read are reported where they are", () => {
  const body = { b64: damaged.toString("base64") };
  const found = (exchange: Exchange) => scanExchange(exchange).map(({ path, kind }) => [path, kind]);
  expect(found(exchangeWith({ body }))).toEqual([["req.body", "unreadable"]]);
  expect(found(exchangeWith({ res: { body } }))).toEqual([["res.body", "unreadable"]]);
  expect(found(exchangeWith({ body: { omitted: "redacted", bytes: 1 } }))).toEqual([]);
});
