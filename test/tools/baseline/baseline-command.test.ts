import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { endAll, phxSim } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";

afterEach(endAll);

const name = "analytics.baseline.ndjson";
const head = '{"phx_sim_baseline":1}\n';

/** A suite: for each test a project that gets these events. */
const suite = (tests: Readonly<Record<string, readonly object[]>>, end = ""): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `const host = process.env.PHX_SIM_URL;
   const post = (path, body) => fetch(host + path, {
     method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
   });
   for (const [name, batch] of Object.entries(${JSON.stringify(tests)})) {
     const { api_key, id } = await (await post("/__sim/projects", { name })).json();
     await post("/batch/", { api_key, batch });
     await fetch(host + "/__sim/projects/" + id, { method: "DELETE" });
   }
   ${end}`,
];

const paid = { event: "paid", distinct_id: "u", properties: { amount: 1 } };
const run = (cwd: string, args: readonly string[], command?: readonly string[]) =>
  phxSim([...args, ...(command ? ["--", ...command] : [])], { cwd }).ended;

test("update, exec, diff and show", async ({ folder: cwd }) => {
  const file = join(cwd, name);
  const first = await run(cwd, ["baseline", "update"], suite({ one: [paid], two: [paid] }));
  expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(`${name} is written: 2 tests\n`) });
  const line = (test: string, type = "number") =>
    `{"test":"${test}","event":"paid","count":1,"properties":{"amount":"${type}"}}\n`;
  expect(readFileSync(file, "utf8")).toBe(head + line("one") + line("two"));

  // A run of one test compares that test, and replaces that test.
  const other = suite({ one: [{ ...paid, properties: { amount: "1" } }] });
  const warned = await run(cwd, ["exec", "--baseline", name, "--json"], other);
  expect(warned.code).toBe(0);
  expect(warned.stderr).toContain("~ paid: amount number → string\n");
  expect(JSON.parse(warned.stdout)).toMatchObject({
    verdict: "passed",
    sections: [
      {
        name: "baseline",
        summary: "1 change in 1 test; 1 test of the baseline did not run",
        items: [{ code: "property_changed", what: "paid: amount", tests: { items: [{ name: "one" }] } }],
      },
    ],
  });
  const failed = await run(cwd, ["exec", "--fail-on", "baseline", "--baseline-complete", "--quiet"], other);
  expect(failed).toMatchObject({ code: 1, stderr: "phx-sim: --fail-on: 2 changes of the analytics baseline\n" });
  writeFileSync(join(cwd, "main.ndjson"), readFileSync(file));
  await run(cwd, ["baseline", "update"], other);
  expect(readFileSync(file, "utf8")).toBe(head + line("one", "string") + line("two"));

  const changed = await run(cwd, ["baseline", "diff", "main.ndjson"]);
  expect(changed).toEqual({
    code: 1,
    stdout: '1 change in 1 test\nin "one"\n  ~ paid: amount number → string\n',
    stderr: "",
  });
  const same = await run(cwd, ["baseline", "diff", name, name, "--json"]);
  expect(same.code).toBe(0);
  expect(JSON.parse(same.stdout)).toMatchObject({ changed: [], compared: 2 });
  const markdown = await run(cwd, ["baseline", "diff", "main.ndjson", name, "--markdown"]);
  expect(markdown.stdout).toContain('```diff\n@@ "one" @@\n! paid: amount number → string\n```');
  const shown = await run(cwd, ["baseline", "show", "one"]);
  expect(shown.stdout).toBe('"one"\n  paid: amount string\n');
  expect(JSON.parse((await run(cwd, ["baseline", "show", "--json"])).stdout)).toHaveLength(2);
  expect(await run(cwd, ["baseline", "show", "ones"])).toMatchObject({
    code: 1,
    stderr: 'phx-sim: the baseline has no test "ones"; did you mean one?\n',
  });

  await run(cwd, ["baseline", "update", "--prune", "--sdk", "--no-order"], other);
  expect(readFileSync(file, "utf8")).toMatch(/^{"phx_sim_baseline":1,"sdk":true,"order":false}\n(?!.*"two")/);
});

test("the file stays as it is if the command fails, or nothing was sent", async ({ folder: cwd }) => {
  const failed = await run(cwd, ["baseline", "update"], suite({ one: [paid] }, "process.exit(7)"));
  expect(failed.code).toBe(7);
  expect(failed.stderr).toContain(`${name} is not written, because the command failed`);
  const silent = await run(cwd, ["baseline", "update"], [process.execPath, "-e", ""]);
  expect(silent).toMatchObject({ code: 1, stderr: expect.stringContaining("there is nothing to write") });
  expect(existsSync(join(cwd, name))).toBe(false);
});

test("mistakes are one line, before the command runs", async ({ folder: cwd }) => {
  const command = [process.execPath, "-e", 'fs.writeFileSync("ran", "")'];
  const says = async (args: readonly string[], message: string, withCommand = true) => {
    const { code, stderr } = await run(cwd, args, withCommand ? command : undefined);
    expect(stderr).toBe(`phx-sim: ${message}\n`);
    expect(code).toBe(2);
  };
  const how = "create it: phx-sim baseline update -- COMMAND";
  await says(["exec", "--fail-on", "baseline"], `there is no baseline ${name}; ${how}`);
  await says(["baseline", "show"], `there is no baseline ${name}; ${how}`, false);
  await says(["baseline", "update"], "baseline update needs a command after --, or --from FILE", false);
  writeFileSync(join(cwd, name), `${head}<<<<<<< HEAD\n`);
  const conflict = "a merge conflict is not resolved; keep the lines of both sides, or run `phx-sim baseline update`";
  await says(["exec", "--baseline", name], `${name}:2: ${conflict}`);
  await says(["baseline", "update"], `${name}:2: ${conflict}`);
  await says(["baseline", "diff", "."], `${cwd} cannot be read: it is a folder`, false);
  writeFileSync(join(cwd, name), `${head}{"test":"a"}\n`);
  const options = "--sdk and --no-order change what is recorded of every test: add --prune";
  await says(["baseline", "update", "--sdk"], options);
  expect(existsSync(join(cwd, "ran"))).toBe(false);
  expect(statSync(join(cwd, name)).size).toBe(36);
});
