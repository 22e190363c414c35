import { appendFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import type { RawExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { newFolder, phxSim } from "../../../support/phx-sim.ts";
import { rawWith } from "../har/tapes.ts";

const at = Date.parse("2026-03-01T12:00:00.000Z");
const key = "phc_recordedRecordedRecordedRecorded1234567890";
const personal = "phx_recordedRecordedRecordedRecorded12345678";
const uuid = (i: number) => `0195a3c2-0000-7000-8000-${String(i).padStart(12, "0")}`;

const batch = (i: number, distinct_id: string): RawExchange =>
  rawWith({
    at: at + 1000 * i,
    method: "POST",
    url: "https://us.i.posthog.com/batch/",
    headers: ["Host", "us.i.posthog.com", "Content-Type", "application/json", "Content-Encoding", "gzip"],
    body: gzipSync(
      JSON.stringify({
        api_key: key,
        sent_at: new Date(at + 1000 * i).toISOString(),
        batch: [{ event: `e${i}`, distinct_id, uuid: uuid(i), timestamp: new Date(at + 1000 * i).toISOString() }],
      }),
    ),
  });

const me = rawWith({
  at: at + 60_000,
  headers: ["Host", "us.posthog.com", "Authorization", `Bearer ${personal}`, "Cookie", "session=verysecret123"],
});

async function write(name: string, exchanges: readonly RawExchange[]): Promise<void> {
  const writer = new TapeWriter(join(cwd, "tapes", `${name}.tape.ndjson`), { redactor: createRedactor() });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close();
}

let cwd: string;
beforeEach(async () => {
  cwd = newFolder();
  mkdirSync(join(cwd, "tapes"));
  await write("some", [...[1, 2, 3, 4, 5, 6].map((i) => batch(i, i % 2 ? "ann" : "ben")), me]);
});

const send = (args: readonly string[], env: Record<string, string> = {}) =>
  phxSim(["send", "some", ...args], { cwd, env }).ended;

const simFor = async () => {
  const sim = await startSim({ port: 0 });
  onTestFinished(() => sim.close());
  return sim;
};

/** A server that counts who connects, and says nothing. */
async function counting(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" && address ? address.port : 0, connections: () => connections };
}

describe("to a sim on this machine", () => {
  test("a damaged tape sends its rest, and fails", async () => {
    appendFileSync(join(cwd, "tapes/some.tape.ndjson"), '{"i":8');
    const sim = await simFor();
    const args = ["--to", sim.url, "--token", sim.apiKey, "--personal-key", sim.personalApiKey, "--json"];
    const { code, stdout, stderr } = await send(args);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, sent: 7 });
    expect([code, stderr]).toEqual([1, expect.stringContaining("the tape is damaged: 1 line passed over")]);
  });

  test("events arrive as they were, with the sim's keys", async () => {
    const sim = await simFor();
    const args = ["--to", sim.url, "--token", sim.apiKey, "--concurrency", "8", "--json"];
    const { code, stdout, stderr } = await send(args, { PHX_SIM_PERSONAL_KEY: sim.personalApiKey });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      dry_run: false,
      requests: 7,
      sent: 7,
      by_status: { 200: 7 },
      routes: { capture: 6, "GET /api/users/@me": 1 },
      failed: 0,
      differing: 0,
    });
    expect(code).toBe(0);
    await sim.settle();
    const events = await sim.events.list();
    expect(events.map((it) => [it.event, it.uuid]).sort()).toEqual([1, 2, 3, 4, 5, 6].map((i) => [`e${i}`, uuid(i)]));
    for (const who of ["ann", "ben"]) {
      const names = events.filter((it) => it.distinct_id === who).map((it) => it.event);
      expect(names).toEqual([...names].sort());
    }
  });

  test("moved to now, as copies, of one route", async () => {
    const sim = await simFor();
    const before = Date.now();
    const args = ["--to", sim.url, "--token", sim.apiKey, "--only", "capt*"];
    const { code, stdout } = await send([...args, "--timestamps", "shift", "--uuids", "new"]);
    expect(stdout).toMatch(/^6 requests sent in \d+ ms.*, 6 × 200\n$/);
    expect(code).toBe(0);
    await sim.settle();
    const events = await sim.events.list();
    expect(events).toHaveLength(6);
    expect(JSON.stringify(events)).not.toContain("0195a3c2-0000-7000-8000");
    const times = events.map(({ timestamp }) => Date.parse(timestamp));
    expect(Math.max(...times)).toBeGreaterThanOrEqual(before);
    // the service corrects times by what each request took
    expect(Math.abs(Math.max(...times) - Math.min(...times) - 5000)).toBeLessThan(2000);
  });

  test("another status class fails, unless that is all right", async () => {
    const sim = await simFor();
    const args = ["--to", sim.url, "--only", "GET *", "--personal-key", "phx_nobody"];
    const { code, stdout, stderr } = await send(args);
    expect(stdout).toMatch(/1 request sent .*1 × 401\n {2}#7 GET \S+: 200 on the tape, 401 now\n/);
    expect(stderr).toBe(
      "phx-sim: 1 response of another status class than on the tape; --ignore-status passes over it\n",
    );
    expect(code).toBe(1);
    expect(await send([...args, "--ignore-status"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("a dry run connects to no one", async () => {
    const { port, connections } = await counting();
    const { code, stdout } = await send(["--to", `127.0.0.1:${port}`, "--dry-run", "--token", "phc_x"]);
    expect(stdout).toContain("7 requests of ");
    expect(stdout).toContain("nothing was sent\n  6 capture\n  1 GET /api/users/@me\n");
    expect(stdout).toContain("recorded from 2026-03-01T12:00:01.000Z to 2026-03-01T12:01:00.000Z, for\n");
    expect(stdout).toContain("  6 us.i.posthog.com\n  1 us.posthog.com\n");
    expect(stdout).toMatch(/\{\{secret:project_key#1\}\} in 6 requests: from --token\n/);
    expect(stdout).toMatch(/\} in 1 request: missing, give --personal-key\n/);
    expect({ code, connections: connections() }).toEqual({ code: 0, connections: 0 });
  });

  test("^C ends it with the summary", async () => {
    const sim = await simFor();
    const args = ["--to", sim.url, "--token", sim.apiKey, "--only", "capture", "--rate", "0.001"];
    const process = phxSim(["send", "some", ...args], { cwd });
    await sim.events.waitFor("e1");
    const { code, stdout } = await process.signal("SIGINT");
    expect(stdout).toMatch(/^1 request sent in /);
    expect(code).toBe(130);
  });
});

test("off this machine nothing is sent without a yes: a dry run, and how to go on", async () => {
  const { code, stdout } = await send(["--to", "https://staging.invalid"]);
  expect(stdout).toContain("nothing was sent");
  expect(stdout).toMatch(/to send it, add --yes --allow-host staging\.invalid\n$/);
  expect(code).toBe(0);
  const dry = await send(["--to", "https://us.posthog.com", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ ok: true, dry_run: true, requests: 7 });
});

test.each<[args: string[], code: number, says: RegExp]>([
  [[], 2, /needs --to/],
  [["--to", "ftp://x"], 2, /--to: it must be an http address/],
  [["--to", "http://a:b@x"], 2, /--to: it must not have a login/],
  [["--to", "https://staging.invalid", "--yes"], 2, /add --allow-host staging\.invalid/],
  [["--to", "https://staging.invalid", "--yes", "--allow-host", "*"], 2, /names no host/],
  [["--to", "https://us.posthog.com", "--yes", "--allow-host", "us.posthog.com"], 2, /--i-know-this-is-production/],
  [["--to", "127.0.0.1:1"], 2, /2 secrets: \{\{secret:project_key#1\}\} \(first in exchange 1\): give --token; /],
  [["--to", "127.0.0.1:1", "--rate", "fast"], 2, /--rate must be/],
  [["--to", "127.0.0.1:1", "--concurrency", "0"], 2, /--concurrency must be from 1 to 64/],
  [["--to", "127.0.0.1:1", "--token", "a b"], 2, /--token is not a key/],
  [["--to", "127.0.0.1:1", "--only", "captur"], 2, /no exchange of the tape has the route "captur"/],
  [["--to", "127.0.0.1:1", "--uuids", "any"], 2, /--uuids must be/],
  [
    ["--to", "127.0.0.1:1", "--token", "phc_a", "--only", "capture"],
    4,
    /http:\/\/127\.0\.0\.1:1 cannot be reached: connect ECONNREFUSED/,
  ],
])("%j: %d", async (args, code, says) => {
  const ended = await send(args);
  expect(ended.stderr).toMatch(says);
  expect(ended.code).toBe(code);
});

test("a secret that no option fills is named, and nothing is sent", async () => {
  const { port, connections } = await counting();
  const login = rawWith({
    method: "POST",
    headers: ["Content-Type", "application/json"],
    body: Buffer.from(JSON.stringify({ password: "correct horse battery" })),
  });
  await write("some", [login]);
  const args = ["--to", `127.0.0.1:${port}`, "--token", "phc_a", "--personal-key", "phx_a"];
  const { code, stderr } = await send(args);
  expect(stderr).toMatch(
    /1 secret: \{\{secret:\w+#1\}\} \(first in exchange 8\): set PHX_SIM_SECRET_PASSWORD_1, leave it out with --exclude path:body\.password, or send a stand-in with --fill redacted\n$/,
  );
  expect({ code, connections: connections() }).toEqual({ code: 2, connections: 0 });
});

test("a tape that is none, or has nothing to send", async () => {
  const missing = await phxSim(["send", "nope", "--to", "127.0.0.1:1"], { cwd }).ended;
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("nope.tape.ndjson") });
  await write("empty", []);
  const empty = await phxSim(["send", "empty", "--to", "127.0.0.1:1"], { cwd }).ended;
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining("has nothing to send") });
});

describe("one property that looks like a secret", () => {
  const event = (name: string, properties: object) => ({ event: name, distinct_id: "ann", properties });
  const capture = (i: number, ...events: object[]) =>
    rawWith({
      at: at + 1000 * i,
      method: "POST",
      url: "https://us.i.posthog.com/batch/",
      headers: ["Host", "us.i.posthog.com", "Content-Type", "application/json"],
      body: Buffer.from(JSON.stringify({ api_key: key, batch: events })),
    });
  const sendTape = async (args: readonly string[], env: Record<string, string> = {}) => {
    await write("cards", [
      capture(1, event("paid", { password: "hunter2hunter2", plan: "pro" }), event("seen", { n: 1 })),
      capture(2, event("login", { n: 2 })),
      capture(3, event("seen", { n: 3 })),
    ]);
    const sim = await simFor();
    const { code, stdout, stderr } = await phxSim(
      ["send", "cards", "--to", sim.url, "--token", sim.apiKey, "--json", ...args],
      { cwd, env },
    ).ended;
    await sim.settle();
    const events = (await sim.events.list()).map(({ event: name, properties }) => [
      name,
      properties.password,
      properties.plan,
    ]);
    return { code, stderr, report: stdout === "" ? undefined : JSON.parse(stdout), events: events.sort() };
  };

  test("stops the send, and the message says three ways to go on", async () => {
    const { code, stderr, events } = await sendTape([]);
    expect(stderr).toBe(
      "phx-sim: nothing was sent: the tape holds no value for 1 secret: {{secret:password#1}} (first in exchange 1): set PHX_SIM_SECRET_PASSWORD_1, leave it out with --exclude path:body.batch[].properties.password, or send a stand-in with --fill redacted\n",
    );
    expect({ code, events }).toEqual({ code: 2, events: [] });
  });

  test("--fill redacted sends a stand-in", async () => {
    const { code, report, events } = await sendTape(["--fill", "redacted"]);
    expect(events).toEqual([
      ["login", undefined, undefined],
      ["paid", "redacted_password_1", "pro"],
      ["seen", undefined, undefined],
      ["seen", undefined, undefined],
    ]);
    expect(report).toMatchObject({
      sent: 3,
      placeholders: [{ option: "--token" }, { option: null, filling: "stand_in", given: false }],
    });
    expect(code).toBe(0);
  });

  test("a variable gives its value", async () => {
    const { code, events } = await sendTape([], { PHX_SIM_SECRET_PASSWORD_1: "known" });
    expect(events[1]).toEqual(["paid", "known", "pro"]);
    expect(code).toBe(0);
  });

  test.each([
    ["path:body.batch[].properties.password", 3, [undefined, "pro"]],
    ["path:req.body.batch[0].properties.password", 3, [undefined, "pro"]],
    ["path:event.properties.p*", 0, undefined],
    ["path:event.properties.password", 3, [undefined, "pro"]],
    ["path:event.properties.*", 3, [undefined, undefined]],
    ["event:pa*", 3, undefined],
  ] as const)("--exclude %s leaves it out and sends the rest", async (text, sent, paid) => {
    const { code, stderr, report, events } = await sendTape(["--exclude", text]);
    if (sent === 0) {
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`--exclude ${text} fits nothing on the tape; give a route`),
      });
      return;
    }
    expect(report).toMatchObject({ sent, excluded: { [text]: expect.any(Number) } });
    expect(events.find(([name]) => name === "paid")?.slice(1)).toEqual(paid);
    expect(events).toHaveLength(paid === undefined ? 3 : 4);
    expect(code).toBe(0);
  });

  test("a request whose events are all left out is not sent, and that is reported", async () => {
    const { report, events } = await sendTape(["--exclude", "event:paid", "--exclude", "event:login"]);
    expect(report).toMatchObject({ sent: 2, excluded: { "event:paid": 1, "event:login": 1 } });
    expect(events.map(([name]) => name)).toEqual(["seen", "seen"]);
    const { stderr } = await send(["--to", "127.0.0.1:1", "--dry-run", "--exclude", "GET *"]);
    expect(stderr).toBe("phx-sim: --exclude GET * left out 1 request\n");
  });

  test.each(["event:", "path:", "path:somewhere.x", "path:body", "path:body[", ""])(
    "--exclude %j is not understood",
    async (text) => {
      const { code, stderr } = await send(["--to", "127.0.0.1:1", "--exclude", text]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^phx-sim: --exclude.* must be /) });
    },
  );
});
