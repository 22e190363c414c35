import { beforeAll, describe, expect, test } from "vitest";
import { newFolder, post, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady(["--memory"], { cwd });
beforeAll(async () => {
  await capture({ event: "seen", distinct_id: "anon-1", properties: {} });
  await capture({
    event: "$identify",
    distinct_id: "user-1",
    properties: { $anon_distinct_id: "anon-1", $set: { email: "ann@example.com", plan: "\u001b[1mpro" } },
  });
  await capture({ event: "seen", distinct_id: "user-2" });
});

const capture = (event: object) => post(`${ready.url}/capture/`, { api_key: ready.project_api_key, ...event });
const run = (...args: string[]) => runHere(["persons", ...args], { cwd, env: { PHX_SIM_URL: ready.url } });

describe("list", () => {
  const rows: [args: string[], ids: string[][]][] = [
    [["--search", "ann@"], [["anon-1", "user-1"]]],
    [["--distinct-id", "user-2"], [["user-2"]]],
    [["--project", "77"], []],
    [["--limit", "1", "--search", "user"], [["user-2"]]],
  ];
  test.each(rows)("%j", async (args, ids) => {
    const { code, stdout } = await run("list", "--json", ...args);
    expect(code).toBe(0);
    const lines = stdout.split("\n").filter((line) => line !== "");
    expect(lines.map((line) => JSON.parse(line).distinct_ids.sort())).toEqual(ids);
  });

  test("for people", async () => {
    const { stdout, stderr } = await run("list", "--search", "ann@");
    expect(stdout).toMatch(
      /^(?:anon-1, user-1|user-1, anon-1) {2}identified {2}\{.*ann@example\.com.* {2}\S+, project 1\n$/,
    );
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toBe("");
  });

  test("no one, and not everyone", async () => {
    expect((await run("list", "--search", "zzz")).stderr).toBe("phx-sim: no persons\n");
    expect((await run("list", "--limit", "1")).stderr).toBe("phx-sim: only 1 person shown; --limit N shows more\n");
  });
});

describe("show", () => {
  test("ids, properties and history, for people", async () => {
    const { code, stdout } = await run("show", "anon-1");
    expect(code).toBe(0);
    expect(stdout).toContain('email = "ann@example.com"');
    expect(stdout).toContain('plan = "\\u001b[1mpro"');
    expect(stdout).toMatch(/history {6}#\d+ \$identify \{.*"\$anon_distinct_id":"anon-1"/);
  });

  test("as JSON, by uuid", async () => {
    const person = JSON.parse((await run("show", "user-1", "--json")).stdout);
    const again = JSON.parse((await run("show", person.uuid, "--json", "--project", "1")).stdout);
    expect(again).toEqual(person);
    expect(person.history).toHaveLength(1);
  });

  const mistakes: [args: string[], said: RegExp][] = [
    [["show"], /needs ID/],
    [["show", "nobody"], /^phx-sim: no person has the uuid or distinct id "nobody"/],
    [["show", "../info"], /^phx-sim: no person has/],
    [["show", "user-1", "--project", "77"], /^phx-sim: no person has/],
    [["show", "a", "b"], /unexpected argument "b"/],
    [["list", "--limit", "0"], /^phx-sim: --limit: expected a number of at least 1, got 0/],
    [["drop"], /unknown command "persons drop"/],
  ];
  test.each(mistakes)("%j is a mistake", async (args, said) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(said);
  });
});
