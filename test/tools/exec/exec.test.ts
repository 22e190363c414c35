import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { RunVerdict } from "../../../src/testing/run-report/shapes.ts";
import { childCall, endAll, newFolder, phxSim } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";

afterEach(endAll);

const root = join(import.meta.dirname, "../../..");

/** A command that runs this script, after what every script needs. */
const script = (code: string): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `const { POSTHOG_HOST: host, POSTHOG_API_KEY: api_key } = process.env;
   ${childCall}
   const send = (path, body) => call("POST", path, JSON.stringify({ api_key, ...body }));
   ${code}`,
];

const exec = (args: readonly string[], command: readonly string[], env: Record<string, string> = {}, cwd?: string) =>
  phxSim(["exec", ...args, "--", ...command], { cwd: cwd ?? newFolder(), env });

const kept = `await send("/capture/", { event: "signup", distinct_id: "u" });`;
const dropped = `await send("/capture/", { event: "checkout" });`;
const rejected = `await send("/batch/", { api_key: "phc_nobodys", batch: [{ event: "a", distinct_id: "u" }] });`;
const unmatched = `await send("/nowhere/at/all", {});`;

describe("the command", () => {
  test("its words arrive as they are, and its output is its own", async () => {
    const words = ["a b", "", "$HOME", "'", '"', "*", "--fail-on", "--", "ünï"];
    const { code, stdout } = await exec(
      [],
      [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "x", ...words],
    ).ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(["x", ...words]);
  });

  test("gets every variable, and people are reported which key each one is", async () => {
    const { stdout, stderr } = await exec([], script(`console.log(JSON.stringify(process.env));`), {
      POSTHOG_API_KEY: "phc_of_the_shell",
      KEPT: "yes",
    }).ended;
    const env = JSON.parse(stdout) as Record<string, string>;
    expect(env).toMatchObject({
      POSTHOG_HOST: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      PHX_SIM_URL: env.POSTHOG_HOST,
      NEXT_PUBLIC_POSTHOG_HOST: env.POSTHOG_HOST,
      POSTHOG_API_KEY: expect.stringMatching(/^phc_sim/),
      VITE_PUBLIC_POSTHOG_KEY: env.POSTHOG_API_KEY,
      NUXT_PUBLIC_POSTHOG_PUBLIC_KEY: env.POSTHOG_API_KEY,
      EXPO_PUBLIC_POSTHOG_API_KEY: env.POSTHOG_API_KEY,
      POSTHOG_PERSONAL_API_KEY: expect.stringMatching(/^phx_/),
      PHX_SIM_PROJECT_ID: "1",
      KEPT: "yes",
    });
    expect(stderr).toContain("  POSTHOG_API_KEY, POSTHOG_PROJECT_TOKEN = project key (phc_…)\n");
    expect(stderr).toContain("  POSTHOG_PERSONAL_API_KEY = personal key (phx_…)\n");
    expect(stderr).toMatch(/NEXT_PUBLIC_, VITE_PUBLIC_, [A-Z_, ]+ before: POSTHOG_HOST = address/);
    expect(stderr).not.toContain(env.POSTHOG_PERSONAL_API_KEY);
  });

  test.each([
    ["process.exit(0)", 0],
    ["process.exit(7)", 7],
    ["process.kill(process.pid, 'SIGKILL')", 137],
    ["process.kill(process.pid, 'SIGTERM')", 143],
  ])("%s ends it with %i", async (code, expected) => {
    expect((await exec(["--quiet"], script(code)).ended).code).toBe(expected);
  });

  test.each([
    [["phx-no-such-program"], 127, "cannot run phx-no-such-program: there is no such program"],
    [["echo hello"], 127, "cannot run echo hello: there is no such program; to run a shell command, write sh -c"],
    [[root], 126, `cannot run ${root}: it may not be executed`],
    [[""], 126, 'cannot run "": '],
  ])("%j cannot be run: %i", async (command, expected, said) => {
    const { code, stdout, stderr } = await exec(["--quiet"], command).ended;
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toContain(`phx-sim: ${said}`);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });
});

describe("signals", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s is passed on; the code is that of the command", async (signal, code) => {
    const run = exec([], script(`console.log("up"); setInterval(() => {}, 1000);`));
    await run.says("stdout", /up/);
    expect((await run.signal(signal)).code).toBe(code);
  });

  test("a command that tidies up ends with its own code, and once only", async () => {
    const run = exec(
      [],
      script(`let heard = 0;
        process.on("SIGTERM", async () => {
          heard++;
          ${kept}
          console.log("heard " + heard);
          process.exit(9);
        });
        console.log("up");
        setInterval(() => {}, 1000);`),
    );
    await run.says("stdout", /up/);
    run.child.kill("SIGTERM");
    const { code, stdout, stderr } = await run.signal("SIGTERM");
    expect({ code, stdout }).toEqual({ code: 9, stdout: "up\nheard 1\n" });
    expect(stderr).toContain("phx-sim: 1 event kept, 0 dropped");
  });
});

test("a killed exec takes its command with it, and what that has started", async () => {
  const run = exec([], ["sh", "-c", "sleep 1000 & echo up; wait"]);
  await run.says("stdout", /up/);
  // Both have the streams open that this waits for.
  const { code, stdout } = await run.signal("SIGKILL");
  expect({ code, stdout }).toEqual({ code: null, stdout: "up\n" });
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("exec ended by %s leaves nothing that its command has started", async (signal, code) => {
  const command = "sleep 1000 & (sleep 1000 & sleep 1000) & echo up; wait";
  const run = exec([], ["sh", "-c", `trap 'exit ${code}' ${signal.slice(3)}; ${command}`]);
  await run.says("stdout", /up/);
  // All have the streams open that this waits for.
  const ended = await run.signal(signal);
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "up\n" });
});

test("what a command leaves behind when it ends by itself stays", async () => {
  const left = `require("node:http").createServer((_, it) => { it.end("left"); process.exit(); }).listen(0, "127.0.0.1",
    function () { require("node:fs").writeSync(1, String(this.address().port)); })`;
  const { code, stdout } = await exec(
    [],
    script(`const { spawn } = await import("node:child_process");
      const child = spawn(process.execPath, ["-e", ${JSON.stringify(left)}], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
      const [port] = await (await import("node:events")).once(child.stdout, "data");
      console.log(String(port));
      process.exit(0);`),
  ).ended;
  expect(code).toBe(0);
  expect(await (await fetch(`http://127.0.0.1:${stdout.trim()}/`)).text()).toBe("left");
});

describe("what is reported at the end", () => {
  test("counts, and each mishap with its reason and fix", async () => {
    const { code, stderr } = await exec(
      [],
      script(`${kept}${dropped}${dropped}${rejected}${unmatched} await send("/flags/?v=2", { distinct_id: "u" });`),
    ).ended;
    expect(code).toBe(0);
    expect(stderr).toContain("phx-sim: 1 event kept, 2 dropped; 6 requests (1 for flags), 1 rejected, 1 unmatched\n");
    expect(stderr).toMatch(/\n {2}✕ dropped "checkout" ×2 missing_distinct_id: .* → send `distinct_id`/);
    expect(stderr).toMatch(/\n {2}⊖ rejected POST \/batch\/? \w+: .* → use the project key phc_sim/);
    expect(stderr).toMatch(/\n {2}unmatched POST \/nowhere\/at\/all not_found: .* → check the path/);
  });

  test("dropped events are reported with the project and the test that it is named after", async () => {
    const inProject = (name: string) => `{
      const project = JSON.parse((await call("POST", "/__sim/projects", '{"name":"${name}"}')).text);
      await send("/capture/", { api_key: project.api_key, event: "checkout" });
      await call("DELETE", "/__sim/projects/" + project.id);
    }`;
    const { stderr } = await exec([], script(inProject("shop › buys") + inProject("shop › returns"))).ended;
    expect(stderr).toMatch(
      /\n {2}✕ dropped "checkout" ×2 missing_distinct_id: .*\n {4}in project \d+ "shop › buys", project \d+ "shop › returns"\n/,
    );
  });

  test("many kinds of mishaps are cut short", async () => {
    const { stderr } = await exec(
      [],
      script(`for (let i = 0; i < 22; i++) await send("/capture/", { event: "e" + i });`),
    ).ended;
    expect(stderr.match(/\n {2}✕ dropped /g)).toHaveLength(10);
    expect(stderr).toContain("\n  … and 12 more\n");
  });

  test("faults that touched requests; what they broke is no mishap", async () => {
    const { code, stderr } = await exec(
      ["--fail-on", "dropped,rejected,unmatched"],
      script(`await call("POST", "/__sim/faults", '{"preset":"capture-503","times":1}'); ${kept}${kept}`),
    ).ended;
    expect(code).toBe(0);
    expect(stderr).toContain("phx-sim: 1 event kept, 0 dropped; 2 requests (0 for flags), 0 rejected, 0 unmatched\n");
    expect(stderr).toContain("  fault capture-503 touched 1 request\n");
  });

  describe("results of capture v1, as posthog-node sends it", () => {
    const v1 = { POSTHOG_CAPTURE_MODE: "v1" };
    const sending = (preset: string, end: string) => `import { PostHog } from "posthog-node";
      if ("${preset}") await call("POST", "/__sim/faults", '{"preset":"${preset}","times":1}');
      const client = new PostHog(api_key, { host, flushInterval: 0 });
      client.on("error", (error) => console.log(JSON.stringify(error.drops.map((it) => it.details))));
      client.capture({ distinctId: "u", event: "bought" });
      client.capture({ distinctId: "u", event: "e".repeat(201) });
      ${end}`;
    const waits = `const timer = setInterval(() => {}, 1000); await client.shutdown(); clearInterval(timer);`;
    const retried = "a fault gave this result";
    test.each([
      ["", waits, ["event_name_too_long"], ["drop event_name_too_long: the event's name is longer"]],
      [
        "events-dropped",
        waits,
        ["billing_limit_exceeded", "billing_limit_exceeded"],
        ["drop ×2 billing_limit_exceeded: a fault gave this result → `phx-sim faults clear`"],
      ],
      [
        "events-retried",
        "client.flush().catch(() => {}); await call('POST', '/__sim/settle', '{}'); process.exit(0);",
        undefined,
        [`retry ×2 not_persisted: ${retried}; 2 events did not arrive again → keep the process alive`],
      ],
      [
        "events-retried",
        waits,
        ["event_name_too_long"],
        [`retry ×2 not_persisted: ${retried} → `, "drop event_name_too_long: the event's name is longer"],
      ],
    ])("fault %j, then %s", async (preset, end, drops, lines) => {
      const ended = await exec(["--json"], script(sending(preset, end)), v1, root).ended;
      const verdict = RunVerdict.parse(JSON.parse(ended.stdout));
      expect(verdict.verdict).toBe("passed");
      // the SDK's own errors; --json keeps stdout for the verdict
      if (drops) expect(ended.stderr).toContain(`${JSON.stringify(drops)}\n`);
      const section = verdict.sections.find(({ name }) => name === "result");
      expect(section).toMatchObject({ title: "capture v1", failed: false });
      expect(section?.items).toHaveLength(lines.length);
      for (const line of lines) expect(ended.stderr).toContain(`\n  result ${line}`);
    });

    test("nothing is said if all are ok", async () => {
      const sdk = `import { PostHog } from "posthog-node";
        const client = new PostHog(api_key, { host });
        client.capture({ distinctId: "u", event: "bought" });
        await client.shutdown();`;
      const { stderr } = await exec([], script(sdk), v1, root).ended;
      expect(stderr).toContain("1 event kept, 0 dropped");
      expect(stderr).not.toContain("capture v1");
    });
  });

  test("silence has its own words", async () => {
    expect((await exec([], script("")).ended).stderr).toContain("nothing reached it");
  });

  test("what posthog-node sends on its way out counts", async () => {
    const code = `import { PostHog } from "posthog-node";
      const client = new PostHog(api_key, { host, flushAt: 1 });
      client.capture({ distinctId: "u", event: "bye" });
      await client.shutdown();
      process.exit(0);`;
    const { stderr } = await exec([], script(code), {}, root).ended;
    expect(stderr).toContain("phx-sim: 1 event kept");
  });

  test("what a command sends without waiting for the answer counts", async () => {
    const code = `import { connect } from "node:net";
      const body = JSON.stringify({ api_key, event: "bye", distinct_id: "u" });
      const socket = connect(new URL(host).port, "127.0.0.1");
      socket.end("POST /capture/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\nContent-Length: " +
        body.length + "\\r\\n\\r\\n" + body, () => process.exit(0));`;
    expect((await exec([], script(code)).ended).stderr).toContain("1 request (0 for flags)");
  });

  test("--quiet: nothing but the reason to fail", async () => {
    expect(await exec(["--quiet"], script(dropped)).ended).toEqual({ code: 0, stdout: "", stderr: "" });
    expect((await exec(["--quiet", "--fail-on", "dropped"], script(dropped)).ended).stderr).toBe(
      "phx-sim: --fail-on: 1 event dropped\n",
    );
  });
});

describe("--fail-on", () => {
  const rows: [failOn: string, code: string, expected: number, said: string][] = [
    ["dropped", dropped, 1, "1 event dropped"],
    ["rejected", rejected, 1, "1 request rejected"],
    ["unmatched", unmatched, 1, "1 request to paths that do not exist"],
    ["dropped, unmatched", dropped + unmatched, 1, "1 event dropped, 1 request to paths that do not exist"],
    ["dropped", kept + rejected + unmatched, 0, ""],
    ["rejected", kept + dropped + unmatched, 0, ""],
    ["unmatched", kept + dropped + rejected, 0, ""],
    ["dropped", `${dropped} process.exit(5);`, 5, "1 event dropped"],
  ];
  test.each(rows)("%s after %s: %i", async (failOn, code, expected, said) => {
    const ended = await exec(["--quiet", "--fail-on", failOn], script(code)).ended;
    expect(ended).toEqual({ code: expected, stdout: "", stderr: said && `phx-sim: --fail-on: ${said}\n` });
  });

  test("also by its variable and by the config file", async ({ folder: cwd }) => {
    writeFileSync(join(cwd, "phx-sim.config.json"), `{"fail-on": "dropped"}`);
    expect((await exec(["--quiet"], script(dropped), {}, cwd).ended).code).toBe(1);
    const byVariable = exec(["--quiet"], script(rejected), { PHX_SIM_FAIL_ON: "rejected" });
    expect((await byVariable.ended).code).toBe(1);
  });
});

describe("--report", () => {
  test("writes events, requests and a summary, whole", async ({ folder: cwd }) => {
    const code = `${kept}${dropped}${unmatched} process.exit(3);`;
    const ended = await exec(["--report", "out/phx"], script(code), { GITHUB_STEP_SUMMARY: join(cwd, "step.md") }, cwd)
      .ended;
    expect(ended.code).toBe(3);
    const folder = join(cwd, "out/phx");
    expect(readdirSync(folder).sort()).toEqual([
      "events.ndjson",
      "report.html",
      "requests.har",
      "summary.json",
      "summary.md",
    ]);
    expect(readdirSync(cwd).sort()).toEqual(["out", "step.md"]);
    const events = readFileSync(join(folder, "events.ndjson"), "utf8").trimEnd().split("\n");
    expect(events.map((line) => JSON.parse(line))).toMatchObject([
      { seq: 1, event: "signup", outcome: "kept" },
      { seq: 2, event: "checkout", outcome: "dropped", reason: "missing_distinct_id" },
    ]);
    const har = JSON.parse(readFileSync(join(folder, "requests.har"), "utf8"));
    expect(har.log.entries.map((it: { request: { url: string } }) => new URL(it.request.url).pathname)).toEqual([
      "/capture/",
      "/capture/",
      "/nowhere/at/all",
    ]);
    const summary = readFileSync(join(folder, "summary.md"), "utf8");
    expect(summary).toContain("❌ failed (exit code of the command: 3)");
    expect(summary).toContain(
      "| dropped | checkout | 1 | project 1 &quot;".replaceAll("&quot;", '"') +
        'Default project" | missing&#95;distinct&#95;id |',
    );
    expect(readFileSync(join(cwd, "step.md"), "utf8")).toBe(summary);
  });

  test("the step summary of a job is appended to, and its failure is no failure of the run", async () => {
    const cwd = newFolder();
    const file = join(cwd, "step.md");
    writeFileSync(file, "before\n");
    await exec(["--quiet"], script(kept), { GITHUB_STEP_SUMMARY: file }, cwd).ended;
    expect(readFileSync(file, "utf8")).toMatch(/^before\n## phx-sim\n[\s\S]*✅ passed/);
    const { code, stderr } = await exec([], script(kept), { GITHUB_STEP_SUMMARY: cwd }, cwd).ended;
    expect(stderr).toMatch(/phx-sim: the step summary cannot be written to .*: /);
    expect(code).toBe(0);
  });

  test("a second run replaces it, and an empty one is a report, too", async ({ folder: cwd }) => {
    await exec(["--quiet", "--report", "out"], script(kept), {}, cwd).ended;
    await exec(["--quiet", "--report", "out"], script(""), {}, cwd).ended;
    expect(readFileSync(join(cwd, "out/events.ndjson"), "utf8")).toBe("");
    expect(readFileSync(join(cwd, "out/summary.md"), "utf8")).toContain("✅ passed");
  });

  test("a folder that cannot be written any more costs a line and the code 1", async ({ folder: cwd }) => {
    const code = `import { rmSync, writeFileSync } from "node:fs"; rmSync("out", { recursive: true }); writeFileSync("out", "");`;
    const { code: ended, stderr } = await exec(["--quiet", "--report", "out"], script(code), {}, cwd).ended;
    expect(ended).toBe(1);
    expect(stderr).toMatch(/^phx-sim: the report in \S+out is incomplete: a part of its path is not a folder\n$/);
  });
});

describe("--json", () => {
  test("is one document on stdout; the command's own output goes to stderr", async ({ folder: cwd }) => {
    const code = `console.log("hello"); ${kept}${dropped} await send("/flags/?v=2", { distinct_id: "u" });`;
    const args = ["--json", "--fail-on", "dropped", "--report", "out", "--junit", "out/phx.xml"];
    const { code: ended, stdout, stderr } = await exec(args, script(code), {}, cwd).ended;
    expect(ended).toBe(1);
    const run = RunVerdict.parse(JSON.parse(stdout));
    expect(stderr).toMatch(/^hello\n/m);
    expect(run).toMatchObject({
      verdict: "failed",
      exit_code: 1,
      command: { exit_code: 0 },
      failures: [{ code: "dropped", text: "1 event dropped", count: 1 }],
      events: { kept: 1, dropped: 1 },
      dropped: { items: [{ what: "checkout", tests: { items: [{ name: "Default project" }] } }] },
      requests: { total: 3, flags: 1 },
    });
    expect(run.sdks.items).toMatchObject([{ name: "unknown", kept: 1, dropped: 1 }]);
    expect(readFileSync(join(cwd, "out/summary.json"), "utf8")).toBe(stdout);
    expect(readFileSync(join(cwd, "out/phx.xml"), "utf8")).toContain('name="rule dropped"><failure');
    expect(run.files).toContain(join(cwd, "out/phx.xml"));
  });

  test("also for a command that cannot be run", async () => {
    const { code, stdout } = await exec(["--json", "--quiet"], ["phx-no-such-program"]).ended;
    expect(code).toBe(127);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 127, failures: [{ code: "command_not_run" }] });
  });
});

describe("the real service", () => {
  const leak = `await fetch("https://us.i.posthog.com/batch/", { method: "POST" }).catch(() => {});`;

  test.each([
    [["--block-egress"], 0],
    [["--fail-on", "egress"], 1],
  ])("%j: calls to it are blocked and reported", async (args, expected) => {
    const { code, stderr } = await exec(args, script(kept + leak)).ended;
    expect(code).toBe(expected);
    expect(stderr).toContain(
      "  blocked POST https://us.i.posthog.com/batch/ egress: this call to the real service was blocked → set the SDK's host",
    );
    expect(stderr).toContain("phx-sim: 1 event kept");
    expect(stderr.includes("phx-sim: --fail-on: 1 call to the real service blocked\n")).toBe(expected === 1);
  });

  test("--fail-on egress passes when there were none", async () => {
    const ended = await exec(["--quiet", "--fail-on", "egress"], script(kept)).ended;
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("the tracking plan", () => {
  const plan = (cwd: string, name: string, text: string) => writeFileSync(join(cwd, name), text);
  const signupOnly = `{"version": 1, "events": {"signup": {}}}`;

  test("is found, and violations fail the run", async ({ folder: cwd }) => {
    plan(cwd, "events.plan.json", signupOnly);
    const other = `await send("/capture/", { event: "surprise", distinct_id: "u" });`;
    const { code, stderr } = await exec(["--fail-on", "plan"], script(kept + other), {}, cwd).ended;
    expect(code).toBe(1);
    expect(stderr).toContain("surprise");
    expect(stderr).toContain("phx-sim: --fail-on: 1 violation of the tracking plan\n");
    expect((await exec(["--fail-on", "plan"], script(kept), {}, cwd).ended).code).toBe(0);
  });

  test("--plan alone reports, and does not fail", async ({ folder: cwd }) => {
    plan(cwd, "mine.json", signupOnly);
    const other = `await send("/capture/", { event: "surprise", distinct_id: "u" });`;
    const { code, stderr } = await exec(["--plan", "mine.json"], script(other), {}, cwd).ended;
    expect(code).toBe(0);
    expect(stderr).toContain("surprise");
  });

  test.each([
    [["--fail-on", "plan"], "there is no events.plan.json"],
    [["--plan", "missing.json"], "missing.json"],
    [["--plan", "broken.json"], "broken.json"],
  ])("%j without a good one is a mistake", async (args, said) => {
    const cwd = newFolder();
    plan(cwd, "broken.json", `{"version": 7}`);
    const { code, stderr } = await exec(args, ["true"], {}, cwd).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});

describe("the world", () => {
  const write = (cwd: string, name: string, content: object) => writeFileSync(join(cwd, name), JSON.stringify(content));
  const organizations = (api_key: string) => [{ name: "Local", projects: [{ id: 1, api_key }] }];
  const sayKey = script("console.log(api_key)");

  test.each([
    [["mine.json"], "phc_mine"],
    [["--scenario", "mine.json"], "phc_mine"],
    [["./mine.json"], "phc_mine"],
    [["--scenario", "mine.json", "other.json"], "phc_other"],
    [[], "phc_sim_default"],
  ])("%j", async (args, key) => {
    const cwd = newFolder();
    write(cwd, "mine.json", { extends: "default", organizations: organizations("phc_mine") });
    write(cwd, "other.json", { organizations: organizations("phc_other") });
    expect((await exec(["--quiet", ...args], sayKey, {}, cwd).ended).stdout).toBe(`${key}\n`);
  });

  test("--adopt-tokens, --clock and --strict are those of start", async () => {
    const code = `${rejected.replace("phc_nobodys", "phc_new")}
      console.log(JSON.parse((await call("GET", "/__sim/clock")).text).now.slice(0, 4), (await send("/nowhere", {})).status);`;
    const { stdout, stderr } = await exec(["--adopt-tokens", "--clock", "2031-01-01", "--strict"], script(code)).ended;
    expect(stdout).toBe("2031 501\n");
    expect(stderr).toContain("1 event kept");
  });

  test("nothing is left in the folder", async ({ folder: cwd }) => {
    await exec([], script(kept), {}, cwd).ended;
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("mistakes", () => {
  const rows: [args: string[], expected: number, said: string][] = [
    [["exec"], 2, "exec needs -- and a command after it, e.g. phx-sim exec -- npm test"],
    [["exec", "--"], 2, "exec needs -- and a command after it, e.g. phx-sim exec -- npm test"],
    [["exec", "npx", "vitest", "--coverage"], 2, "e.g. phx-sim exec -- npx vitest --coverage"],
    [["exec", "--fail-on", "droped", "--", "true"], 2, "--fail-on must be one or more of dropped, rejected, unmatched"],
    [["exec", "--fail-on", "dropped,,", "--", "true"], 2, "--fail-on must be names with commas between them"],
    [["exec", "--fail-on", "", "--", "true"], 2, "--fail-on must be names with commas"],
    [["exec", "--fail-on", "toString", "--", "true"], 2, 'not "toString"'],
    [["exec", "--reprot", "x", "--", "true"], 2, "unknown option --reprot; did you mean --report?"],
    [["exec", "--port", "x", "--", "true"], 2, "--port must be a whole number"],
    [["exec", "--report", "file/below", "--", "true"], 2, "/file/below: a part of its path is not a folder"],
    [["exec", "--report", "file", "--", "true"], 2, "/file: it is a file"],
    [["exec", "--junit", "file/x.xml", "--", "true"], 2, "--junit cannot be put into"],
    [["exec", "--clock", "noon", "--", "true"], 2, "noon"],
    [["exec", "missing.json", "--", "true"], 3, "missing.json"],
    [["exec", "no-such-world", "--", "true"], 3, "no-such-world"],
  ];
  test.each(rows)("%j: %i", async (args, expected, said) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "file"), "");
    const { code, stdout, stderr } = await phxSim(args, { cwd }).ended;
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toContain(said);
  });

  test("a wrong variable is named", async () => {
    const { code, stderr } = await exec([], ["true"], { PHX_SIM_FAIL_ON: "all" }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("phx-sim: PHX_SIM_FAIL_ON must be one or more of ");
  });

  test("the help needs no command", async () => {
    const { code, stdout } = await phxSim(["exec", "--help"], { cwd: newFolder() }).ended;
    expect(code).toBe(0);
    expect(stdout).toContain("phx-sim exec [scenarios..] [options] -- COMMAND…");
  });

  test("a folder instead of the report's file", async ({ folder: cwd }) => {
    mkdirSync(join(cwd, "out/summary.md/x"), { recursive: true });
    const { code, stderr } = await exec(["--quiet", "--report", "out"], script(""), {}, cwd).ended;
    expect(code).toBe(1);
    expect(stderr).toContain("the report in ");
    expect(readdirSync(join(cwd, "out")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
