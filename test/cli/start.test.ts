import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { version } from "../../src/kernel/base/version.ts";
import { endAll, newFolder, phxSim, post, runHere, startReady } from "../support/phx-sim.ts";
import { rewriteLine } from "../support/rewrite-line.ts";
import { test } from "../support/sim.ts";

afterEach(endAll);

const capture = (ready: { url: string; project_api_key: string }, event: unknown) =>
  post(`${ready.url}/capture/`, { api_key: ready.project_api_key, ...(event as object) });

describe("the banner", () => {
  test.each([[["--port", "0"]], [["start", "--port", "0"]]])("phx-sim %j prints everything to paste", async (args) => {
    const cwd = newFolder();
    const sim = phxSim(args, { cwd, isOwn: true });
    const [, url] = await sim.says("stdout", /is ready at (http:\S+)[\s\S]*PHX_SIM_URL=.*\n/);
    const { stdout } = await sim.signal("SIGINT");
    expect(stdout).toMatch(/^phx-sim \d+\.\d+\.\d+ is ready at http:\/\/127\.0\.0\.1:\d+\n/);
    const key = /project key +(phc_\w+)/.exec(stdout)?.[1];
    const personal = /personal key +(phx_\w+)/.exec(stdout)?.[1];
    const id = /project id +(\d+)/.exec(stdout)?.[1];
    expect(stdout).toContain(`  inspector     ${url}/__sim/\n`);
    expect(stdout).toContain("  scenario      default\n");
    expect(stdout).toContain(`  data          ${join(cwd, ".phx-sim")}\n`);
    expect(stdout).toContain(
      "  dialect       documented: as the API documentation says; --dialect production answers as the live service does\n",
    );
    expect(stdout).toContain(
      [
        `POSTHOG_HOST=${url}`,
        `POSTHOG_API_KEY=${key}`,
        `POSTHOG_PROJECT_TOKEN=${key}`,
        `POSTHOG_PERSONAL_API_KEY=${personal}`,
        `POSTHOG_PROJECT_ID=${id}`,
      ].join("\n"),
    );
    expect(stdout).toMatch(/^# POSTHOG_API_KEY is the project key/m);
  });

  test.each([
    ["piped", {}, false],
    ["piped, but forced", { FORCE_COLOR: "1" }, true],
    ["NO_COLOR", { NO_COLOR: "1" }, false],
  ])("emphasis: %s", async (_, env, wanted) => {
    const sim = phxSim(["--port", "0", "--memory"], { cwd: newFolder(), env });
    await sim.says("stdout", /PHX_SIM_URL=.*\n/);
    const { stdout } = await sim.signal("SIGINT");
    expect(stdout.includes("\u001b[")).toBe(wanted);
  });
});

describe("--json", () => {
  test("is one line, and the locator holds the same", async ({ folder: cwd }) => {
    const { sim, ready } = await startReady([], { cwd });
    expect(ready).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      local_url: ready.url,
      project_api_key: expect.stringMatching(/^phc_/),
      personal_api_key: expect.stringMatching(/^phx_/),
      project_id: expect.any(Number),
      inspector_url: `${ready.url}/__sim/`,
      data: join(cwd, ".phx-sim"),
      dialect: "documented",
      version,
      pid: sim.child.pid,
    });
    const locator = join(cwd, ".phx-sim", "run.json");
    expect(JSON.parse(readFileSync(locator, "utf8"))).toMatchObject(ready);
    const { code, stdout } = await sim.signal("SIGTERM");
    expect(code).toBe(143);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(locator)).toBe(false);
  });

  test("--memory leaves nothing behind", async ({ folder: cwd }) => {
    const { sim, ready } = await startReady(["--memory"], { cwd });
    expect(ready.data).toBeNull();
    await capture(ready, { event: "e", distinct_id: "u" });
    await sim.signal("SIGINT");
    expect(existsSync(join(cwd, ".phx-sim"))).toBe(false);
  });
});

describe("settings", () => {
  test("come from the config file above, the environment and the flags", async ({ folder: cwd }) => {
    writeFileSync(join(cwd, "phx-sim.config.json"), '{"dialect": "production", "data": "kept", "verbose": true}');
    const { sim, ready } = await startReady([], { cwd, env: { PHX_SIM_DIALECT: "documented" } });
    expect(ready).toMatchObject({ dialect: "documented", data: join(cwd, "kept") });
    await sim.says("stderr", /port from --port,.* data from .*phx-sim\.config\.json,.* dialect from PHX_SIM_DIALECT/);
  });

  test("bound wider than loopback, the control API requires the token of the first line", async () => {
    const { ready } = await startReady(["--memory", "--host", "0.0.0.0"], { cwd: newFolder() });
    expect(ready.control_token).toMatch(/^\w{16,}$/);
    expect(ready.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const statusWith = async (token: string) =>
      (await fetch(`${ready.url}/__sim/info`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect((await fetch(`${ready.url}/__sim/info`)).status).toBe(401);
    expect(await statusWith(`${ready.control_token}x`)).toBe(401);
    expect(await statusWith(ready.control_token ?? "")).toBe(200);
  });

  test("bound wider than loopback, a generated personal key replaces the published one", async () => {
    const cwd = newFolder();
    const { ready } = await startReady(["--host", "0.0.0.0"], { cwd });
    expect(ready.personal_api_key).toMatch(/^phx_sim_default_[\da-f]{32}$/);
    const locator = JSON.parse(readFileSync(join(cwd, ".phx-sim", "run.json"), "utf8"));
    expect(locator.personal_api_key).toBe(ready.personal_api_key);
    const env = await runHere(["env"], { cwd });
    expect(env.stdout).toContain(`POSTHOG_PERSONAL_API_KEY=${ready.personal_api_key}\n`);
  });
});

describe("the request log", () => {
  test("names what was odd about an event that was kept", async () => {
    const { sim, ready } = await startReady([], { cwd: newFolder() });
    const body = {
      api_key: ready.project_api_key,
      event: "$identify",
      distinct_id: "u",
      properties: { $anon_distinct_id: "anonymous" },
    };
    await post(`${ready.url}/capture/`, body);
    await sim.says("stderr", /^ {2}△ warned "\$identify" cannot_merge_with_illegal_distinct_id: .+ → .+\n/m);
    await sim.signal("SIGTERM");
  });

  test("names what was kept, dropped and rejected, with the reason and the remedy", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder() });
    await capture(ready, { event: "signed_up", distinct_id: "u" });
    await sim.says("stderr", /^POST \/capture\/ 200 {2}1 event kept: signed_up {2}\d+\.\d ms\n/m);
    await capture(ready, { event: "lost" });
    await sim.says("stderr", /^ {2}✕ dropped "lost" missing_distinct_id: .+ → .+\n/m);
    await post(`${ready.url}/capture/`, { api_key: "phc_nobody", event: "e", distinct_id: "u" });
    await sim.says("stderr", /^ {2}⊖ rejected \w+: .+ → .*--adopt-tokens\n/m);
    const { stderr, code } = await sim.signal("SIGINT");
    expect(stderr).toContain(ready.project_api_key);
    expect(stderr).toMatch(/phx-sim: stopped; 1 event kept, 1 dropped, 1 request rejected\n$/);
    expect(code).toBe(130);
  });

  test("says why a path does not exist, and what to do", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder() });
    const rows: [path: string, line: RegExp][] = [
      ["/bacth/", /^ {2}⊖ rejected not_found: .* → check the path: it does not exist; nearest: POST \/batch/m],
      [
        "/ingest/batch/",
        /^ {2}⊖ rejected not_found: .* → \/ingest looks like .* host to http:\S+, without \/ingest; /m,
      ],
      ["/api/projects/1/heatmaps/", /^ {2}⊖ rejected not_found: .* → not emulated: the service has this endpoint/m],
    ];
    for (const [path, line] of rows) {
      await post(`${ready.url}${path}`, {});
      await sim.says("stderr", line);
    }
    await sim.signal("SIGINT");
  });

  test("never lets hostile text reach the terminal", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder() });
    await capture(ready, { event: "\u001b[2J\u202ebad\nline", distinct_id: "u" });
    const { stderr } = await sim.signal("SIGINT");
    expect(stderr).toContain("\\x1b[2J\\u202ebad\\x0aline");
    expect(stderr.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test("shows and writes no keys", async ({ folder: cwd }) => {
    const { sim, ready } = await startReady(["--verbose", "--strict"], { cwd });
    const targets = [
      "/api/projects/?personal_api_key=phx_mysecretkey",
      "/api/projects/?personal%5Fapi%5Fkey=phx%5Fmysecretkey",
      "/api/projects/phx_mysecretkey/",
      "/api/nothing/phx_mysecretkey",
      "/api/nothing/phx%5Fmysecretkey?next=/phx_mysecretkey",
      "/array/phs_mysecretkey/config",
      "/flags/definitions?token=phx_mysecretkey",
    ];
    for (const target of targets) {
      await fetch(ready.url + target, { headers: { authorization: "Bearer phx_mysecretkey" } });
      await post(`${ready.url}${target}`, { api_key: "phx_mysecretkey", personal_api_key: "phx_mysecretkey" });
    }
    const { stderr } = await sim.signal("SIGINT");
    expect(stderr.match(/^(GET|POST) \//gm)).toHaveLength(2 * targets.length);
    expect(stderr).not.toContain("mysecret");
    expect(readFileSync(join(cwd, ".phx-sim", "traffic.ndjson"), "utf8")).not.toContain("mysecret");
  });

  test("--verbose reports every request", async () => {
    const { sim, ready } = await startReady(["--memory", "--verbose"], { cwd: newFolder() });
    await fetch(`${ready.url}/array/${ready.project_api_key}/config`);
    await sim.says("stderr", /^GET \/array\/\w+\/config 200/m);
  });

  test("--quiet reports none", async () => {
    const { sim, ready } = await startReady(["--memory", "--quiet"], { cwd: newFolder() });
    await capture(ready, { event: "lost" });
    const { stderr } = await sim.signal("SIGINT");
    expect(stderr).toBe("");
  });
});

test.runIf(process.platform === "linux")("--open hands the inspector's address to the browser", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "xdg-open"), '#!/bin/sh\necho "$1" > opened\nkill -TERM "$PPID"\n', { mode: 0o755 });
  const PATH = `${cwd}:${process.env.PATH}`;
  const { sim, ready } = await startReady(["--memory", "--open"], { cwd, env: { PATH } });
  expect((await sim.ended).code).toBe(143);
  expect(readFileSync(join(cwd, "opened"), "utf8")).toBe(`${ready.inspector_url}\n`);
});

test("a line that a crash cut off is reported, and the sim starts", async ({ folder: cwd }) => {
  const first = await startReady([], { cwd });
  await capture(first.ready, { event: "kept", distinct_id: "u" });
  await first.sim.signal("SIGINT");
  const file = join(cwd, ".phx-sim", "traffic.ndjson");
  appendFileSync(file, '{"n":');
  const { sim } = await startReady([], { cwd });
  const [notice] = await sim.says("stderr", /^phx-sim: .*cut off.*\n/m);
  expect(notice).toContain(file);
});

describe("a damaged data folder", () => {
  /** A folder with three events, of a sim that has ended. */
  async function folderWithEvents(): Promise<{ cwd: string; file: string }> {
    const cwd = newFolder();
    const { sim, ready } = await startReady([], { cwd });
    for (const event of ["one", "two", "three"]) await capture(ready, { event, distinct_id: "u" });
    await sim.signal("SIGINT");
    return { cwd, file: join(cwd, ".phx-sim", "traffic.ndjson") };
  }
  const doctor = (cwd: string, ...args: string[]) => runHere(["doctor", "--data", ".phx-sim", ...args], { cwd });

  test("a damaged line is skipped and reported: at the start, in info, by doctor", async () => {
    const { cwd, file } = await folderWithEvents();
    expect(await doctor(cwd)).toMatchObject({ code: 0, stdout: expect.stringContaining(".phx-sim is intact\n") });
    rewriteLine(file, 3, (text) => text.replace('"two"', '"twa"'));
    const lost = { file, line: 3, detail: "this line is damaged: request 2 with event 2 lost" };
    const checked = await doctor(cwd, "--json");
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      passed: false,
      findings: [{ check: "data", level: "problem", text: `${file}:3: ${lost.detail}` }],
    });
    for (const index of ["requests.idx", "events.idx"]) rmSync(join(cwd, ".phx-sim", index));
    const { sim, ready } = await startReady([], { cwd });
    await sim.says("stderr", /^phx-sim: .*traffic\.ndjson:3: this line is damaged: request 2 with event 2 lost\n/m);
    const answer = async (path: string) => (await fetch(`${ready.url}/__sim/${path}`)).json();
    expect(await answer("info")).toMatchObject({ damage: [lost], damage_count: 1 });
    expect(await answer("events")).toMatchObject({
      events: [
        { seq: 1, event: "one" },
        { seq: 3, event: "three" },
      ],
    });
    expect(await answer("requests/3")).toMatchObject({ n: 3, carried: [{ event: "three" }] });
    expect((await fetch(`${ready.url}/__sim/requests/2`)).status).toBe(404);
  });

  test("a damaged first line is one line with exit code 3", async () => {
    const { cwd, file } = await folderWithEvents();
    rewriteLine(file, 1, (text) => `\xef\xbb\xbf${text}`);
    const { code, stderr } = await phxSim(["start", "--port", "0"], { cwd }).ended;
    expect({ code, lines: stderr.trimEnd().split("\n").length }).toEqual({ code: 3, lines: 1 });
    expect(stderr).toContain("traffic.ndjson:1: it begins with a byte order mark");
    expect(await doctor(cwd)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("traffic.ndjson:1: it begins"),
    });
  });
});

describe("the end", () => {
  test("repeated signals end it once, with everything written", async ({ folder: cwd }) => {
    const { sim, ready } = await startReady([], { cwd, isOwn: true });
    await capture(ready, { event: "last", distinct_id: "u" });
    sim.child.kill("SIGINT");
    sim.child.kill("SIGINT");
    const { code, stderr } = await sim.signal("SIGTERM");
    expect([130, 143]).toContain(code);
    expect(stderr).toContain("1 event kept");
    const again = await startReady([], { cwd });
    const info = await (await fetch(`${again.ready.url}/__sim/events`)).json();
    expect(info).toMatchObject({ events: [{ event: "last" }] });
  });

  test("does not wait for callers that wait", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder(), isOwn: true });
    const waiting = post(`${ready.url}/__sim/events/wait`, { match: { event: "never" }, timeout_ms: 60_000 });
    const over = waiting.then((answer) => answer.text()).catch(() => "cut off");
    await fetch(`${ready.url}/__sim/health`);
    expect((await sim.signal("SIGTERM")).code).toBe(143);
    await over;
  });

  test("a reader that goes away does not end the sim", async () => {
    const { sim, ready } = await startReady(["--memory"], { cwd: newFolder(), isOwn: true });
    sim.child.stdout?.destroy();
    sim.child.stderr?.destroy();
    for (let i = 0; i < 3; i++) {
      const answer = await capture(ready, { event: "e", distinct_id: "u" });
      expect(answer.status).toBe(200);
    }
    expect((await sim.signal("SIGTERM")).code).toBe(143);
  });
});

test("a data folder that the system does not make is one line, and no endless try", async () => {
  const { code, stdout, stderr } = await phxSim(["--port", "0", "--data", "/proc/phx-sim/data"], { cwd: newFolder() })
    .ended;
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/^phx-sim: data folder \/proc\/phx-sim\/data .*; choose another .*--memory\n$/);
});
