import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import type { RawExchange } from "../../../src/lab/tapes/format/raw-exchange.ts";
import { TapeWriter } from "../../../src/lab/tapes/format/write.ts";
import { createRedactor } from "../../../src/lab/tapes/redact/redactor.ts";
import { rawWith } from "../../lab/tapes/har/tapes.ts";
import { openSim, recorded, tour } from "../../lab/tapes/verify/recorded.ts";
import { newFolder, runHere } from "../../support/phx-sim.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
  mkdirSync(join(cwd, "tapes"));
});

const run = (args: readonly string[], env: Record<string, string> = {}) => runHere(args, { cwd, env });

async function write(name: string, exchanges: readonly RawExchange[]): Promise<string> {
  const file = join(cwd, "tapes", `${name}.tape.ndjson`);
  const writer = new TapeWriter(file, { redactor: createRedactor() });
  for (const exchange of exchanges) writer.append(exchange);
  await writer.close();
  return file;
}

/** The tour through a sim of this dialect, on a tape. */
async function tourOf(dialect: "documented" | "production", name: string): Promise<void> {
  const sim = await openSim(dialect);
  const { redact } = createRedactor();
  const lines = (await recorded(sim, tour)).map((it) => JSON.stringify(redact(it)));
  await sim.close();
  const header = {
    tape: 1,
    id: "019b7ca9-940d-7e16-8e39-b814ba8712bd",
    created: "2026-01-02T03:04:05Z",
    creator: "a test",
    upstream: "us",
    redaction: "default",
    noise: [],
  };
  writeFileSync(join(cwd, "tapes", `${name}.tape.ndjson`), `${[JSON.stringify(header), ...lines].join("\n")}\n`);
}

/** A service that answers by path, and remembers what it was asked. */
async function service(answers: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    req.resume().on("end", () => {
      const path = (req.url ?? "").split("?")[0] ?? "";
      asked.push(`${req.method} ${path} ${req.headers.authorization ?? "-"}`);
      const found = answers[path];
      const status = typeof found === "number" ? found : found === undefined ? 404 : 200;
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(JSON.stringify(typeof found === "object" ? found : {}));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const personal = "phx_recordedRecordedRecordedRecorded12345678";
const got = (path: string, body: unknown, over: Partial<RawExchange> = {}): RawExchange =>
  rawWith(
    { url: `https://us.posthog.com${path}`, headers: ["Authorization", `Bearer ${personal}`], ...over },
    { body: Buffer.from(JSON.stringify(body)) },
  );
const posted = (path: string, body: unknown): Partial<RawExchange> => ({
  method: "POST",
  url: `https://us.posthog.com${path}`,
  headers: ["Content-Type", "application/json"],
  body: Buffer.from(JSON.stringify(body)),
});

describe("verify --against", () => {
  test("null instead of a list is a break; a header that appears is reported", async () => {
    const far = await service(
      { "/api/users/@me/": { id: 1, tags: null, team: null, deleted_at: null } },
      { "Cache-Control": "max-age=600", "X-Served-By": "box 7" },
    );
    await write("golden", [got("/api/users/@me/", { id: 1, tags: [], team: {}, deleted_at: "2026-01-01" })]);
    const args = ["verify", "golden", "--against", far.url, "--fail-on", "break"];
    const { code, stdout, stderr } = await run(args, { PHX_SIM_PERSONAL_KEY: "phx_mine" });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "phx-sim: 2 breaks (tapes/golden.tape.ndjson)\n" });
    expect(stdout.split("\n").slice(1, 5)).toEqual([
      expect.stringMatching(/^ {2}break +1× {2}body\.tags: null on one side only \(recorded list, now null\)/),
      expect.stringMatching(/^ {2}break +1× {2}body\.team: null on one side only \(recorded object, now null\)/),
      expect.stringMatching(
        /^ {2}additive +1× {2}headers\.cache-control: the header was not recorded \(recorded nothing, now max-age=600\)/,
      ),
      expect.stringMatching(/^ {2}additive +1× {2}body\.deleted_at: null on one side only/),
    ]);
  });

  test("sends the reads with the given keys, and finds what was added, removed and retyped", async () => {
    const far = await service({
      "/api/users/@me/": { id: 2, email: 7, added: true },
      "/flags/": { flags: {} },
      "/api/projects/1/": { id: 1 },
    });
    await write("golden", [
      got("/api/users/@me/", { id: 1, email: "a@b.c", removed: 1 }),
      rawWith(posted("/flags/?v=2", { distinct_id: "u" }), { body: Buffer.from('{"flags":{}}') }),
      rawWith(posted("/capture/", { event: "bought", distinct_id: "u" })),
      rawWith({
        ...posted("/api/projects/1/dashboards/", { name: "x" }),
        headers: ["Content-Type", "application/json"],
      }),
      got("/api/projects/1/", { id: 1 }),
    ]);
    const args = ["verify", "golden", "--against", far.url];
    const { code, stdout, stderr } = await run(args, { PHX_SIM_PERSONAL_KEY: "phx_mine" });
    expect(far.asked).toEqual([
      "GET /api/users/@me/ Bearer phx_mine",
      "POST /flags/ -",
      "GET /api/projects/1/ Bearer phx_mine",
    ]);
    expect(stdout).toMatch(/^GET \/api\/users\/@me \(1 response\)\n/);
    expect(stdout).toMatch(/break +1× {2}body\.removed: the key is missing \(recorded number, now nothing\)/);
    expect(stdout).toMatch(/break +1× {2}body\.email: another type \(recorded string, now number\)/);
    expect(stdout).toMatch(/additive +1× {2}body\.added: the key was not recorded/);
    expect(stdout).toMatch(/^not compared: 2 would change something \(--allow-writes sends them\)$/m);
    expect(stdout).toMatch(/^not sent: 1 capture, 1 POST \/api\/projects\/:id\/dashboards$/m);
    expect(stdout).toMatch(/3 of 5 exchanges compared with http:\/\/127\.0\.0\.1:\d+: 2 breaks, 1 additive\n$/);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "phx-sim: 2 breaks, 1 additive (tapes/golden.tape.ndjson)\n" });
    const json = await run([...args, "--json", "--fail-on", "break"], { PHX_SIM_PERSONAL_KEY: "phx_mine" });
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      against: far.url,
      exchanges: 5,
      compared: 3,
      skipped: { writes: 2 },
      writes: { capture: 1, "POST /api/projects/:id/dashboards": 1 },
      groups: [{ kind: "type" }, { kind: "missing" }, { kind: "extra" }],
    });
  });

  test("the same service passes; another dialect of it fails", async () => {
    await tourOf("production", "tour");
    const verify = async (dialect: "documented" | "production") => {
      const far = await startSim({ dialect, scenario: "saas-team", port: 0 });
      onTestFinished(() => far.close());
      return run(["verify", "tour", "--against", far.url, "--token", far.apiKey, "--json"], {
        PHX_SIM_PERSONAL_KEY: far.personalApiKey,
        PHX_SIM_SECRET_PERSONAL_API_KEY_2: "phx_of_nobody_at_all",
      });
    };
    const same = await verify("production");
    const report = JSON.parse(same.stdout);
    expect(report.groups.filter((it: { severity: string }) => it.severity !== "value")).toEqual([
      // Made by a write on the tape, which is not sent.
      expect.objectContaining({ route: "GET /api/projects/:id/dashboards/:id", kind: "status" }),
      expect.objectContaining({ route: "GET /api/projects/:id/batch_exports/:id", kind: "status" }),
    ]);
    const other = await verify("documented");
    expect(JSON.parse(other.stdout).groups.length).toBeGreaterThan(report.groups.length);
    expect([same.code, other.code]).toEqual([1, 1]);
  });

  test("--allow-writes sends all, with the ids of this service", async () => {
    await tourOf("production", "tour");
    const far = await startSim({ dialect: "production", scenario: "saas-team", port: 0 });
    onTestFinished(() => far.close());
    // The service has other ids than the tape.
    await fetch(`${far.url}/api/projects/1/dashboards/`, {
      method: "POST",
      headers: { authorization: `Bearer ${far.personalApiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "one more" }),
    });
    const { code, stdout, stderr } = await run(
      ["verify", "tour", "--against", far.url, "--token", far.apiKey, "--allow-writes"],
      { PHX_SIM_PERSONAL_KEY: far.personalApiKey, PHX_SIM_SECRET_PERSONAL_API_KEY_2: "phx_of_nobody_at_all" },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/20 of 20 exchanges compared with http/);
    expect(stdout).not.toContain("not sent");
  });

  test("secrets of its answers are not shown", async () => {
    const secret = "phx_newNewNewNewNewNewNewNewNewNewNewNewNewNew1";
    const far = await service({ "/api/users/@me/": { id: 1, note: secret } });
    await write("golden", [got("/api/users/@me/", { id: 1, note: "nothing" })]);
    const { code, stdout } = await run([
      "verify",
      "golden",
      "--against",
      far.url,
      "--personal-key",
      "phx_mine",
      "--fail-on",
      "value",
    ]);
    expect(stdout).toContain("body.note");
    expect(stdout).not.toContain(secret);
    expect(code).toBe(1);
  });

  test("a missing key stops it before anything is sent; another secret leaves its request out", async () => {
    const far = await service({ "/api/users/@me/": { id: 1 }, "/flags/": {} });
    await write("golden", [
      got("/api/users/@me/", { id: 1 }),
      rawWith(posted("/flags/", { person_properties: { password: "hunter2hunter2" } })),
    ]);
    const none = await run(["verify", "golden", "--against", far.url]);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toMatch(/nothing was sent: .*\{\{secret:personal_api_key#1\}\}.*give --personal-key/);
    expect(far.asked).toEqual([]);
    const args = ["verify", "golden", "--against", far.url, "--personal-key", "phx_a"];
    const without = await run(args);
    expect(without.stdout).toMatch(/not compared: 1 need a secret that the tape has no value for/);
    expect(without.code).toBe(0);
    expect(await run([...args, "--fill", "redacted"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("2 of 2 exchanges compared"),
    });
  });

  test("a service that is too busy is not drift", async () => {
    const far = await service({ "/api/users/@me/": 429, "/api/projects/": {} });
    await write("golden", [got("/api/users/@me/", { id: 1 }), got("/api/projects/", {})]);
    const { code, stdout } = await run(["verify", "golden", "--against", far.url, "--personal-key", "phx_a"]);
    expect(stdout).toMatch(/not compared: 1 the service is too busy now \(429\)/);
    expect(code).toBe(0);
  });

  test.each<[args: string[], code: number, says: RegExp]>([
    [
      ["--against", "http://127.0.0.1:9"],
      4,
      /^phx-sim: http:\/\/127\.0\.0\.1:9 cannot be reached: connect ECONNREFUSED[^\n]*\n$/,
    ],
    [["--against", "ftp://x"], 2, /--against: it must be an http address/],
    [["--against", "http://a:b@x"], 2, /--against: it must not have a login/],
    [["--against", "us", "--dialect", "production"], 2, /--dialect is the emulator's/],
    [["--allow-writes"], 2, /--allow-writes needs --against/],
    [["--token", "phc_x"], 2, /--token needs --against/],
    [
      ["--against", "us", "--allow-writes"],
      2,
      /--allow-writes: us\.i\.posthog\.com is not this machine: add --allow-host us\.i\.posthog\.com/,
    ],
    [
      ["--against", "https://us.posthog.com", "--allow-writes", "--allow-host", "us.posthog.com"],
      2,
      /--i-know-this-is-production/,
    ],
  ])("%j: %d", async (args, code, says) => {
    await write("golden", [got("/api/projects/1/", { id: 1 })]);
    const ended = await run(["verify", "golden", ...args], { PHX_SIM_PERSONAL_KEY: "phx_mine" });
    expect(ended.stderr).toMatch(says);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  });
});

describe("tape diff", () => {
  test("two recordings of the same pass; of another dialect fail by route and path", async () => {
    await tourOf("production", "monday");
    await tourOf("production", "tuesday");
    await tourOf("documented", "other");
    const same = await run(["tape", "diff", "monday", "tuesday"]);
    expect(same.stdout).toMatch(
      /tapes\/monday\.tape\.ndjson: 20 of 20 exchanges compared with tapes\/tuesday\.tape\.ndjson: /,
    );
    expect(same).toMatchObject({ code: 0, stderr: "" });
    const other = await run(["tape", "diff", "monday", "other", "--json", "--junit", "diff.xml"]);
    const report = JSON.parse(other.stdout);
    expect(report).toMatchObject({
      ok: false,
      a: join(cwd, "tapes/monday.tape.ndjson"),
      b: join(cwd, "tapes/other.tape.ndjson"),
      compared: 20,
      only_a: {},
      only_b: {},
    });
    expect(report.groups).toContainEqual(
      expect.objectContaining({ route: "capture", path: "status", severity: "break" }),
    );
    expect(other.code).toBe(1);
    expect(readFileSync(join(cwd, "diff.xml"), "utf8")).toContain('<testsuite name="phx-sim tape diff"');
  });

  test("added, removed and retyped keys, statuses, and what only one tape has", async () => {
    await write("a", [
      got("/api/projects/1/", { id: 1, old: 1, kind: "x" }),
      got("/api/projects/2/", { id: 1 }),
      got("/api/users/@me/", {}),
      got("/api/organizations/", {}),
    ]);
    await write("b", [
      rawWith({ url: "https://us.posthog.com/api/users/@me/" }, { status: 403 }),
      got("/api/projects/1/", { id: 9, kind: 1, fresh: 1 }),
      got("/api/projects/2/", { id: 1 }),
      got("/api/projects/3/cohorts/", {}),
    ]);
    const { code, stdout, stderr } = await run(["tape", "diff", "a", "b"]);
    expect(stdout).toMatch(/break +1× {2}body\.old: the key is missing \(first number, second nothing\)/);
    expect(stdout).toMatch(/break +1× {2}body\.kind: another type \(first string, second number\)/);
    expect(stdout).toMatch(/additive +1× {2}body\.fresh: /);
    expect(stdout).toMatch(/break +1× {2}status: another status \(first 200, second 403\)/);
    expect(stdout).toMatch(/^only on tapes\/a\.tape\.ndjson: 1 GET \/api\/organizations$/m);
    expect(stdout).toMatch(/^only on tapes\/b\.tape\.ndjson: 1 GET \/api\/projects\/:id\/cohorts$/m);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "phx-sim: 3 breaks, 1 additive (tapes/a.tape.ndjson)\n" });
  });

  test.each(["a", "b"])("a damaged tape fails, also where the rest is equal: %s", async (name) => {
    for (const it of ["a", "b"]) await write(it, [got("/api/projects/1/", { id: 1 })]);
    appendFileSync(join(cwd, `tapes/${name}.tape.ndjson`), '{"i":2');
    expect(await run(["tape", "diff", "a", "b"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("1 of 1 exchange compared"),
      stderr: expect.stringContaining("phx-sim: the tape is damaged: 1 line passed over"),
    });
  });

  test("a request that was refused with 429 and repeated is compared by its later answer", async () => {
    const busy = (path: string) =>
      rawWith({ url: `https://us.posthog.com${path}` }, { status: 429, body: Buffer.from("{}") });
    const answered = rawWith({ url: "https://us.posthog.com/api/users/@me/" }, { body: Buffer.from('{"id":1}') });
    await write("a", [busy("/api/users/@me/"), answered]);
    await write("b", [busy("/api/users/@me/"), answered]);
    expect(await run(["tape", "diff", "a", "b"])).toMatchObject({
      code: 0,
      stdout: [
        "not compared: 1 the service failed or was too busy (5xx, 429)",
        "tapes/a.tape.ndjson: 1 of 2 exchanges compared with tapes/b.tape.ndjson: no differences\n",
      ].join("\n"),
    });
  });

  test("an added key alone fails, unless only breaks are to", async () => {
    await write("a", [got("/api/projects/1/", { id: 1 })]);
    await write("b", [got("/api/projects/1/", { id: 1, fresh: 1 })]);
    expect((await run(["tape", "diff", "a", "b"])).code).toBe(1);
    expect((await run(["tape", "diff", "a", "b", "--fail-on", "break"])).code).toBe(0);
    expect((await run(["tape", "diff", "a", "nowhere"])).code).toBe(2);
  });
});
