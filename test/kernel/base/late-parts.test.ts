import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { newFolder } from "../../support/phx-sim.ts";

const root = join(import.meta.dirname, "../../..");
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

/** A copy of the package, whose files can be taken away. */
function packageCopy(): string {
  const folder = join(newFolder(), "package");
  mkdirSync(folder);
  for (const it of ["bin", "dist", "scenarios", "package.json"])
    cpSync(join(root, it), join(folder, it), { recursive: true });
  return folder;
}

/** Runs `start` of a copy; `most`: the descriptors that the process may have open. */
async function startOf(folder: string, most?: number) {
  const args = [join(folder, "bin/phx-sim.js"), "start", "--memory", "--port", "0", "--verbose"];
  const child =
    most === undefined
      ? spawn(process.execPath, args, { cwd: folder })
      : spawn("sh", ["-c", `ulimit -n ${most}; exec "$0" "$@"`, process.execPath, ...args], { cwd: folder });
  let said = "";
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said);
        if (found) resolve(found);
      };
      for (const it of [child.stdout, child.stderr]) it.on("data", look);
      child.once("exit", () => reject(new Error(`ended without ${pattern}:\n${said}`)));
      look();
    });
  for (const it of [child.stdout, child.stderr])
    it.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const stop = async () => {
    agent.destroy();
    child.kill("SIGTERM");
    return { code: await ended, said };
  };
  ending.push(stop);
  const [, url = ""] = await says(/ready at (http:\S+)/);
  return { url, says, stop, ask: askerOf(url, agent) };
}

/** All on one connection, so that no further descriptor is needed. */
const askerOf =
  (url: string, agent: Agent) =>
  (method: string, path: string, body?: object): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", authorization: "Bearer phx_sim_default" };
      const read = (res: IncomingMessage) => {
        let text = "";
        res.setEncoding("utf8").on("data", (it: string) => {
          text += it;
        });
        res.on("end", () => resolve({ status: res.statusCode ?? 0, text }));
      };
      request(url + path, { method, agent, headers }, read)
        .on("error", reject)
        .end(body && JSON.stringify(body));
    });

type Started = Awaited<ReturnType<typeof startOf>>;

const capture = ["POST", "/capture/", { api_key: "phc_sim_default", event: "seen", distinct_id: "ann" }] as const;

/** A request for each part of a sim, with its status. */
const requests: readonly (readonly [method: string, path: string, body: object | undefined, status: number])[] = [
  [...capture, 200],
  ["POST", "/flags/?v=2", { api_key: "phc_sim_default", distinct_id: "ann" }, 200],
  ["GET", "/api/projects/1/dashboards/", undefined, 200],
  ["GET", "/__sim/events", undefined, 200],
  ["GET", "/__sim/info", undefined, 200],
  ["GET", "/no/such/path", undefined, 404],
  ["POST", "/api/projects/1/query/", { query: { kind: "HogQLQuery", query: "select 1" } }, 200],
  ["GET", "/__sim/openapi.json", undefined, 200],
  ["GET", "/__sim/", undefined, 200],
];

async function answersOf({ ask }: Started) {
  const answers: { path: string; status: number; text: string; expected: number }[] = [];
  for (const [method, path, body, expected] of requests)
    answers.push({ path, expected, ...(await ask(method, path, body)) });
  return answers;
}

const statuses = async (sim: Started) => (await answersOf(sim)).map(({ path, status }) => [path, status]);
const expected = requests.map(([, path, , status]) => [path, status]);

/** Each is as expected, or says what is missing. */
function expectExplained(answers: Awaited<ReturnType<typeof answersOf>>): void {
  for (const { path, status, text, expected } of answers) {
    if (status === expected) continue;
    expect({ path, status, text }).toMatchObject({
      status: 503,
      text: expect.stringMatching(/a file of phx-sim cannot be read|file descriptors? left|is not built|has no part/),
    });
  }
}

test.each([
  ["a file that every other part needs", "packages/zod.js"],
  ["a file that one part needs", "control.js"],
  ["a file of the first flag request", "after-start.js"],
  ["what prints the request log", "request-log.js"],
])("%s is missing for a while: 503 with the reason, then all is well", async (_, file) => {
  const folder = packageCopy();
  const path = join(folder, "dist", file);
  renameSync(path, `${path}-away`);
  const sim = await startOf(folder);
  const during = await answersOf(sim);
  expect(during.map(({ status }) => status)).toContain(503);
  expectExplained(during);
  renameSync(`${path}-away`, path);
  expect(await statuses(sim)).toEqual(expected);
  expect((await sim.stop()).code).toBe(143);
});

test("once all parts are loaded, a build that replaces the files changes nothing", async () => {
  const folder = packageCopy();
  const sim = await startOf(folder);
  await sim.says(/all parts are loaded/);
  renameSync(join(folder, "dist"), join(folder, "away"));
  const away = new Set(["/__sim/", "/api/projects/1/query/"]);
  const during = await answersOf(sim);
  // pages and the program of queries are read when they are needed
  expect(during.filter(({ path }) => !away.has(path)).map(({ path, status }) => [path, status])).toEqual(
    expected.filter(([path]) => !away.has(String(path))),
  );
  renameSync(join(folder, "away"), join(folder, "dist"));
  expect(await statuses(sim)).toEqual(expected);
});

const descriptors = 64;

/** Opens connections until the sim has no descriptor left, and closes further ones at once. Returns what closes them. */
async function exhaust(url: string): Promise<() => Promise<void>> {
  const { port, hostname } = new URL(url);
  const sockets = Array.from({ length: 2 * descriptors }, () => connect(Number(port), hostname).on("error", () => {}));
  let closed = 0;
  await new Promise<void>((resolve) => {
    for (const it of sockets) it.resume().once("close", () => ++closed === descriptors && resolve());
  });
  const gone = (it: Socket) =>
    new Promise<void>((resolve) => (it.closed ? resolve() : it.once("close", () => resolve())));
  return async () => {
    for (const it of sockets) it.destroy();
    await Promise.all(sockets.map(gone));
  };
}

// Windows has no limit of descriptors for a process
test.skipIf(!existsSync("/bin/sh"))(
  "without file descriptors a request gets 503 with the reason, and works later",
  async () => {
    const sim = await startOf(packageCopy(), descriptors);
    await sim.ask(...capture);
    const release = await exhaust(sim.url);
    expectExplained(await answersOf(sim));
    await release();
    await expect.poll(() => statuses(sim), { timeout: 10_000 }).toEqual(expected);
    expect((await sim.stop()).code).toBe(143);
  },
);
