import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newFolder, type Process, phxSim, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { sim, ready } = await startReady(["--adopt-tokens"], { cwd });

const started: Process[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((it) => it.signal("SIGTERM")));
});

const events = (...args: string[]) => {
  const it = phxSim(["events", ...args], { cwd });
  started.push(it);
  return it;
};
const run = (...args: string[]) => runHere(["events", ...args], { cwd });

const capture = (event: object, api_key = ready.project_api_key) =>
  post(`${ready.url}/capture/`, { api_key, ...event });

const names = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).event);

describe("with three events", () => {
  beforeEach(async () => {
    await run("clear");
    await capture({ event: "signup", distinct_id: "u1", properties: { plan: "pro", amount: 12, $lib: "web" } });
    await capture({ event: "signup", distinct_id: "u2", properties: { plan: "free" } });
    await capture({ event: "lost" });
  });

  const lists: [args: string[], expected: string[]][] = [
    [[], ["signup", "signup", "lost"]],
    [
      ["--event", "signup"],
      ["signup", "signup"],
    ],
    [["--distinct-id", "u2"], ["signup"]],
    [["--outcome", "dropped"], ["lost"]],
    [
      ["--outcome", "kept"],
      ["signup", "signup"],
    ],
    [["--limit", "1"], ["lost"]],
    [
      ["--project", "1", "--event", "signup"],
      ["signup", "signup"],
    ],
    [["--project", "77"], []],
    [["--where", '{"properties":{"plan":"pro"}}'], ["signup"]],
    [["--where", '{"properties":{"amount":{"@gte":10}}}'], ["signup"]],
    [["--where", '{"properties":{"amount":{"@gte":13}}}'], []],
    [["--since", "999999"], []],
  ];
  test.each(lists)("list %j", async (args, expected) => {
    const { code, stdout } = await run("list", "--json", ...args);
    expect(code).toBe(0);
    expect(names(stdout)).toEqual(expected);
  });

  test("list, for people", async () => {
    const { code, stdout, stderr } = await run("list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^[\d:.]{12} {2}#\d+ {2}signup {2}u1 {2}\{"plan":"pro","amount":12\}\n[\d:.]{12} {2}#\d+ {2}signup {2}u2 {2}\{"plan":"free"\}\n[\d:.]{12} {2}#\d+ {2}lost {2}\(no distinct id\) {2}✕ dropped missing_distinct_id\n$/,
    );
  });

  test("list says when there are older ones", async () => {
    expect((await run("list", "--limit", "2")).stderr).toMatch(/^phx-sim: older ones are not shown/);
  });

  test("clear says how many, and --json as the sim does", async () => {
    expect((await run("clear", "--project", "77")).stdout).toBe("cleared 0 events\n");
    expect((await run("clear")).stdout).toBe("cleared 3 events\n");
    expect(JSON.parse((await run("clear", "--json")).stdout)).toMatchObject({ cleared: 0 });
    expect(await run("list")).toEqual({ code: 0, stdout: "", stderr: "phx-sim: no events\n" });
  });

  test("clear --compact deletes the requests, too; not of one project", async () => {
    const { code, stderr } = await run("clear", "--compact", "--project", "1");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("compact") });
    expect((await run("clear", "--compact")).stdout).toBe("cleared 3 events\n");
    expect(await (await fetch(`${ready.url}/__sim/requests`)).json()).toMatchObject({ requests: [] });
  });

  test("wait finds what is there", async () => {
    const { code, stdout } = await run("wait", "--event", "signup", "--count", "2", "--json");
    expect({ code, names: names(stdout) }).toEqual({ code: 0, names: ["signup", "signup"] });
  });

  test("wait with a pattern", async () => {
    const { stdout } = await run("wait", "--where", '{"properties":{"plan":{"@in":["free","trial"]}}}', "--json");
    expect(JSON.parse(stdout)).toMatchObject({ distinct_id: "u2" });
  });

  test("wait in vain ends with 1 and the report", async () => {
    const { code, stdout, stderr } = await run("wait", "--event", "sign_up", "--timeout", "50ms");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("signup");
    expect(stderr).toContain("missing_distinct_id");
  });
});

test("wait returns when the event comes", async () => {
  await run("clear");
  const waiting = events("wait", "--event", "late", "--distinct-id", "u9", "--timeout", "30s", "--json");
  await capture({ event: "late", distinct_id: "u8" });
  await capture({ event: "late", distinct_id: "u9" });
  const { code, stdout } = await waiting.ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ event: "late", distinct_id: "u9" });
});

describe("tail", () => {
  test("prints what is there and what comes, and ends quietly", async () => {
    await run("clear");
    await capture({ event: "before", distinct_id: "u" });
    const tail = events("tail", "--since", "0");
    await tail.says("stdout", /before {2}u\n/);
    await capture({ event: "first", distinct_id: "u" });
    await tail.says("stdout", /first {2}u\n/);
    await capture({ event: "lost" });
    await tail.says("stdout", /lost {2}\(no distinct id\) {2}✕ dropped missing_distinct_id\n/);
    expect(await tail.signal("SIGINT")).toMatchObject({ code: 130, stderr: "" });
  });

  test("follows a filter, as JSON", async () => {
    await run("clear");
    const tail = events("tail", "--since", "0", "--json", "--where", '{"event":{"@regex":"^b"}}');
    await capture({ event: "a", distinct_id: "u" });
    await capture({ event: "b", distinct_id: "u" });
    await tail.says("stdout", /\n/);
    const { stdout } = await tail.signal("SIGTERM");
    expect(names(stdout)).toEqual(["b"]);
  });

  test("names the project when there are several", async () => {
    await capture({ event: "theirs", distinct_id: "u" }, "phc_another");
    const { stdout } = await run("list", "--event", "theirs");
    expect(stdout).toMatch(/ {2}\[2\] {2}theirs {2}u\n$/);
  });

  test("captured text cannot touch the terminal", async () => {
    await capture({ event: "\u001b[2J\nx", distinct_id: "\u202eu", properties: { "\u0007": "\u001b]0;x" } });
    const { stdout } = await run("list", "--limit", "1");
    expect(stdout).toContain("\\x1b[2J\\x0ax");
    expect(stdout).toContain("\\u202eu");
    expect(stdout.replace(/\n$/, "")).not.toMatch(/\p{Cc}|\u202e/u);
  });
});

const mistakes: [args: string[], said: RegExp][] = [
  [["list", "--where", '{"event":"a"'], /^phx-sim: --where is not JSON at character 13: /],
  [["list", "--where", '{\n"a":1,}'], /^phx-sim: --where is not JSON at 2:7: /],
  [["tail", "--where", "[1]"], /^phx-sim: --where must be a JSON object, e\.g\. .*, not \[1\]\n$/],
  [["wait", "--where", ""], /^phx-sim: --where is not JSON at character 1: /],
  [["wait", "--where", '{"event":"a"}', "--event", "b"], /^phx-sim: --event and "event" in --where say the same/],
  [["wait", "--where", '{"properties":{"a":{"@nope":1}}}'], /^phx-sim: .*@nope/],
  [["list", "--where", '{"properties":{"a":{"@nope":1}}}'], /^phx-sim: .*@nope/],
  [["wait", "--count", "0"], /^phx-sim: --count: expected a number of at least 1, got 0/],
  [["wait", "--timeout", "soon"], /^phx-sim: --timeout must be a time/],
  [["list", "--limit", "0"], /^phx-sim: --limit: expected a number of at least 1, got 0/],
  [["list", "--since", "-1"], /^phx-sim: --since must be a whole number/],
  [["list", "--outcome", "lost"], /^phx-sim: --outcome must be kept or dropped/],
  [["list", "--project", "one"], /^phx-sim: --project must be a whole number/],
  [["lst"], /^phx-sim: unknown command "events lst"; did you mean list\?/],
];
test.each(mistakes)("events %j is a mistake", async (args, said) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(said);
});

test("without a sim: 5", async () => {
  const { code, stderr } = await runHere(["events", "tail"], { cwd: newFolder() });
  expect(code).toBe(5);
  expect(stderr).toMatch(/^phx-sim: no running sim found/);
});

test("tail ends with 5 when the sim goes", async () => {
  const tail = events("tail", "--since", "0");
  await tail.says("stdout", /\n/);
  await sim.signal("SIGTERM");
  const { code, stderr } = await tail.ended;
  expect(code).toBe(5);
  expect(stderr).toBe(`phx-sim: the sim at ${ready.url} is gone\n`);
});
