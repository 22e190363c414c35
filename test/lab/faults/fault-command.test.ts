import { afterEach, describe, expect, test } from "vitest";
import { newFolder, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready, sim } = await startReady(["--memory"], { cwd });
afterEach(() => run("clear"));

const run = (...args: string[]) => runHere(["fault", ...args], { cwd, env: { PHX_SIM_URL: ready.url } });

const capture = (path = "/capture/") =>
  fetch(ready.url + path, {
    method: "POST",
    body: JSON.stringify({ api_key: ready.project_api_key, event: "seen", distinct_id: "u" }),
  });

describe("phx-sim fault", () => {
  test("apply, list, clear", async () => {
    const applied = await run("apply", "capture-503", "--times", "1", "--for", "30s");
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    expect(applied.stdout).toMatch(
      /^capture-503 \(fault-\d+\) {2}status 503 on capture, once, for 30 s {2}active, 0 requests affected\n$/,
    );
    expect((await capture()).status).toBe(503);
    expect((await capture()).status).toBe(200);
    expect((await run("list")).stdout).toMatch(/used up, 1 request affected\n$/);
    expect((await run("clear", "--which", "capture-503")).stdout).toBe("cleared 1 fault\n");
    expect((await run("list")).stdout).toBe("no faults\n");
  });

  test("a rule as JSON, narrowed by options, answered as JSON", async () => {
    const { code, stdout } = await run(
      "apply",
      '{"effect":{"status":500}}',
      ...["--name", "mine", "--route", "/batch", "--method", "post", "--project", "1"],
      ...["--rate", "0.5", "--seed", "7", "--json"],
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "mine",
      preset: null,
      match: { route: "/batch", method: "POST", project: 1 },
      effect: { status: 500 },
      rate: 0.5,
      seed: 7,
    });
  });

  test("a latency takes the place of the preset's effect", async () => {
    const { stdout } = await run("apply", "flags-slow", "--latency", "5ms", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ match: { route: "flags" }, effect: { latency: 5 } });
  });

  test("presets", async () => {
    const { stdout } = await run("presets");
    expect(stdout.split("\n")).toHaveLength(12);
    expect(stdout).toContain("flags-down        The flags service is not available\n");
  });

  const mistakes: [args: string[], reported: RegExp][] = [
    [["apply", "flags-donw"], /did you mean "flags-down"\?/],
    [["apply", "{nonsense"], /FAULT must be a preset's name or a rule as a JSON object/],
    [["apply", "flags-down", "--rate", "2"], /a number of at most 1/],
    [["apply", "flags-down", "--route", "nowhere"], /a path such as \/flags/],
    [["apply"], /faults apply needs FAULT/],
    [["clear", "--which", "nobody"], /there is no fault "nobody"/],
    [["lsit"], /unknown command "faults lsit"; did you mean list\?/],
  ];
  test.each(mistakes)("%j ends with 2", async (args, reported) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(reported);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("the terminal of the sim reports faults and of what they touch", async () => {
    await run("apply", "connection-reset", "--name", "cut", "--times", "1", "--route", "/e");
    await sim.says("stderr", /phx-sim: fault cut is on: a connection reset on \/e, once\n/);
    await expect(capture("/e/")).rejects.toThrow();
    await sim.says("stderr", /phx-sim: fault cut ended: used up; requests affected: 1\n/);
    await sim.says("stderr", /POST \/e\/ no response {2}fault cut {2}[\d.]+ ms\n/);
  });
});
