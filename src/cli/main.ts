import { version } from "../kernel/version.ts";
import { caCommands } from "./ca.ts";
import { clean } from "./clean-text.ts";
import { clockCommands } from "./clock.ts";
import { type Command, configOptions, type Ending, type Shell } from "./command.ts";
import { findConfig } from "./config-file.ts";
import { doctor } from "./doctor.ts";
import { env } from "./env.ts";
import { eventCommands } from "./events.ts";
import { exec } from "./exec.ts";
import { exportCommands } from "./exports.ts";
import { Failure, type FailureKind } from "./failure.ts";
import { faultCommands } from "./fault.ts";
import { flagCommands } from "./flags.ts";
import { lint } from "./lint.ts";
import { createLines, survive } from "./output.ts";
import { personCommands } from "./persons.ts";
import { planCommands } from "./plan.ts";
import { type Reading, readArgs } from "./read-args.ts";
import { record } from "./record.ts";
import { replay } from "./replay.ts";
import { splitRest } from "./rest-args.ts";
import { scenarioCommands } from "./scenario.ts";
import { send } from "./send.ts";
import { start } from "./start.ts";
import { stateCommands } from "./state.ts";
import { status } from "./status.ts";
import { styleFor } from "./style.ts";
import { tapeCommands } from "./tape.ts";
import { verify } from "./verify.ts";

/** The first one is the default. */
const commands: readonly Command[] = [
  start,
  status,
  env,
  doctor,
  exec,
  record,
  replay,
  verify,
  send,
  ...eventCommands,
  lint,
  ...personCommands,
  ...flagCommands,
  ...faultCommands,
  ...clockCommands,
  ...exportCommands,
  ...stateCommands,
  ...scenarioCommands,
  ...planCommands,
  ...tapeCommands,
  ...caCommands,
];

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
  return reading.command.run(reading.flags, shellOf(out, err));
}

async function read(argv: readonly string[]): Promise<Reading> {
  if (argv.length === 1 && argv[0] === "--version") return { print: version };
  const { words, rest } = splitRest(argv, commands);
  const reading = readArgs(words, commands) ?? (await readFully(words));
  return "print" in reading ? reading : { ...reading, flags: { ...reading.flags, ...rest } };
}

async function readFully(words: readonly string[]): Promise<Reading> {
  const { readArgsFully } = await import("./read-args-fully.ts");
  return readArgsFully(words, commands);
}

function shellOf(out: Shell["out"], err: Shell["err"]): Shell {
  const cwd = process.cwd();
  return {
    env: process.env,
    cwd,
    config: findConfig(cwd, configOptions(commands)),
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
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return ["phx-sim: unexpected error; please report this:", ...story.split("\n").map((line) => clean(line))];
}
