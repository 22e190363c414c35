import { execFileSync } from "node:child_process";
import { mkdtempSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { newFolder } from "../../support/folder.ts";
import { runHere } from "../../support/phx-sim.ts";

const folder = newFolder();
const socket = createServer();
beforeAll(async () => {
  execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  await new Promise<void>((resolve) => socket.listen(join(folder, "socket.yaml"), resolve));
  writeFileSync(join(folder, "huge.yaml"), "version: 1\n");
  truncateSync(join(folder, "huge.yaml"), 8 * 1024 ** 3);
});
afterAll(() => {
  socket.close();
});

const bad = [
  ["/dev/zero", "is a pipe, a socket or a device; expected a file"],
  ["pipe.yaml", "is a pipe, a socket or a device; expected a file"],
  ["socket.yaml", "is a pipe, a socket or a device; expected a file"],
  ["huge.yaml", "is larger than 64 MB"],
] as const;

// Windows has neither these devices nor mkfifo
describe.skipIf(process.platform === "win32")("what is no regular file", () => {
  test.each(bad)("%s is refused as a scenario, as its base, and as a plan", async (name, reason) => {
    const { problems } = await readScenario(resolve(folder, name));
    expect(problems).toMatchObject([{ message: reason }]);
    const file = join(folder, "over.yaml");
    for (const text of [`extends: ${name}`, `extends: [default, ${name}]`, `extends: default\nplan: ${name}`]) {
      writeFileSync(file, `version: 1\n${text}\n`);
      const found = await readScenario(file);
      expect(found.problems.map(({ message }) => message)).toContain(`${JSON.stringify(name)} ${reason}`);
    }
  });

  test.each(bad)("%s: start, check and the plan command end with the reason", async (name, reason) => {
    const cwd = folder;
    writeFileSync(join(folder, "over.yaml"), `version: 1\nextends: ${name}\n`);
    const check = await runHere(["scenario", "check", "over.yaml"], { cwd });
    expect(check.code).toBe(1);
    expect(check.stdout).toContain(`over.yaml:2:10 /extends: ${JSON.stringify(name)} ${reason}`);
    const start = await runHere(["start", "--memory", "--port", "0", "--scenario", "over.yaml"], { cwd });
    expect(start.code).toBe(3);
    expect(start.stderr).toContain(reason);
    const plan = await runHere(["plan", "types", name, "--out", "types.ts"], { cwd });
    expect(plan.code).toBeGreaterThan(0);
    expect(plan.stderr).toMatch(/cannot be read: it is (a pipe|larger than)/);
  });

  test("an edit that extends one is reported, and the sim goes on", async () => {
    const file = join(folder, "edited.yaml");
    writeFileSync(file, "version: 1\nextends: default\n");
    const notices: string[] = [];
    let wake = () => {};
    await using sim = await startSim({
      scenario: file,
      onChange: "merge",
      onNotice(text) {
        notices.push(text);
        wake();
      },
    });
    writeFileSync(file, "version: 1\nextends: pipe.yaml\n");
    while (!notices.some((it) => it.includes("is a pipe"))) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    expect((await sim.info()).counts).toMatchObject({ requests: 0 });
  });

  test("a configuration file", async () => {
    const cwd = mkdtempSync(join(folder, "config-"));
    execFileSync("mkfifo", [join(cwd, "phx-sim.config.json")]);
    const { code, stderr } = await runHere(["env"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("phx-sim.config.json cannot be read: it is a pipe, a socket or a device");
  });
});
