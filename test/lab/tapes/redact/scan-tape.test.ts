import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { TapeError } from "../../../../src/lab/tapes/format/tape-error.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanBytes, scanExchange, scanText } from "../../../../src/lab/tapes/redact/scan.ts";
import {
  newTally,
  type SecretFinding,
  scanTape,
  type TapeScanOptions,
} from "../../../../src/lab/tapes/redact/scan-tape.ts";
import { newFolder } from "../../../support/folder.ts";
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

const damaged = Buffer.from([31, 139, 8, 255, 255, 255]);

let folder = "";
beforeEach(() => {
  folder = newFolder();
});

const write = (name: string, ...lines: unknown[]): string => {
  const file = join(folder, name);
  writeFileSync(file, lines.map((it) => (typeof it === "string" ? it : `${JSON.stringify(it)}\n`)).join(""));
  return file;
};

const scan = async (file: string, options?: TapeScanOptions): Promise<SecretFinding[]> => {
  const all: SecretFinding[] = [];
  for await (const found of scanTape(file, options)) all.push(found);
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

  test("damaged lines and the header count", async () => {
    const file = write("a.tape.ndjson", { ...header, noise: ["phx_abcdef"] }, `{"i":1,"token":"half-a-li`);
    expect((await scan(file)).map(({ file, line, kind }) => [file, line, kind])).toEqual([
      [file, 1, "personal_api_key"],
      [file, 2, "token"],
    ]);
  });

  test("side files, compressed ones and ones that no one can read", async () => {
    const file = write("a.tape.ndjson", header);
    const side = join(folder, "a.tape.d");
    mkdirSync(side);
    writeFileSync(join(side, "1"), gzipSync('{"password":"hunter2-and-more-of-it"}'));
    writeFileSync(join(side, "2"), Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff]));
    writeFileSync(join(side, "3"), Buffer.from([0, 1, 2, 250]));
    expect((await scan(file)).map(({ file, line, kind, detail }) => [file.slice(-1), line, kind, detail])).toEqual([
      ["1", 0, "password", "hunt***"],
      ["2", 0, "unreadable", "***"],
    ]);
  });

  const tooMuch = (file: string, line: number): SecretFinding => ({
    file,
    line,
    path: "",
    kind: "unreadable",
    detail: "more than 67108864 bytes: not scanned",
  });

  test("lines of more than 64 MiB are reported, those behind them searched", async () => {
    const file = write("a.tape.ndjson", header);
    truncateSync(file, 67_108_864 + JSON.stringify(header).length + 2);
    writeFileSync(file, `\n${JSON.stringify(bad)}\n`, { flag: "a" });
    const tally = newTally();
    const [first, ...rest] = await scan(file, { tally });
    expect(first).toEqual(tooMuch(file, 2));
    expect(rest.map(({ line, kind }) => [line, kind])).toEqual([
      [3, "personal_api_key"],
      [3, "password"],
    ]);
    expect(tally).toMatchObject({ exchanges: 1 });
  });

  test("side files of more than 64 MiB are reported, those of 64 MiB searched", async () => {
    const file = write("a.tape.ndjson", header);
    const side = join(folder, "a.tape.d");
    mkdirSync(side);
    for (const [name, size] of [
      ["1", 67_108_864],
      ["2", 67_108_865],
    ] as const) {
      writeFileSync(join(side, name), damaged);
      truncateSync(join(side, name), size);
    }
    const tally = newTally();
    expect(await scan(file, { tally })).toEqual([
      { file: join(side, "1"), line: 0, path: "", kind: "unreadable", detail: "***" },
      tooMuch(join(side, "2"), 0),
    ]);
    expect(tally.side_files).toBe(2);
  });

  test("only files of the side folder count: what a link leads to is none of the tape's", async () => {
    const file = write("a.tape.ndjson", header);
    const side = join(folder, "a.tape.d");
    mkdirSync(join(side, "folder"), { recursive: true });
    symlinkSync(write("elsewhere", "phx_abcdef"), join(side, "link"));
    writeFileSync(join(side, "own"), "phx_abcdef");
    const tally = newTally();
    expect((await scan(file, { tally })).map((it) => it.file)).toEqual([join(side, "own")]);
    expect(tally.side_files).toBe(1);
  });

  test("a tally begins with nothing, and counts what is searched", async () => {
    expect(newTally()).toEqual({ exchanges: 0, side_files: 0, places: 0, redacted: 0 });
    const half = '{"i":2,"half":"a-li';
    const { req, ...other } = exchangeWith({
      headers: [
        ["Authorization", "Bearer {{secret:personal_api_key#1}}"],
        ["X-A", "1"],
      ],
      body: { json: { a: "{{secret:token#1}}", b: ["x", "y"] } },
    });
    const redacted = ["req.headers.authorization", "req.body.a"];
    const file = write("a.tape.ndjson", header, { ...other, req, redacted }, { ...other, req, redacted }, half);
    const tally = newTally();
    expect(await scan(file, { tally })).toEqual([]);
    const places = new Set<string>();
    scanExchange({ ...other, req, redacted }, { onPlace: (path) => places.add(path) });
    expect([...places]).toEqual(
      expect.arrayContaining(["req.headers.authorization", "req.headers.x-a", "req.body.a", "req.body.b[0]"]),
    );
    expect(tally).toEqual({ exchanges: 2, side_files: 0, places: 2 * places.size, redacted: 4 });
  });

  test("rules of one's own count in exchanges, damaged lines and side files", async () => {
    const exchange = exchangeWith({ body: { json: { note: "for ord-abcdef" } } });
    const file = write("a.tape.ndjson", header, exchange, '{"i":2,"note":"for ord-uvwxyz');
    mkdirSync(join(folder, "a.tape.d"));
    writeFileSync(join(folder, "a.tape.d", "1"), "for ord-ghijkl");
    expect(await scan(file)).toEqual([]);
    const rules = { rules: [{ name: "order_token", pattern: "ord-[a-z]{6}" }] };
    expect((await scan(file, { rules })).map(({ line, path, kind }) => [line, path, kind])).toEqual([
      [2, "req.body.note", "order_token"],
      [3, "", "order_token"],
      [0, "", "order_token"],
    ]);
  });

  test("a file that does not exist, and a file where the side folder should be", async () => {
    const none = scan(join(folder, "none.tape.ndjson"));
    await expect(none).rejects.toThrow(TapeError);
    await expect(none).rejects.toThrow("none.tape.ndjson cannot be read: there is no such file");
    const file = write("a.tape.ndjson", header);
    writeFileSync(join(folder, "a.tape.d"), "no folder");
    await expect(scan(file)).rejects.toThrow("a.tape.ndjson cannot be read: a part of its path is not a folder");
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

test.each<[what: string, bytes: Buffer, kinds: string[]]>([
  ["a text", Buffer.from("key phx_abcdef"), ["personal_api_key"]],
  ["a secret in bytes", Buffer.concat([Buffer.from([0, 255]), Buffer.from("phx_abcdef")]), ["personal_api_key"]],
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
