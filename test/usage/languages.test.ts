import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

let sim: Sim;
let folder: string;
beforeAll(async () => {
  sim = await startSim();
  folder = mkdtempSync(join(tmpdir(), "phx-languages-"));
  cpSync(import.meta.dirname, folder, { recursive: true });
});
afterAll(async () => {
  await sim.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  code: number;
  text: string;
}

/** Runs a program of another language in its folder, with the sim's address. */
const run = (
  language: string,
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const [file = "", ...args] = command;
    const cwd = join(folder, language);
    const options = { cwd, env: { ...process.env, PHX_SIM_URL: sim.url, ...env } };
    execFile(file, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: stdout + stderr }),
    );
  });

/** What runs, and what tells whether it can run here. */
const rows: [name: string, language: string, command: string[], check: string[]][] = [
  [
    "Python's unittest",
    "python",
    ["python3", "signup_unittest.py"],
    ["python3", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"],
  ],
  [
    "pytest",
    "python",
    ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
    ["python3", "-c", "import pytest"],
  ],
  ["Ruby's minitest", "ruby", ["ruby", "signup_test.rb"], ["ruby", "-e", "require 'minitest'"]],
  ["go test", "go", ["go", "test", "signup_test.go"], ["go", "version"]],
];

describe("the README's examples", () => {
  for (const [name, language, command, [file = "", ...args]] of rows) {
    const isHere = spawnSync(file, args).status === 0;
    test.skipIf(!isHere)(`${name}${isHere ? "" : " (not on this machine)"}`, async () => {
      const { code, text } = await run(language, command);
      expect(code, text).toBe(0);
    });
  }

  const hasPython =
    spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status === 0;
  test.skipIf(!hasPython)("a failure in Python shows the sim's report", async () => {
    const { code, text } = await run("python", ["python3", "signup_unittest.py"], { FAIL: "1" });
    expect(code).toBe(1);
    expect(text).toMatch(/properties\.amount/);
    expect(text).toMatch(/"49"/);
  });
});
