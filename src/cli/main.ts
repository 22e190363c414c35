import { stackOf } from "../kernel/stack-of.ts";
import { version } from "../kernel/version.ts";
import { cleanLines } from "./clean-text.ts";
import { type Command, configOptions, type Ending, type Shell } from "./command.ts";
import { plainWords } from "./command-names.ts";
import { findConfig, hasConfig } from "./config-file.ts";
import { Failure, type FailureKind } from "./failure.ts";
import { createLines, survive } from "./output.ts";
import { type Reading, readArgs } from "./read-args.ts";
import { splitRest } from "./rest-args.ts";
import { start } from "./start.ts";
import { styleFor } from "./style.ts";

/** Every way to end, and its exit code. No other place knows them. */
const exitCodes: Readonly<Record<Exclude<Ending, number> | FailureKind, number>> = {
  ok: 0,
  failed: 1,
  usage: 2,
  start: 3,
  network: 4,
  no_sim: 5,
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/** Runs a command line (without node and the script) and resolves with the exit code; never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  survive(process.stdout);
  survive(process.stderr);
  const out = createLines(process.stdout);
  const err = createLines(process.stderr);
  const ending = await run(argv, out, err).catch((error: unknown) => {
    err.say(...complaint(error));
    return error instanceof Failure ? error.kind : "failed";
  });
  out.flush();
  err.flush();
  const code = codeOf(ending);
  if (code !== 0) leaveSoon(code);
  return code;
}

const codeOf = (ending: Ending | FailureKind): number =>
  typeof ending === "number" ? ending : exitCodes[ending];

async function run(argv: readonly string[], out: Shell["out"], err: Shell["err"]): Promise<Ending> {
  const reading = await read(argv);
  if ("print" in reading) {
    out.say(reading.print);
    return "ok";
  }
  return reading.command.run(reading.flags, await shellOf(out, err));
}

async function read(argv: readonly string[]): Promise<Reading> {
  if (argv.length === 1 && argv[0] === "--version") return { print: version };
  const quick = readArgs(argv, [start]);
  if (quick) return quick;
  const commands = await allCommands();
  const { words, rest } = splitRest(plainWords(argv), commands);
  const reading = readArgs(words, commands) ?? (await readFully(words, commands));
  return "print" in reading ? reading : { ...reading, flags: { ...reading.flags, ...rest } };
}

/** A start without mistakes does not load the others. */
const allCommands = async (): Promise<readonly Command[]> => (await import("./commands.ts")).commands;

async function readFully(words: readonly string[], commands: readonly Command[]): Promise<Reading> {
  const { readArgsFully } = await import("./read-args-fully.ts");
  return readArgsFully(words, commands, process.stdout.columns);
}

async function shellOf(out: Shell["out"], err: Shell["err"]): Promise<Shell> {
  const cwd = process.cwd();
  // A config file may hold options of every command.
  const config = hasConfig(cwd) ? await findConfig(cwd, configOptions(await allCommands())) : null;
  return {
    env: process.env,
    cwd,
    config,
    out,
    err,
    outStyle: styleFor(process.env, process.stdout.isTTY === true),
    errStyle: styleFor(process.env, process.stderr.isTTY === true),
    quit: (ending) => process.exit(codeOf(ending)),
  };
}

/**
 * After a signal or a failure nothing that is still open may hold the process; normally it ends by itself
 * before.
 */
function leaveSoon(code: number): void {
  setTimeout(() => process.exit(code), 300).unref();
}

/** One line for what the user can mend; the whole story for what only we can. */
function complaint(error: unknown): string[] {
  if (error instanceof Failure) return [`phx-sim: ${error.message}`];
  return ["phx-sim: unexpected error; please report this:", ...cleanLines(stackOf(error))];
}
