import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { newFolder, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady([], { cwd });

const run = (...args: string[]) => runHere(["state", ...args], { cwd });
const ok = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: "" });

const capture = (event: string, distinctId = "u") =>
  post(`${ready.url}/capture/`, { api_key: ready.project_api_key, event, distinct_id: distinctId });

async function names(): Promise<string[]> {
  const answer = await (await fetch(`${ready.url}/__sim/events`)).json();
  return (answer as { events: { event: string }[] }).events.map((it) => it.event);
}

beforeEach(async () => {
  await post(`${ready.url}/__sim/reset`, {});
});

describe("reset", () => {
  test("all", async () => {
    await capture("a");
    expect(await run("reset")).toEqual(ok("back to the scenario: world, people, events, faults, answers, clock"));
    expect(await names()).toEqual([]);
  });

  test("some parts", async () => {
    await capture("a");
    expect(await run("reset", "--what", "people", "--what", "clock")).toEqual(
      ok("back to the scenario: people, clock"),
    );
    expect(await names()).toEqual(["a"]);
  });

  test("one project", async () => {
    await capture("a");
    const { stdout } = await run("reset", "--project", String(ready.project_id), "--json");
    expect(JSON.parse(stdout)).toMatchObject({ reset: ["world", "people", "events"] });
    expect(await names()).toEqual([]);
  });
});

test("snapshots: taken, listed, restored, deleted", async () => {
  await capture("a");
  expect(await run("snapshot", "base")).toEqual(ok("snapshot base taken: 1 person, 1 event"));
  await capture("b");
  expect(await run("restore", "Base")).toEqual(ok("back to snapshot base: 1 person, 1 event"));
  expect(await names()).toEqual(["a"]);
  expect(await run("snapshot", "base")).toEqual(ok("snapshot base replaced: 1 person, 1 event"));
  expect((await run("list")).stdout).toMatch(/^base {2}\S+Z {2}1 person, 1 event\n$/);
  expect(await run("delete", "base")).toEqual(ok("snapshot base deleted"));
  expect(await run("list")).toEqual(ok("no snapshots"));
});

describe("export and import", () => {
  test("what was exported is there again after an import", async () => {
    await capture("a");
    await capture("b", "v");
    const { code, stdout } = await run("export", "state.json");
    const file = join(cwd, "state.json");
    const text = readFileSync(file, "utf8");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `exported to ${file}: ${Buffer.byteLength(text)} bytes\n` });
    expect(JSON.parse(text)).toMatchObject({ phx_sim_state: 1 });
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    await post(`${ready.url}/__sim/reset`, {});
    expect(await run("import", "state.json")).toEqual(ok(`imported ${file}: 1 project, 2 persons, 2 events`));
    expect(await names()).toEqual(["a", "b"]);
  });

  test("a file that cannot be written leaves nothing behind", async () => {
    mkdirSync(join(cwd, "full", "state.json"), { recursive: true });
    const { code, stderr } = await run("export", "full/state.json");
    expect(code).toBe(1);
    expect(stderr).toMatch(/state\.json cannot be written: /);
    expect(readdirSync(join(cwd, "full"))).toEqual(["state.json"]);
  });
});

const mistakes: [what: string, args: string[], code: number, said: RegExp][] = [
  ["an unknown part", ["reset", "--what", "everything"], 2, /world, people, events, faults, answers or clock/],
  ["an unknown project", ["reset", "--project", "99"], 2, /there is no project 99/],
  ["no such snapshot", ["restore", "nothing"], 2, /there is no snapshot "nothing"/],
  ["a path for a name", ["snapshot", "../up"], 2, /NAME: expected 1 to 64 letters/],
  ["no file", ["import", "missing.json"], 2, /missing\.json cannot be read: there is no such file/],
  ["no state", ["import", "other.json"], 2, /"phx_sim_state" must be 1; import a state/],
  ["no JSON", ["import", "broken.json"], 2, /broken\.json: the state is not JSON at 1:2/],
  ["no folder", ["export", "nowhere/state.json"], 1, /cannot be written: there is no such file or folder/],
  ["no name", ["snapshot"], 2, /NAME|name/],
];
test.each(mistakes)("%s", async (_, args, code, said) => {
  writeFileSync(join(cwd, "other.json"), '{"a":1}');
  writeFileSync(join(cwd, "broken.json"), "{");
  const ended = await run(...args);
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(ended.stderr).toMatch(said);
});
