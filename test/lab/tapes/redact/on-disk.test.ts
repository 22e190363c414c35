import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanTape } from "../../../../src/lab/tapes/redact/scan-tape.ts";
import { newFolder } from "../../../support/folder.ts";
import { leaks } from "./exchanges.ts";

const key = "phx_Zk3vQ7pL0aB9cD2eF4gH6iJ8";
const password = "correct-horse-7";
const event = { api_key: key, batch: [{ event: "a", properties: { password, note: `it is ${key}` } }] };
const text = JSON.stringify(event);
const large = JSON.stringify({ ...event, filler: "filler ".repeat(20_000) });
const base64 = Buffer.from(text).toString("base64");
const part = `--xyz\r\nContent-Disposition: form-data; name="event"\r\n\r\n${text}\r\n--xyz--\r\n`;

const rows: [what: string, headers: string[], body: Buffer, query?: string][] = [
  ["JSON", ["Content-Type", "application/json"], Buffer.from(text)],
  ["a side file", ["Content-Type", "application/json"], Buffer.from(large)],
  ["gzip", ["Content-Encoding", "gzip"], gzipSync(text)],
  ["gzip, sniffed", ["Content-Type", "text/plain"], gzipSync(text), "compression=gzip-js"],
  ["gzip, cut off", ["Content-Encoding", "gzip"], gzipSync(large).subarray(0, 200)],
  ["gzip, damaged", ["Content-Encoding", "gzip"], gzipSync(text).fill(1, 40, 60)],
  ["deflate", ["Content-Encoding", "deflate"], deflateSync(text)],
  ["brotli", ["Content-Encoding", "br"], brotliCompressSync(text)],
  ["brotli, cut off", ["Content-Encoding", "br"], brotliCompressSync(text).subarray(0, 60)],
  ["a key where the encoding should be", ["Content-Encoding", key], Buffer.from(text)],
  ["gzip that says it is zstd", ["Content-Encoding", "zstd"], gzipSync(text)],
  ["a form", ["Content-Type", "application/x-www-form-urlencoded"], Buffer.from(`data=${encodeURIComponent(base64)}`)],
  ["base64", ["Content-Type", "text/plain"], Buffer.from(base64), "compression=base64"],
  ["multipart", ["Content-Type", "multipart/form-data; boundary=xyz"], Buffer.from(part)],
  [
    "large multipart",
    ["Content-Type", "multipart/form-data; boundary=xyz"],
    Buffer.concat([Buffer.from(part), Buffer.alloc(99_999, 250)]),
  ],
  ["broken JSON", ["Content-Type", "application/json"], Buffer.from(text.slice(0, -9))],
  ["nothing", [], Buffer.alloc(0), `data=${encodeURIComponent(base64)}&token=${key}`],
];

let folder = "";
beforeEach(() => {
  folder = newFolder();
});

const raw = (headers: string[], body: Buffer, query = ""): RawExchange => ({
  at: 1_767_225_600_000,
  method: "POST",
  url: `https://us.i.posthog.com/batch/?${query}`,
  http: "1.1",
  headers: ["Authorization", `Bearer ${key}`, "Cookie", `s=${password}`, ...headers],
  body,
  answer: {
    status: 200,
    reason: "OK",
    http: "1.1",
    headers: ["Set-Cookie", `s=${password}`, ...headers],
    body,
    ttfb: 1,
    total: 1,
  },
  client: key,
});

const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => readFileSync(join(it.parentPath, it.name), "latin1"));

test.each(rows)("nothing on disk reports a secret: %s", async (_, headers, body, query) => {
  const file = join(folder, "a.tape.ndjson");
  const writer = new TapeWriter(file, { redactor: createRedactor() });
  writer.append(raw(headers, body, query));
  await writer.close();
  const written = files();
  expect(written.join("")).toContain("{{secret:personal_api_key#1}}");
  for (const secret of [key, password]) expect(leaks(written, secret)).toBe(false);
  for await (const found of scanTape(file)) expect(found).toBeUndefined();
});
