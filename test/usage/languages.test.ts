import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import { newFolder } from "../support/folder.ts";
import { type Program, programs, testWith } from "../support/programs.ts";

let sim: Sim;
let folder: string;
beforeAll(async () => {
  sim = await startSim();
  folder = newFolder();
  cpSync(import.meta.dirname, folder, { recursive: true });
});
afterAll(() => sim.close());

const root = resolve(import.meta.dirname, "../..");
const pythonPackage = join(root, "clients/python");

interface Ended {
  code: number;
  text: string;
}

/** Runs a program in a folder, with the sim's address and the package for Python. */
const run = (cwd: string, command: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const [file = "", ...args] = command;
    const python = { PYTHONPATH: join(pythonPackage, "src"), PYTHONDONTWRITEBYTECODE: "1" };
    const options = { cwd, env: { ...process.env, ...python, PHX_SIM_URL: sim.url, ...env } };
    execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: stdout + stderr }),
    );
  });

/** Installed, the package registers its plugin itself. */
const pytest = ["-m", "pytest", "-q", "-p", "phx_sim.pytest_plugin", "-p", "no:cacheprovider"];

const examples: [name: string, program: Program, language: string, args: string[]][] = [
  ["Python's unittest", programs.python, "python", ["signup_unittest.py"]],
  ["pytest", programs.pytest, "python", pytest],
  ["Ruby's minitest", programs.ruby, "ruby", ["signup_test.rb"]],
  ["go test", programs.go, "go", ["test", "signup_test.go"]],
  ["PHP", programs.php, "php", ["signup_test.php"]],
];

describe("the examples in the documentation", () => {
  for (const [name, program, language, args] of examples) {
    testWith(program, name, async (command) => {
      const { code, text } = await run(join(folder, language), [command, ...args]);
      expect(code, text).toBe(0);
    });
  }

  testWith(programs.pytest, "the package for Python has tests of its own", async (command) => {
    const { code, text } = await run(pythonPackage, [command, ...pytest, "tests"]);
    expect(code, text).toBe(0);
  });

  testWith(programs.pytest, "the package for Python copied as the documentation shows", async (command) => {
    const page = readFileSync(join(root, "docs/testing/http.md"), "utf8");
    const [, copy = ""] = /^## Python\n[\s\S]*?```sh\n([\s\S]*?)```/m.exec(page) ?? [];
    const [, conftest = ""] = /`conftest\.py`[\s\S]*?```python\n([\s\S]*?)```/.exec(page) ?? [];
    const app = join(folder, "copied/app");
    mkdirSync(app, { recursive: true });
    symlinkSync(root, join(folder, "copied/phx-sim"));
    execFileSync("sh", ["-ec", copy], { cwd: app });
    writeFileSync(join(app, "conftest.py"), conftest);
    for (const it of ["shop.py", "test_signup.py"]) cpSync(join(folder, "python", it), join(app, it));
    const args = [command, "-m", "pytest", "-q", "-p", "no:cacheprovider"];
    const { code, text } = await run(app, args, { PYTHONPATH: "" });
    expect(code, text).toBe(0);
    expect(text).toContain("3 passed");
  });

  testWith(programs.python, "a failure in Python shows the sim's report", async (command) => {
    const { code, text } = await run(join(folder, "python"), [command, "signup_unittest.py"], { FAIL: "1" });
    expect(code).toBe(1);
    expect(text).toMatch(/properties\.amount/);
    expect(text).toMatch(/"49"/);
  });
});
