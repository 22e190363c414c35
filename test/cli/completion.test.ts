import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { newFolder, runHere } from "../support/phx-sim.ts";

const cwd = newFolder();
mkdirSync(join(cwd, "bin"));
symlinkSync(join(import.meta.dirname, "../../bin/phx-sim.js"), join(cwd, "bin", "phx-sim"));
const env = { PATH: `${join(cwd, "bin")}${delimiter}${process.env.PATH}`, HOME: cwd };

const isThere = (program: string): boolean => {
  try {
    execFileSync(program, ["-c", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const fromShell = async (program: string, args: string[]): Promise<string[]> => {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env: { ...env, SHELL: `/bin/${program}` } });
  return stdout.split("\n").filter((line) => line !== "");
};

/** What a shell offers at the end of a line. */
const lines: [line: string[], offered: string[]][] = [
  [["req"], ["requests"]],
  [["events", "sh"], ["show"]],
  [["tape", "ch"], ["check"]],
  [["events", "list", "--outc"], ["--outcome"]],
  [["events", "list", "--outcome", "k"], ["kept"]],
  [["scenario", "check", "wor"], []],
];

/** Words in single quotes, as both shells read them. */
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

// it needs a shell that not every machine has
describe.skipIf(!isThere("bash"))("bash", () => {
  test.each(lines)("%j", async (words, offered) => {
    const script = `eval "$(phx-sim completion bash)"; COMP_WORDS=(phx-sim ${quoted(words)}); COMP_CWORD=${words.length}
      _phx-sim_yargs_completions; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(await fromShell("bash", ["--norc", "-c", script])).toEqual(offered);
  });
});

describe.skipIf(!isThere("zsh"))("zsh", () => {
  /** The completion system needs a terminal; what the function hands to it is printed. */
  test.each(lines)("%j", async (words, offered) => {
    const script = `compdef() { :; }; _default() { :; }; _describe() { print -rl -- \${(@)\${(@P)2}%%:*} }
      eval "$(phx-sim completion zsh)"; words=(phx-sim ${quoted(words)}); CURRENT=$#words; _phx-sim_yargs_completions`;
    const all = await fromShell("zsh", ["-f", "-c", script]);
    expect(all.filter((word) => word.startsWith(words.at(-1) ?? ""))).toEqual(offered);
  });
});

test("another shell is a mistake", async () => {
  expect(await runHere(["completion", "bsh"], { cwd })).toEqual({
    code: 2,
    stdout: "",
    stderr: 'phx-sim: SHELL must be bash or zsh, not "bsh"; did you mean bash?\n',
  });
});
