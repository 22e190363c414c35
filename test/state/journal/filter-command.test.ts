import { beforeAll, expect, test } from "vitest";
import { newFolder, phxSim, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady([], { cwd });
beforeAll(async () => {
  const batch = [
    { event: "signup", distinct_id: "u1", properties: { amount: 12 } },
    { event: "sign up", distinct_id: "u2", properties: { amount: 3 } },
    { distinct_id: "u3" },
  ];
  await post(`${ready.url}/batch/`, { api_key: ready.project_api_key, batch });
});

const events = (...args: string[]) => runHere(["events", ...args], { cwd });
const tailing = (...args: string[]) => phxSim(["events", "tail", ...args], { cwd });

const ids = (stdout: string): string[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).distinct_id);

const lists: [args: string[], expected: string[]][] = [
  [["prop.amount:>10"], ["u1"]],
  [['event:"sign up"'], ["u2"]],
  [["is:dropped OR id:u1"], ["u1", "u3"]],
  [["-is:dropped", "--distinct-id", "u2"], ["u2"]],
  [["since:5m", "--limit", "1"], ["u3"]],
  [["status:>=400"], []],
  [[""], ["u1", "u2", "u3"]],
];
test.each(lists)("list --filter %j", async ([filter = "", ...more], expected) => {
  const { code, stdout } = await events("list", "--json", `--filter=${filter}`, ...more);
  expect({ code, ids: ids(stdout) }).toEqual({ code: 0, ids: expected });
});

test("tail --filter prints only what fits", async () => {
  const tail = tailing("--since", "0", "--json", "--filter", "prop.amount:<10");
  await tail.says("stdout", /\n/);
  const batch = [
    { event: "late", distinct_id: "u4", properties: { amount: 50 } },
    { event: "late", distinct_id: "u5", properties: { amount: 5 } },
  ];
  await post(`${ready.url}/batch/`, { api_key: ready.project_api_key, batch });
  await tail.says("stdout", /u5/);
  const { stdout } = await tail.signal("SIGTERM");
  expect(ids(stdout)).toEqual(["u2", "u5"]);
});

const mistakes: [filter: string, said: string][] = [
  ["evnt:a", '--filter is wrong at character 1: there is no field "evnt"; did you mean event?'],
  ["a status:x", '--filter is wrong at character 10: "status" is a number; for example status:>=400'],
  ["(a", "--filter is wrong at character 1: this parenthesis is not closed"],
  ["a OR", '--filter is wrong at character 3: there is nothing after this OR; write "OR" in quotes to look for it'],
];
test.each(mistakes)("%s is a mistake, with or without a sim", async (filter, said) => {
  for (const command of ["list", "tail"]) {
    const { code, stdout, stderr } = await runHere(["events", command, "--filter", filter], { cwd: newFolder() });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `phx-sim: ${said}\n` });
  }
});

test("what a filter holds cannot touch the terminal", async () => {
  const { code, stderr } = await events("list", "--filter", "a.\u001b[2J\u202e:x");
  expect(code).toBe(2);
  expect(stderr).toContain("\\x1b[2J\\u202e");
  expect(stderr.replace(/\n$/, "")).not.toMatch(/\p{Cc}|\u202e/u);
});
