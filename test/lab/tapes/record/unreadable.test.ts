import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import zlib from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { SimOptions } from "../../../../src/index.ts";
import { readableCodings } from "../../../../src/lab/tapes/format/bodies.ts";
import { newFolder } from "../../../support/folder.ts";
import { answer, exchange, started, tapeOf } from "../replay/tapes.ts";

const hasZstd = "zstdDecompressSync" in zlib;
const zstd = Buffer.from("28b52ffd041889000068656c6c6f20776f726c64207a737464", "hex");

/** A service that remembers what it was offered, and answers in `coding` whatever that was. */
async function service(coding: string) {
  const offered: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    offered.push(req.headers["accept-encoding"]?.toString());
    res.writeHead(200, { "content-type": "application/json", "content-encoding": coding }).end(zstd);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, offered };
}

async function ask(url: string, coding: string) {
  const req = request(url, { headers: { "accept-encoding": coding }, agent: false }).end();
  const [res] = await once(req, "response");
  const body = Buffer.concat(await res.toArray());
  return { status: res.statusCode, encoding: res.headers["content-encoding"], body };
}

test.each([
  ["gzip, deflate, br", "gzip, deflate, br"],
  ["gzip;q=1.0,  x-gzip;q=0.5,*;q=0", "gzip;q=1.0,  x-gzip;q=0.5,*;q=0"],
  ["gzip, dcz, br, dcb;q=0.1", "gzip, br"],
  ["dcz", "identity"],
  ["", ""],
  ["zstd, gzip", hasZstd ? "zstd, gzip" : "gzip"],
])("%j is passed on as %j", (offered, expected) => {
  expect(readableCodings(offered)).toBe(expected);
});

/** `dcz` is read by no Node, zstd from 22.15 on. */
const coding = hasZstd ? "dcz" : "zstd";
const reason = hasZstd ? /dcz: not an encoding that can be undone here/ : /zstd: Node 2[\d.]+ cannot decompress it/;

test.each<[string, SimOptions]>([
  ["record", {}],
  ["new", { mode: "new" }],
])("what cannot be read is not offered, and is reported once if it comes: %s", async (_, options) => {
  const far = await service(coding);
  const notices: string[] = [];
  const tape = options.mode === "new" ? await tapeOf([exchange("GET /api/a/", answer({}))]) : undefined;
  const file = tape ?? join(newFolder(), "packed.tape.ndjson");
  const sim = await started({ upstream: far.url, tape: file, onNotice: (it) => notices.push(it), ...options });
  for (const path of ["/api/x/", "/api/y/"])
    expect(await ask(`${sim.url}${path}`, `gzip, ${coding}`)).toEqual({ status: 200, encoding: coding, body: zstd });
  await sim.close();
  expect(far.offered).toEqual(["gzip", "gzip"]);
  expect(notices.filter((it) => it.includes("not recorded"))).toEqual([
    expect.stringMatching(new RegExp(`^the body of a response is not recorded, GET /api/x: ${reason.source}`)),
  ]);
  expect(readFileSync(file, "utf8")).not.toContain(zstd.toString("base64"));
  const replay = await started({ tape: file });
  const { status, body } = await ask(`${replay.url}/api/x/`, "gzip");
  expect([status, String(body)]).toEqual([599, expect.stringMatching(reason)]);
});

test("a tape without redaction has the bytes, and replays them as what they are", async () => {
  const far = await service(coding);
  const file = join(newFolder(), "raw.tape.ndjson");
  const sim = await started({ upstream: far.url, tape: file, raw: true });
  await ask(`${sim.url}/api/x/`, "gzip");
  await sim.close();
  const replay = await started({ tape: file });
  expect(await ask(`${replay.url}/api/x/`, "gzip")).toEqual({ status: 200, encoding: coding, body: zstd });
});
