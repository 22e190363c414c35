import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generateCACertificate, getLocal } from "mockttp";
import { PostHog } from "posthog-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, StartError, startSim } from "../../../../src/index.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { readTape } from "../../../../src/lab/tapes/format/read.ts";
import { control } from "../../../support/control.ts";
import { newFolder } from "../../../support/folder.ts";

const open: { close(): unknown }[] = [];
let folder = "";
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

async function sim(options: SimOptions = {}): Promise<Sim> {
  const it = await startSim(options);
  open.push(it);
  return it;
}
const cloud = () => sim({ dialect: "production" });
const tapeFile = () => join(folder, "one.tape.ndjson");

async function exchangesOf(file: string): Promise<Exchange[]> {
  const all: Exchange[] = [];
  for await (const it of readTape(file)) all.push(it);
  return all;
}

/** Everything that is written below the folder, as one text. */
const onDisk = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => readFileSync(join(it.parentPath, it.name), "latin1"))
    .join("\n");

const post = (to: Sim, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${to.url}${path}`, { method: "POST", body: JSON.stringify(body), headers });

describe("record", () => {
  test("the upstream answers; events show live here, too, under their adopted key", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, tape: tapeFile() });
    const key = "phc_elsewhere1234567890123456789012345678901";
    const answer = await post(near, "/capture/", { api_key: key, event: "signup", distinct_id: "u1" });
    expect(answer.headers.get("x-phx-source")).toBe("emulator, upstream");
    await near.settle({ idleMs: 0 });
    const [event] = await near.events.list({ event: "signup" });
    expect(event).toMatchObject({ distinct_id: "u1", outcome: "kept" });
    expect((await near.requests.list())[0]).toMatchObject({ source: "upstream", status: answer.status, events: 1 });
    await near.recording.stop();
    const [exchange] = await exchangesOf(tapeFile());
    expect(exchange).toMatchObject({
      i: 1,
      route: "capture",
      complete: true,
      req: { method: "POST", url: `${far.url}/capture/` },
      res: { status: answer.status },
    });
  });

  test("what the upstream refuses is not kept as an event here", async () => {
    const far = await sim();
    const near = await sim({ upstream: far.url });
    const answer = await post(near, "/capture/", { api_key: "phc_nobody", event: "a", distinct_id: "u" });
    expect(answer.status).toBe(401);
    await near.settle({ idleMs: 0 });
    expect(await near.events.list()).toEqual([]);
    expect((await near.requests.list())[0]).toMatchObject({
      outcome: "rejected",
      rejected: { reason: "upstream", detail: "the upstream answered 401" },
    });
  });

  test("posthog-node is recorded, and no secret reaches the disk", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, tape: tapeFile(), data: join(folder, "data") });
    const project = await far.project();
    const client = new PostHog(project.apiKey, { host: near.url, personalApiKey: project.personalApiKey, flushAt: 1 });
    client.capture({ distinctId: "u1", event: "bought", properties: { plan: "pro" } });
    await client.getAllFlags("u1");
    await client.shutdown();
    const list = `${near.url}/api/projects/${project.id}/feature_flags/?personal_api_key=${project.personalApiKey}`;
    expect((await fetch(list)).status).toBe(200);
    await fetch(`${near.url}/api/users/@me/`, {
      headers: { authorization: `Bearer ${project.personalApiKey}`, cookie: "sessionid=verysecretcookie" },
    });
    await near.settle({ idleMs: 0 });
    expect(await near.events.waitFor("bought")).toMatchObject({ properties: { plan: "pro" } });
    expect(await far.events.waitFor("bought")).toMatchObject({ properties: { plan: "pro" } });
    const facts = await near.recording.stop();
    expect(facts).toMatchObject({ state: "stopped", failed: 0, trouble: null });
    expect(facts.taped).toBe(facts.passed);
    expect(facts.redacted).toBeGreaterThan(0);
    const written = onDisk();
    expect(written).toContain("bought");
    for (const secret of [project.personalApiKey, project.secretApiKey, "verysecretcookie"]) {
      expect(written.includes(secret)).toBe(false);
    }
  });

  test("what is large waits for a lull, and is on the tape when the recording ends", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, tape: tapeFile() });
    const note = "x".repeat(400_000);
    const ask = (distinct_id: string, person_properties: object) =>
      post(near, "/flags/?v=2", { api_key: far.apiKey, distinct_id, person_properties });
    await ask("u1", { note });
    await ask("u2", {});
    expect(await near.recording.stop()).toMatchObject({ passed: 2, taped: 2, trouble: null });
    expect((await exchangesOf(tapeFile())).map(({ i }) => i)).toEqual([1, 2]);
    expect(await near.requests.list()).toHaveLength(2);
  });

  test("only what is wanted is taped; all is passed on", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, tape: tapeFile(), include: ["/flags/**"], exclude: ["*.js"] });
    await post(near, "/flags/?v=2", { api_key: far.apiKey, distinct_id: "u" });
    await post(near, "/e/", { api_key: far.apiKey, event: "a", distinct_id: "u" });
    await near.settle({ idleMs: 0 });
    expect(await near.recording.stop()).toMatchObject({ passed: 2, taped: 1 });
    expect((await exchangesOf(tapeFile())).map((it) => it.route)).toEqual(["flags"]);
  });

  test("requests in process go the same way", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url });
    const body = JSON.stringify({ api_key: far.apiKey, event: "a", distinct_id: "u" });
    const answer = await near.handle(new Request("http://sim/e/", { method: "POST", body }));
    expect(answer.status).toBe(200);
    expect(await far.events.list()).toHaveLength(1);
  });

  test("an upstream with TLS whose authority is given; without, its answers are refused", async () => {
    const far = await cloud();
    const ca = await generateCACertificate();
    const front = getLocal({ https: ca, recordTraffic: false });
    await front.start();
    open.push({ close: () => front.stop() });
    await front.forAnyRequest().thenForwardTo(far.url);
    const upstream = front.urlFor("").replace("http:", "https:").replace("127.0.0.1", "localhost");
    const near = await sim({ upstream, upstreamCa: ca.cert });
    expect((await post(near, "/flags/", { api_key: far.apiKey, distinct_id: "u" })).status).toBe(200);
    const wary = await sim({ upstream });
    const refused = await post(wary, "/flags/", { api_key: far.apiKey, distinct_id: "u" });
    expect(refused.status).toBe(502);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining("certificate cannot be trusted") });
  });

  test("an authority that is no certificate: an answer anyway", async () => {
    const near = await sim({ upstream: "https://127.0.0.1:9", upstreamCa: "-----BEGIN CERTIFICATE-----\nno\n" });
    const answer = await post(near, "/flags/", { distinct_id: "u" });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: "upstream_unreachable" });
  });

  test("a tape that cannot be written is reported loudly; the traffic goes on", async () => {
    const far = await cloud();
    const notices: string[] = [];
    const near = await sim({ upstream: far.url, tape: tapeFile(), onNotice: (text) => notices.push(text) });
    rmSync(folder, { recursive: true, force: true });
    expect((await post(near, "/flags/", { api_key: far.apiKey, distinct_id: "u" })).status).toBe(200);
    await near.settle({ idleMs: 0 });
    expect(await near.recording.stop()).toMatchObject({ trouble: expect.stringContaining("recording has stopped") });
    expect(notices.join("\n")).toContain("recording has stopped");
  });
});

describe("other modes", () => {
  test("spy: the upstream is asked for what the emulator does not know, and nothing is changed there", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, mode: "spy", scenario: "default" });
    const known = await post(near, "/flags/", { api_key: near.apiKey, distinct_id: "u" });
    const unknown = await fetch(`${near.url}/no/such/path`);
    const change = await post(near, "/no/such/path", {});
    expect([known, unknown, change].map((it) => it.headers.get("x-phx-source"))).toEqual([
      "emulator",
      "emulator, upstream",
      "emulator",
    ]);
    await near.settle({ idleMs: 0 });
    expect(await near.recording.get()).toMatchObject({ mode: "spy", passed: 1 });
  });

  test("spy with allowWrites", async () => {
    const far = await cloud();
    const near = await sim({ upstream: far.url, mode: "spy", allowWrites: true });
    await post(near, "/no/such/path", {});
    await near.settle({ idleMs: 0 });
    expect(await near.recording.get()).toMatchObject({ passed: 1 });
  });

  test("once records what does not exist, and then answers from it", async () => {
    const far = await cloud();
    const first = await sim({ mode: "once", upstream: far.url, tape: tapeFile() });
    const ask = { api_key: far.apiKey, distinct_id: "u" };
    const recorded = await (await post(first, "/flags/?v=2", ask)).json();
    await first.close();
    const second = await sim({ mode: "once", upstream: far.url, tape: tapeFile() });
    const replayed = await post(second, "/flags/?v=2", ask);
    expect(replayed.headers.get("x-phx-source")).toMatch(/^tape:/);
    expect(await replayed.json()).toEqual(recorded);
  });
});

describe("the control API", () => {
  test("starts and ends a recording of a running sim", async () => {
    const far = await cloud();
    const near = await sim();
    expect(await near.recording.get()).toMatchObject({ state: "off", upstream: null });
    await near.recording.start({ upstream: far.url });
    await post(near, "/flags/", { api_key: far.apiKey, distinct_id: "u" });
    await near.settle({ idleMs: 0 });
    expect(await near.recording.get()).toMatchObject({
      state: "recording",
      mode: "record",
      passed: 1,
      upstream: far.url,
    });
    expect(await near.recording.stop()).toMatchObject({ state: "stopped", in_flight: 0 });
    const answer = await post(near, "/flags/", { api_key: near.apiKey, distinct_id: "u" });
    expect(answer.headers.get("x-phx-source")).toBe("emulator");
    expect(await near.recording.stop()).toMatchObject({ state: "stopped", passed: 1 });
  });

  test.each([
    [{}, 400, "invalid_input", "/upstream"],
    [{ upstream: 5 }, 400, "invalid_input", "/upstream"],
    [{ upstream: "uk" }, 400, "invalid_input", "/upstream"],
    [{ upstream: "http://169.254.169.254" }, 400, "invalid_input", "/upstream"],
    [{ upstream: "http://127.0.0.1:9", mode: "replay" }, 400, "invalid_input", "/mode"],
    [{ upstream: "http://127.0.0.1:9", tape: "" }, 400, "invalid_input", "/tape"],
    [{ upstream: "http://127.0.0.1:9", tape: "../../outside.tape.ndjson" }, 400, "invalid_input", "/tape"],
    [{ upstream: "http://127.0.0.1:9", tape: "/etc/passwd" }, 400, "invalid_input", "/tape"],
    [{ upstream: "http://127.0.0.1:9", include: "x" }, 400, "invalid_input", "/include"],
    [{ upstream: "http://127.0.0.1:9", exclude: [""] }, 400, "invalid_input", "/exclude/0"],
    [{ upstream: "http://127.0.0.1:9", redact: "none" }, 400, "invalid_input", "/redact"],
    [{ upstream: "http://127.0.0.1:9", allow_writes: 1 }, 400, "invalid_input", "/allow_writes"],
    [{ upstream: "http://127.0.0.1:9", colour: "red" }, 400, "invalid_input", "/colour"],
  ])("%j → %i %s", async (body, status, code, pointer) => {
    const near = await sim();
    const { status: said, answer } = await control(near, "POST", "/recording/start", body);
    expect([said, answer.code, answer.pointer]).toEqual([status, code, pointer]);
    expect(await near.recording.get()).toMatchObject({ state: "off" });
  });

  test("one at a time, and never of itself", async () => {
    const near = await sim();
    await expect(near.recording.start({ upstream: near.url })).rejects.toThrow("own address");
    const far = await cloud();
    await near.recording.start({ upstream: far.url });
    await expect(near.recording.start({ upstream: far.url })).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("what cannot start", () => {
  const startError = (options: SimOptions) =>
    startSim(options).then(
      async (it) => it.close().then(() => "started"),
      (error: unknown) => (error instanceof StartError ? error.code : error),
    );

  test.each<[string, SimOptions, string]>([
    ["record without an upstream", { mode: "record" }, "upstream"],
    ["spy without an upstream", { mode: "spy" }, "upstream"],
    ["an upstream that is none", { upstream: "uk" }, "upstream"],
    ["once without a tape", { mode: "once", upstream: "us" }, "tape"],
    ["a tape that is a folder", { upstream: "http://127.0.0.1:9", tape: "/tmp/" }, "tape"],
    ["offline", { upstream: "http://127.0.0.1:9", offline: true }, "offline"],
  ])("%s", async (_, options, code) => {
    expect(await startError(options)).toBe(code);
  });

  test("under CI only an upstream of this machine is reached, unless the options allow it", async () => {
    const before = process.env.CI;
    process.env.CI = "true";
    try {
      expect(await startError({ upstream: "us" })).toBe("offline");
      expect(await startError({ upstream: "us", offline: false })).toBe("started");
      expect(await startError({ upstream: "http://127.0.0.1:9" })).toBe("started");
    } finally {
      if (before === undefined) delete process.env.CI;
      else process.env.CI = before;
    }
  });
});
