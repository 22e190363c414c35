import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { childCall, endAll, newFolder, phxSim } from "../../../support/phx-sim.ts";
import { allOf } from "../format/fixture.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});
afterEach(endAll);

/** A service that counts what it is asked. */
async function service() {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    req.resume().on("end", () => {
      asked.push(`${req.method} ${req.url}`);
      // A request without an answer.
      if (req.url === "/api/down/") return void req.socket.destroy();
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ n: asked.length, large: req.url === "/api/large/" ? "x".repeat(100_000) : "" }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A command that asks for paths and prints what came: the number in the answer, or the status. */
const asking = (...paths: string[]) => [
  "--",
  process.execPath,
  "--input-type=module",
  "-e",
  `${childCall}
   const said = [];
   for (const path of ${JSON.stringify(paths)}) {
     const isEvent = path.startsWith("event:");
     const body = { api_key: "phc_of_the_app_0123456789", event: path.slice(6), distinct_id: "u" };
     const { status, text } = await (isEvent ? call("POST", "/capture/", JSON.stringify(body)) : call("GET", path));
     said.push(status === 200 && !isEvent ? JSON.parse(text).n : status);
   }
   console.log(JSON.stringify(said));`,
];

const record = (args: readonly string[], env: Record<string, string> = {}) =>
  phxSim(["record", "--tape", "shop", ...args], { cwd, env }).ended;

const file = () => join(cwd, "tapes/shop.tape.ndjson");
const routes = async () => (await allOf(file())).map(({ req }) => new URL(req.url).pathname);

/** As if the tape had been created that long ago. */
function age(days: number): void {
  const created = new Date(Date.now() - days * 86_400_000).toISOString();
  writeFileSync(file(), readFileSync(file(), "utf8").replace(/"created":"[^"]*"/, `"created":"${created}"`));
}

describe("--mode once", () => {
  test("records the first time, and replays strictly from then on", async () => {
    const far = await service();
    const args = ["--upstream", far.url, "--mode", "once"];
    const first = await record([...args, ...asking("/api/a/")]);
    expect(first).toMatchObject({ code: 0, stdout: "[1]\n" });
    const second = await record([...args, ...asking("/api/a/")]);
    expect(second).toMatchObject({ code: 0, stdout: "[1]\n" });
    expect(second.stderr).toContain("phx-sim: once: the tape exists and answers; nothing is recorded\n");
    expect(second.stderr).toContain("phx-sim: tape shop: 1 of 1 exchange used, 0 requests missed");
    const miss = await record([...args, ...asking("/api/a/", "/api/b/")]);
    expect(miss).toMatchObject({ code: 1, stdout: "[1,599]\n" });
    expect(miss.stderr).toContain("phx-sim: the tape had no response for 1 request\n");
    expect(far.asked).toEqual(["GET /api/a/"]);
    expect(await routes()).toEqual(["/api/a/"]);
  });

  test("a tape without an exchange is recorded: nothing was replayed from it", async () => {
    const far = await service();
    const args = ["--upstream", far.url, "--mode", "once"];
    await record([...args, ...asking()]);
    expect(existsSync(file())).toBe(true);
    expect(await record([...args, ...asking("/api/a/")])).toMatchObject({ code: 0, stdout: "[1]\n" });
    expect(await routes()).toEqual(["/api/a/"]);
  });

  test("--max-age records an old tape again", async () => {
    const far = await service();
    const args = ["--upstream", far.url, "--mode", "once", "--max-age", "7d"];
    await record([...args, ...asking("/api/a/", "/api/large/")]);
    age(6);
    expect((await record([...args, ...asking("/api/a/")])).stdout).toBe("[1]\n");
    age(8);
    const again = await record([...args, ...asking("/api/a/")]);
    expect(again).toMatchObject({ code: 0, stdout: "[3]\n" });
    expect((await record([...args, ...asking("/api/a/")])).stdout).toBe("[3]\n");
    expect(far.asked).toHaveLength(3);
    expect(await routes()).toEqual(["/api/a/"]);
    expect(readdirSync(join(cwd, "tapes/shop.tape.d"))).toEqual([]);
  });

  test("under CI an old tape is replayed, with a notice; a missing one is an error", async () => {
    const far = await service();
    await record(["--upstream", far.url, ...asking("/api/a/")]);
    age(8);
    const args = ["--upstream", "us", "--mode", "once", "--max-age", "7d"];
    const old = await record([...args, ...asking("/api/a/")], { CI: "1" });
    expect(old).toMatchObject({ code: 0, stdout: "[1]\n" });
    expect(old.stderr).toMatch(/shop\.tape\.ndjson is 8 d old and is replayed anyway: .*CI is set/);
    const missing = await phxSim(["record", "--tape", "none", ...args, ...asking("/api/a/")], { cwd, env: { CI: "1" } })
      .ended;
    expect(missing).toMatchObject({ code: 4, stdout: "" });
    expect(missing.stderr).toMatch(
      /^phx-sim: there is no tape .*none\.tape\.ndjson to replay, and it cannot be recorded: .* CI is set; record it elsewhere, or allow it with --offline=false[^\n]*\n$/,
    );
  });
});

describe("--mode new", () => {
  test("replays what is on the tape, and records what is not", async () => {
    const far = await service();
    const args = ["--upstream", far.url, "--mode", "new"];
    expect((await record([...args, ...asking("/api/a/", "event:bought")])).stdout).toBe("[1,200]\n");
    const second = await record([...args, ...asking("/api/a/", "event:bought", "/api/b/", "event:sold")]);
    expect(second).toMatchObject({ code: 0, stdout: "[1,200,3,200]\n" });
    expect(second.stderr).toMatch(/phx-sim: 2 exchanges added to .*shop\.tape\.ndjson\n/);
    expect(far.asked).toEqual(["GET /api/a/", "POST /capture/", "GET /api/b/", "POST /capture/"]);
    expect((await routes()).sort()).toEqual(["/api/a/", "/api/b/", "/capture/", "/capture/"]);
    const third = await record([...args, ...asking("/api/a/", "/api/b/", "event:sold", "event:bought")]);
    expect(third).toMatchObject({ code: 0, stdout: "[1,3,200,200]\n" });
    expect(far.asked).toHaveLength(4);
    expect(readFileSync(file(), "utf8")).not.toContain("phc_of_the_app");
  });

  test("a request without an answer is not recorded", async () => {
    const far = await service();
    const args = ["--upstream", far.url, "--mode", "new"];
    await record([...args, ...asking("/api/a/")]);
    const { stdout, stderr } = await record([...args, ...asking("/api/a/", "/api/down/")]);
    expect(stdout).toBe("[1,502]\n");
    expect(stderr).toContain("gave no response");
    expect(await routes()).toEqual(["/api/a/"]);
  });

  test("under CI nothing is recorded, and a miss is an error", async () => {
    const far = await service();
    await record(["--upstream", far.url, ...asking("/api/a/")]);
    const args = ["--upstream", "us", "--mode", "new"];
    const run = await record([...args, ...asking("/api/a/", "/api/b/")], { CI: "1" });
    expect(run).toMatchObject({ code: 1, stdout: "[1,599]\n" });
    expect(run.stderr).toMatch(/has no response for is an error, not recorded: .*CI is set/);
  });
});

describe("a tape that is too old", () => {
  const again = ["--mode", "once", "--max-age", "7d"];

  test("is replaced; record continues it", async () => {
    const far = await service();
    const args = ["--upstream", far.url];
    await record([...args, ...asking("/api/a/", "/api/large/")]);
    await record([...args, ...asking("/api/b/")]);
    expect(await routes()).toEqual(["/api/a/", "/api/large/", "/api/b/"]);
    expect(readdirSync(join(cwd, "tapes/shop.tape.d"))).toHaveLength(1);
    age(8);
    const { code, stderr } = await record([...args, ...again, ...asking("/api/c/", "/api/large/")]);
    expect(stderr).toMatch(/2 exchanges on .*tapes\/shop\.tape\.ndjson, /);
    expect(code).toBe(0);
    expect(await routes()).toEqual(["/api/c/", "/api/large/"]);
    expect((await allOf(file())).map(({ i }) => i)).toEqual([1, 2]);
    expect(readdirSync(join(cwd, "tapes")).sort()).toEqual(["shop.tape.d", "shop.tape.ndjson"]);
    const replayed = await phxSim(["replay", "shop", ...asking("/api/large/")], { cwd }).ended;
    expect(replayed.stdout).toBe("[5]\n");
  });

  test("stays as it was when a request got no answer, or nothing was recorded", async () => {
    const far = await service();
    const args = ["--upstream", far.url];
    await record([...args, ...asking("/api/a/")]);
    age(8);
    const before = readFileSync(file(), "utf8");
    const partly = await record([...args, ...again, ...asking("/api/b/", "/api/down/")]);
    expect(partly.code).toBe(1);
    expect(partly.stderr).toMatch(/the tape is not whole: 1 request got no response; .* is as it was\n$/);
    expect(readFileSync(file(), "utf8")).toBe(before);
    const idle = await record([...args, ...again, ...asking()]);
    expect(idle.stderr).toContain("is as it was: nothing new was recorded");
    expect(idle.code).toBe(0);
    expect(readFileSync(file(), "utf8")).toBe(before);
    expect(readdirSync(join(cwd, "tapes"))).toEqual(["shop.tape.ndjson"]);
  });

  test("is as it was after a kill on the way", async () => {
    const far = await service();
    const args = ["--upstream", far.url];
    await record([...args, ...asking("/api/a/")]);
    age(8);
    const before = readFileSync(file(), "utf8");
    const run = phxSim(["record", "--tape", "shop", ...args, ...again, "--port", "0", "--json"], { cwd });
    const [line = ""] = await run.says("stdout", /\{.*\}/);
    await fetch(`${JSON.parse(line).url}/api/b/`);
    await run.signal("SIGKILL");
    expect(readFileSync(file(), "utf8")).toBe(before);
    // What was left behind does not get onto the next one.
    await record([...args, ...again, ...asking("/api/c/")]);
    expect(await routes()).toEqual(["/api/c/"]);
  });
});

test("--mode replay only replays, without an upstream", async () => {
  const mode = "replay";
  const far = await service();
  await record(["--upstream", far.url, ...asking("/api/a/")]);
  const run = await record(["--upstream", far.url, "--mode", mode, ...asking("/api/a/", "/api/b/")]);
  expect(run).toMatchObject({ code: 1, stdout: "[1,599]\n" });
  expect(await record(["--mode", mode, ...asking("/api/a/")])).toMatchObject({ code: 0, stdout: "[1]\n" });
  expect(far.asked).toEqual(["GET /api/a/"]);
  const none = await phxSim(["record", "--tape", "nowhere", "--mode", mode, "--port", "0"], { cwd }).ended;
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("nowhere.tape.ndjson") });
});

describe("--on-miss upstream", () => {
  test("answers a miss from the upstream, with replay and with exec", async () => {
    const far = await service();
    await record(["--upstream", far.url, ...asking("/api/a/")]);
    const way = ["--on-miss", "upstream", "--upstream", far.url];
    const replayed = await phxSim(["replay", "shop", ...way, ...asking("/api/a/", "/api/b/")], { cwd }).ended;
    expect(replayed).toMatchObject({ code: 0, stdout: "[1,2]\n" });
    const exec = await phxSim(["exec", "--tape", "shop", ...way, ...asking("/api/a/", "/api/b/")], { cwd }).ended;
    expect(exec).toMatchObject({ code: 0, stdout: "[1,3]\n" });
    expect(await routes()).toEqual(["/api/a/"]);
  });

  test.each<[args: string[], env: Record<string, string>, code: number, says: string]>([
    [["--on-miss", "upstream"], {}, 2, "--on-miss upstream needs --upstream: us, eu, or an address"],
    [["--upstream", "us"], {}, 2, "--upstream needs --on-miss upstream; `phx-sim record` records from it"],
    [
      ["--on-miss", "upstream", "--upstream", "us"],
      { CI: "1" },
      4,
      "the upstream us must not be reached: CI is set; allow it with --offline=false",
    ],
    [["--on-miss", "upstream", "--upstream", "http://127.0.0.1:9", "--offline"], {}, 4, "offline is on"],
    [["--on-miss", "upstream", "--upstream", "uk"], {}, 2, '"uk" is not an upstream'],
  ])("%j %j → %i", async (args, env, code, says) => {
    const far = await service();
    await record(["--upstream", far.url, ...asking("/api/a/")]);
    for (const command of [
      ["replay", "shop", "--port", "0"],
      ["replay", "shop"],
    ]) {
      const child = command.length === 2 ? asking("/api/a/") : [];
      const ended = await phxSim([...command, ...args, ...child], { cwd, env }).ended;
      expect(ended.stderr).toContain(says);
      expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
    }
  });

  test("an upstream of the environment alone is not reached", async () => {
    const far = await service();
    await record(["--upstream", far.url, ...asking("/api/a/")]);
    const env = { PHX_SIM_UPSTREAM: far.url };
    const run = await phxSim(["replay", "shop", ...asking("/api/a/", "/api/b/")], { cwd, env }).ended;
    expect(run).toMatchObject({ code: 1, stdout: "[1,599]\n" });
    expect(far.asked).toEqual(["GET /api/a/"]);
  });
});
