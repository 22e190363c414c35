import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { completed } from "../../src/cli/completion.ts";
import { endAll, newFolder, phxSim, runHere } from "../support/phx-sim.ts";
import { openSim } from "../support/sim.ts";

let cwd: string;

let env: Record<string, string>;
const { sim } = await openSim();
beforeAll(async () => {
  cwd = newFolder();
  await sim.snapshot("logged-in");
  await sim.flags.set("bad flag; rm -rf", true, { force: true });
  mkdirSync(join(cwd, "tapes"));
  writeFileSync(join(cwd, "tapes", "checkout.tape.ndjson"), "");
  writeFileSync(join(cwd, "world.yaml"), "");
  mkdirSync(join(cwd, "bin"));
  symlinkSync(join(import.meta.dirname, "../../bin/phx-sim.js"), join(cwd, "bin", "phx-sim"));
  env = { PATH: `${join(cwd, "bin")}${delimiter}${process.env.PATH}`, HOME: cwd, PHX_SIM_URL: sim.url };
});
afterAll(async () => {
  await endAll();
});

const isThere = (program: string): boolean => {
  try {
    execFileSync(program, ["-c", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const fromShell = async (program: string, args: string[]): Promise<string[]> => {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env });
  return stdout.split("\n").filter((line) => line !== "");
};

/** What a shell offers at the end of a line: all of these are among it, and of a short list they are all. */
const lines: [line: string[], offered: string[], others?: "more"][] = [
  [["req"], ["requests"]],
  [["events", "sh"], ["show"]],
  [["tape", "ver"], ["verify"]],
  [["help", "faul"], ["faults"]],
  [["event", "list", "--outc"], ["--outcome"]],
  [["events", "list", "--outcome", "k"], ["kept"]],
  [["flags", "explain", "new-ch"], ["new-checkout"]],
  [["faults", "apply", "capture"], ["capture-503"]],
  [["state", "restore", "lo"], ["logged-in"]],
  [["verify", "che"], ["checkout"]],
  [["start", "--scenario", "flags-g"], ["flags-gallery"]],
  [["scenario", "check", "wor"], ["world.yaml"], "more"],
];

/** Words in single quotes, as all three shells read them. */
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

describe.skipIf(!isThere("bash"))("bash", () => {
  const offered = (words: readonly string[]) => {
    const script = `eval "$(phx-sim completion bash)"; COMP_WORDS=(phx-sim ${quoted(words)}); COMP_CWORD=${words.length}
      compopt() { :; }; _phx_sim; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return fromShell("bash", ["--norc", "-c", script]);
  };
  test.each(lines)("%j", async (words, wanted) => expect(await offered(words)).toEqual(wanted));

  test("a value after =, which bash takes for a word of its own", async () => {
    expect(await offered(["events", "list", "--outcome", "=", "k"])).toEqual(["kept"]);
    expect(await offered(["events", "list", "--outcome", "="])).toEqual(["kept", "dropped"]);
    expect(await offered(["events", "list", "--outcome=k"])).toEqual(["--outcome=kept"]);
  });

  test("programs after --", async () => {
    expect(await offered(["exec", "--", "phx-s"])).toContain("phx-sim");
  });
});

describe.skipIf(!isThere("zsh"))("zsh", () => {
  /** The completion system needs a terminal; what the function hands to it is printed. */
  const offered = (words: readonly string[]) => {
    const script = `compdef() { :; }; compset() { :; }
      _describe() { print -rl -- \${(@)\${(@P)3}%%:*} }; _files() { print -rl -- \${words[CURRENT]}*(N) }
      eval "$(phx-sim completion zsh)"; words=(phx-sim ${quoted(words)}); CURRENT=$#words; _phx_sim`;
    return fromShell("zsh", ["-f", "-c", script]);
  };
  test.each(lines)("%j", async (words, wanted, more) => {
    const all = await offered(words);
    const fitting = all.filter((word) => word.startsWith(words.at(-1) ?? ""));
    expect(fitting).toEqual(wanted);
    expect(all.length).toBeGreaterThanOrEqual(more ? 2 : 1);
  });
});

describe.skipIf(!isThere("fish"))("fish", () => {
  const offered = async (line: string) => {
    const script = `phx-sim completion fish | source; complete -C "${line}"`;
    return (await fromShell("fish", ["--no-config", "-c", script])).map((it) => it.split("\t")[0]);
  };
  test.each(lines)("%j", async (words, wanted) => {
    expect(await offered(`phx-sim ${words.join(" ")}`)).toEqual(wanted);
  });
});

describe("what is offered", () => {
  const suggest = async () => [];
  const words = async (...line: string[]) =>
    (await completed(line, commands, suggest)).candidates.map(({ word }) => word);

  test("every command is reached by what is offered", async () => {
    const nouns = await words("");
    for (const { name, group, options } of commands) {
      const [noun = "", verb] = name.split(" ");
      expect(nouns).toContain(noun);
      if (group && verb !== undefined) expect(await words(noun, "")).toContain(verb);
      const flags = await words(...name.split(" "), "--");
      const named = Object.entries(options).filter(([, it]) => it.place === undefined && !it.rest);
      expect(flags.sort()).toEqual(named.map(([option]) => `--${option}`).sort());
    }
  });

  test("an option once, unless it may be given often", async () => {
    expect(await words("events", "list", "--json", "--")).not.toContain("--json");
    expect(await words("state", "reset", "--what", "events", "--")).toContain("--what");
    expect(await words("--memory", "--")).toEqual(expect.not.arrayContaining(["--memory", "list"]));
  });

  test("the next place, and -- where a command follows", async () => {
    expect(await words("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await words("record", "")).toContain("--");
    expect(await completed(["exec", "--", "npm", ""], commands, suggest)).toMatchObject({ other: "command" });
    expect(await words("nonsense", "")).toEqual([]);
  });
});

test("what a shell would read as more than a word is not offered", async () => {
  const { stdout } = await runHere(["completion", "fish", "--", "flags", "set", ""], { cwd, env });
  expect(stdout).toContain("new-checkout\t");
  expect(stdout).not.toContain("rm -rf");
});

test("without a sim there are no values, and no complaint", async () => {
  const { code, stdout, stderr } = await phxSim(["completion", "bash", "--", "flags", "set", ""], { cwd: newFolder() })
    .ended;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "none\n", stderr: "" });
});

test("another shell is a mistake", async () => {
  expect(await runHere(["completion", "bsh"], { cwd })).toEqual({
    code: 2,
    stdout: "",
    stderr: 'phx-sim: SHELL must be bash, zsh or fish, not "bsh"; did you mean bash?\n',
  });
});
