import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { newFolder, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady(["--memory"], { cwd });
beforeAll(async () => {
  await capture({
    event: "signup",
    distinct_id: "u1",
    properties: { plan: "\u001b[1mpro", $groups: { company: "acme" } },
  });
  await post(`${ready.url}/captur`, {});
  await capture({ event: "lost" });
  const $group = { $group_type: "company", $group_key: "acme" };
  await capture({
    event: "$groupidentify",
    distinct_id: "u1",
    properties: { ...$group, $group_set: { name: "Acme" } },
  });
  await capture({
    event: "$groupidentify",
    distinct_id: "u1",
    properties: { ...$group, $group_set: { name: "Acme Inc" } },
  });
});

const capture = (event: object) => post(`${ready.url}/capture/`, { api_key: ready.project_api_key, ...event });
const run = (...args: string[]) => runHere(args, { cwd, env: { PHX_SIM_URL: ready.url } });

describe("requests list", () => {
  const rows: [args: string[], numbers: number[]][] = [
    [[], [1, 2, 3, 4, 5]],
    [
      ["--limit", "2"],
      [4, 5],
    ],
    [["--outcome", "unmatched"], [2]],
    [
      ["--outcome", "answered", "--since", "1"],
      [3, 4, 5],
    ],
    [["--filter", "status:>=400"], [2]],
    [["--project", "77"], []],
  ];
  test.each(rows)("%j", async (args, numbers) => {
    const { code, stdout } = await run("requests", "list", "--json", ...args);
    expect(code).toBe(0);
    const lines = stdout.split("\n").filter((line) => line !== "");
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(numbers);
  });

  test("for people", async () => {
    const { stdout, stderr } = await run("request", "list");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^[\d:.]{12} {2}#1 {2}POST \/capture\/ 200 {2}1 event kept {2}[\d.]+ ms$/);
    expect(lines[1]).toMatch(/#2 {2}POST \/captur 404 {2}rejected not_found/);
    expect(lines[2]).toMatch(/#3 {2}POST \/capture\/ 200 {2}0 of 1 events kept/);
    expect(stderr).toBe("");
    expect((await run("requests", "list", "--limit", "1")).stderr).toMatch(/^phx-sim: older ones are not shown/);
    expect((await run("requests", "list", "--project", "77")).stderr).toBe("phx-sim: no requests\n");
  });
});

describe("requests show", () => {
  test("headers, body, answer and events, safe on a terminal", async () => {
    const { code, stdout } = await run("requests", "show", "1");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^POST \/capture\/\n {2}.*content-type: application\/json\n/ms);
    expect(stdout).toMatch(/^response 200\n/m);
    expect(stdout).toMatch(/^1 event\n.*signup {2}u1/ms);
    expect(stdout).not.toContain("\u001b");
  });

  test("a path that does not exist names the nearest", async () => {
    expect((await run("requests", "show", "2")).stdout).toMatch(/nearest endpoints: .*\/capture/);
  });

  test("as JSON", async () => {
    const { stdout } = await run("requests", "show", "1", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ n: 1, status: 200, carried: [{ event: "signup" }] });
  });
});

test("requests har writes a file, whole, and not over another", async () => {
  const file = join(cwd, "traffic.har");
  const first = await run("requests", "har", "--out", "traffic.har", "--json");
  expect(JSON.parse(first.stdout)).toEqual({ file, bytes: expect.any(Number) });
  const { log } = JSON.parse(readFileSync(file, "utf8"));
  expect(log.entries).toHaveLength(5);
  const again = await run("requests", "har", "--out", "traffic.har");
  expect(again).toEqual({
    code: 1,
    stdout: "",
    stderr: `phx-sim: ${file} already exists; give another file with --out, or --force\n`,
  });
  expect((await run("requests", "har", "--out", "traffic.har", "--force", "--limit", "1")).code).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8")).log.entries).toHaveLength(1);
  const { stdout } = await run("requests", "har", "--outcome", "rejected");
  expect(JSON.parse(stdout).log.entries).toHaveLength(1);
});

describe("groups", () => {
  test("list", async () => {
    expect((await run("groups", "list")).stdout).toBe('company acme  {"name":"Acme Inc"}  project 1\n');
    const { stdout } = await run("group", "list", "--search", "ACME", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ type: "company", key: "acme", project: 1 });
    expect((await run("groups", "list", "--search", "zzz")).stderr).toBe("phx-sim: no groups\n");
  });

  test("show", async () => {
    const { code, stdout } = await run("groups", "show", "company", "acme");
    expect(code).toBe(0);
    expect(stdout).toMatch(/properties {3}name = "Acme Inc"\n/);
    expect(stdout).toMatch(/history {6}#\d+ name: "Acme"\n +#\d+ name: "Acme" → "Acme Inc"\n/);
    expect(stdout).toMatch(/events {7}#1 signup {2}u1\n/);
    const asJson = await run("groups", "show", "company", "acme", "--json", "--limit", "1");
    expect(JSON.parse(asJson.stdout)).toMatchObject({ key: "acme", events: [{ event: "signup" }] });
  });
});

test("events show", async () => {
  const { code, stdout } = await run("event", "show", "1");
  expect(code).toBe(0);
  expect(stdout).toMatch(/ {2}#1 {2}\[1\] {2}signup {2}u1\n {2}outcome {6}kept\n/);
  expect(stdout).toContain("phx-sim requests show 1");
  expect(stdout).toContain('plan = "\\u001b[1mpro"');
  expect((await run("events", "show", "2")).stdout).toMatch(/outcome {6}✕ dropped missing_distinct_id/);
  expect(JSON.parse((await run("events", "show", "1", "--json")).stdout)).toMatchObject({ seq: 1, event: "signup" });
});

/** What the sim refuses is said by the names of the command's own options. */
describe("mistakes", () => {
  const rows: [line: string, said: string][] = [
    ["requests show", "requests show needs NUMBER (phx-sim requests show --help)"],
    ["requests show 99", "there is no request 99"],
    ["requests show x", 'NUMBER must be a whole number, not "x"'],
    ["requests list --limit 0", "--limit: expected a number of at least 1, got 0"],
    ["requests har --limit 0", "--limit: expected a number of at least 1, got 0"],
    [
      "requests list --filter status:x",
      '--filter is wrong at character 8: "status" is a number; for example status:>=400',
    ],
    ["requests list --outcome lost", '--outcome must be answered, rejected or unmatched, not "lost"'],
    ["requests ls", 'unknown command "requests ls"; phx-sim requests has list, show, har (phx-sim requests --help)'],
    ["requsts list", 'unknown command "requsts"; did you mean requests? (phx-sim --help lists all)'],
    ["list requests", 'unknown command "list"; did you mean requests list? (phx-sim --help lists all)'],
    ["groups show company", "groups show needs TYPE and KEY (phx-sim groups show --help)"],
    ["groups show company nope", 'there is no group "nope" of the type "company"; known types: company'],
    ["groups list --limit 0", "--limit: expected a number of at least 1, got 0"],
    ["events show 99", "there is no event 99"],
    ["events wait --project 8", "--project: there is no project 8; `phx-sim status --json` lists the projects"],
    ["events wait --timeout 20m", "--timeout: expected a time from 0 to 1 min, got 20 min"],
    ['events list --where {"a":{"@nope":1}}', '--where: there is no operator "@nope"; operators: '],
    ['events wait --where {"a":{"@nope":1}}', '--where: there is no operator "@nope"; operators: '],
    [
      "events clear --compact --project 1",
      "--project: --compact deletes the requests of all projects; leave out --project, or leave out --compact to hide",
    ],
    ["clock advance 1x", "BY: expected a duration of 0 or more such as 1h, 90s or 1d12h (units: ms s m h d w), "],
    ["clock set never", "TIME: expected a time from 1970 to 9999 such as 2025-06-01T12:00:00Z, "],
    ["clock freeze --at never", "--at: expected a time from 1970 to 9999 such as 2025-06-01T12:00:00Z, "],
    ["exports show 1", "there is no run 1; `phx-sim exports runs` lists them"],
    ["exports runs --limit 0", "--limit: expected a number of at least 1, got 0"],
    ["fault apply nope", 'FAULT: expected "flags-partial", '],
    ["faults apply capture-503 --rate 2", "--rate: expected a number of at most 1, got 2"],
    ["faults apply capture-503 --times 0", "--times: expected a number of at least 1, got 0"],
    ['faults apply {"effect":{"status":1}}', "FAULT /effect/status: expected a number of at least 200, got 1"],
    ["flags set nope true", 'project 1 has no flag "nope"; its flags: '],
    ["state snapshot .x", "NAME: expected 1 to 64 letters, "],
    ["state reset --project 99", "--project: there is no project 99"],
  ];
  test.each(rows)("%s", async (line, said) => {
    const { code, stdout, stderr } = await run(...line.split(" "));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.startsWith(`phx-sim: ${said}`), stderr).toBe(true);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).not.toMatch(/__sim|[a-z]_[a-z]+"|"force"/);
  });
});
