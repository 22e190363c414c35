import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { endAll, newFolder, phxSim } from "../../../support/phx-sim.ts";
import { grep } from "../redact/exchanges.ts";
import { plantedRequests } from "./planted-secrets.ts";
import { started } from "./tapes.ts";

/** Answers with the row and the body that came: what is secret is in the answer, too. */
const server = createServer((req, res) => {
  const parts: Buffer[] = [];
  req.on("data", (part: Buffer) => parts.push(part));
  req.on("end", () => {
    const row = Number(new URL(req.url ?? "", "http://x").searchParams.get("row"));
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify({ row, echo: Buffer.concat(parts).toString() }));
  });
});
let upstream = "";
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(endAll);
afterAll(async () => {
  await new Promise((done) => server.close(done));
});

/** Sends all of a file in order, each when the one before is answered; `proxy`: over the forward proxy. */
const client = `
import { readFileSync } from "node:fs";
import { request } from "node:http";
const [file, way] = process.argv.slice(1);
const host = way === "proxy" ? "http://us.i.posthog.com" : way === "reroute" ? "https://us.i.posthog.com" : process.env.POSTHOG_HOST;
const one = ({ method, target, headers, body }) => way === "proxy"
  ? new Promise((done, fail) => {
      const { hostname, port } = new URL(process.env.POSTHOG_HOST);
      const req = request({ hostname, port, method, path: host + target, headers: { ...headers, host: "us.i.posthog.com" } }, (res) => res.resume().on("end", () => done(res.statusCode)));
      req.on("error", fail).end(body);
    })
  : fetch(host + target, { method, headers, body }).then(async (it) => (await it.text(), it.status));
const seen = new Map();
for (const it of JSON.parse(readFileSync(file, "utf8"))) {
  const status = await one(it);
  seen.set(status, (seen.get(status) ?? 0) + 1);
}
console.log(JSON.stringify([...seen]));
`;

const first = plantedRequests(1);
const others = plantedRequests(2);

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => join(it.parentPath, it.name));

async function recorded(way: "direct" | "proxy" | "reroute"): Promise<{ tape: string; said: string; cwd: string }> {
  const cwd = newFolder();
  const sent = join(newFolder(), "requests.json");
  writeFileSync(sent, JSON.stringify(first));
  const run = phxSim(
    [
      ...["record", "--upstream", upstream, "--tape", "planted"],
      ...(way === "reroute" ? ["--reroute"] : []),
      ...["--", process.execPath, "--input-type=module", "-e", client, sent, way],
    ],
    { isOwn: true, cwd },
  );
  const { code, stdout, stderr } = await run.ended;
  expect({ code, stdout, stderr: code === 0 ? "" : stderr }).toEqual({
    code: 0,
    stdout: `[[200,${first.length}]]\n`,
    stderr: "",
  });
  return { tape: join(cwd, "tapes/planted.tape.ndjson"), said: stdout + stderr, cwd };
}

const ask = async (url: string, { method, target, headers, body }: (typeof first)[number]) => {
  const response = await fetch(url + target, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, text: await response.text() };
};

test("there are enough of them", () => {
  expect(first.length).toBeGreaterThanOrEqual(37);
  expect(new Set(first.map((it) => it.secret)).size).toBeGreaterThanOrEqual(37);
});

describe.each(["direct", "proxy", "reroute"] as const)("planted secrets, recorded %s", (way) => {
  test("are nowhere, and each request matches itself, with the same and with other secrets", async () => {
    const { tape, said, cwd } = await recorded(way);
    const lines = readFileSync(tape, "utf8").trimEnd().split("\n");
    const values: unknown[] = lines.map((line) => JSON.parse(line));
    const isWritten = grep([values, said, ...filesBelow(cwd).map((file) => readFileSync(file, "latin1"))]);
    expect(first.filter((it) => isWritten(it.secret)).map((it) => it.name)).toEqual([]);

    const sim = await started({ tape });
    const fresh = await started({ tape });
    // The same secrets, then others on the running replay; and others from the start.
    for (const [url, requests] of [
      [sim.url, first],
      [sim.url, others],
      [fresh.url, others],
    ] as const) {
      const wrong: unknown[] = [];
      for (const [row, it] of requests.entries()) {
        const { status, text } = await ask(url, it);
        const answer: { row: number; echo: string } = JSON.parse(text);
        const isBack = !it.name.endsWith("a JSON value") || answer.echo === it.body;
        if (status !== 200 || answer.row !== row || !isBack) wrong.push([it.name, text]);
      }
      expect(wrong).toEqual([]);
    }
    expect((await fresh.tapes.get())?.ledger).toMatchObject({ hits: others.length, miss_count: 0, unused_count: 0 });
  });
});
