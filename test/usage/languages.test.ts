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

/** A Debian system has its own Python beside one that was installed otherwise; pytest may be in either. */
const pythons = ["python3", "/usr/bin/python3"];

interface Example {
  readonly name: string;
  readonly language: string;
  /** Interpreters in the order they are tried. */
  readonly interpreters: readonly string[];
  /** Arguments of a program that ends with 0 where the example can run. */
  readonly check: readonly string[];
  readonly args: readonly string[];
  /** What a machine without it lacks. */
  readonly needs: string;
}

const unittest: Example = {
  name: "Python's unittest",
  language: "python",
  interpreters: pythons,
  check: ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"],
  args: ["signup_unittest.py"],
  needs: "Python 3.11",
};

const examples: readonly Example[] = [
  unittest,
  {
    name: "pytest",
    language: "python",
    interpreters: pythons,
    check: ["-c", "import pytest, sys; sys.exit(sys.version_info < (3, 11))"],
    args: ["-m", "pytest", "-q", "-p", "no:cacheprovider"],
    needs: "Python 3.11 with pytest",
  },
  {
    name: "Ruby's minitest",
    language: "ruby",
    interpreters: ["ruby"],
    check: ["-e", "require 'minitest'"],
    args: ["signup_test.rb"],
    needs: "Ruby with minitest",
  },
  {
    name: "go test",
    language: "go",
    interpreters: ["go"],
    check: ["version"],
    args: ["test", "signup_test.go"],
    needs: "Go",
  },
  {
    name: "PHP",
    language: "php",
    interpreters: ["php"],
    check: ["-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"],
    args: ["signup_test.php"],
    needs: "PHP 8",
  },
];

/** CI installs what the examples need (`.ci/run`); there a missing interpreter is a failure. */
const isRequired = Boolean(process.env.CI || process.env.PHX_ALL_LANGUAGES);

const interpreterOf = ({ interpreters, check }: Example): string | undefined =>
  interpreters.find((file) => spawnSync(file, check).status === 0);

function testExample(example: Example, name: string, expectation: (run: Run) => Promise<void>): void {
  const file = interpreterOf(example);
  if (file === undefined && !isRequired) {
    test.skip(`${name} (skipped: this machine has no ${example.needs})`, () => {});
    return;
  }
  test(name, async () => {
    if (file === undefined)
      expect.fail(`this machine has no ${example.needs}; install it to run the example`);
    await expectation((env) => run(example.language, [file, ...example.args], env));
  });
}

type Run = (env?: Record<string, string>) => Promise<Ended>;

describe("the README's examples", () => {
  for (const example of examples) {
    testExample(example, example.name, async (runExample) => {
      const { code, text } = await runExample();
      expect(code, text).toBe(0);
    });
  }

  testExample(unittest, "a failure in Python shows the sim's report", async (runExample) => {
    const { code, text } = await runExample({ FAIL: "1" });
    expect(code).toBe(1);
    expect(text).toMatch(/properties\.amount/);
    expect(text).toMatch(/"49"/);
  });
});
