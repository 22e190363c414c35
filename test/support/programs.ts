import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** A program of another language that tests start. */
export interface Program {
  /** What a machine without it lacks. */
  readonly needs: string;
  /** Commands in the order they are tried. */
  readonly commands: readonly string[];
  /** Arguments with which the program ends with 0 where it can be used. */
  readonly check: readonly string[];
}

const pythonCheck = "import sys; sys.exit(sys.version_info < (3, 11))";
/** A Debian system has its own Python beside one that was installed otherwise; pytest may be in either. */
const pythons = ["python3", "/usr/bin/python3"];

export const programs = {
  curl: { needs: "curl 7.82", commands: ["curl"], check: ["--json", "{}", "--version"] },
  python: { needs: "Python 3.11", commands: pythons, check: ["-c", pythonCheck] },
  pytest: { needs: "Python 3.11 with pytest", commands: pythons, check: ["-c", `import pytest; ${pythonCheck}`] },
  ruby: { needs: "Ruby with minitest", commands: ["ruby"], check: ["-e", "require 'minitest'"] },
  go: { needs: "Go", commands: ["go"], check: ["version"] },
  php: { needs: "PHP 8", commands: ["php"], check: ["-r", "exit(PHP_VERSION_ID < 80000 ? 1 : 0);"] },
} as const satisfies Record<string, Program>;

/** CI installs what the tests need (`.ci/run`); there a missing program is a failure, elsewhere a skip with its reason. */
const isRequired = Boolean(process.env.CI || process.env.PHX_ALL_LANGUAGES);

/** A test that starts a program; `body` receives its command. */
export function testWith(
  { needs, commands, check }: Program,
  name: string,
  body: (command: string) => Promise<void>,
): void {
  const command = commands.find((it) => spawnSync(it, check).status === 0);
  if (command === undefined && !isRequired) {
    test.skip(`${name} (skipped: this machine has no ${needs})`, () => {});
    return;
  }
  test(name, async () => {
    if (command === undefined) expect.fail(`this machine has no ${needs}: install it`);
    await body(command);
  });
}
