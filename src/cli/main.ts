import { stackOf } from "../kernel/base/errors.ts";
import { version } from "../kernel/base/version.ts";
import { cleanLines } from "../kernel/command/clean-text.ts";
import { type Command, type CommandEnd, configOptions, type Shell } from "../kernel/command/command.ts";
import { findConfig } from "../kernel/command/config-file.ts";
import { Failure, type FailureKind } from "../kernel/command/failure.ts";
import { createLines, type Sink, survive } from "../kernel/command/output.ts";
import { type CommandLine, readArgs } from "../kernel/command/read-args.ts";
import { styleFor } from "../kernel/command/style.ts";
import { redactionSection } from "../lab/tapes/redact/config-section.ts";
import { start } from "./start.ts";

const exitCodes: Readonly<Record<Exclude<CommandEnd, number> | FailureKind, number>> = {
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

interface Terminal extends Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface Host {
  readonly env: Shell["env"];
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  cwd(): string;
  exit(code: number): void;
}

/** Runs a command line (without node and the script) and resolves with the exit code; never rejects. */
export async function main(argv: readonly string[], host: Host = process): Promise<number> {
  survive(host.stdout);
  survive(host.stderr);
  const out = createLines(host.stdout);
  const err = createLines(host.stderr);
  const ending = await run(argv, host, out, err).catch((error: unknown) => {
    err.say(...complaint(error));
    return error instanceof Failure ? error.kind : "failed";
  });
  out.flush();
  err.flush();
  const code = codeOf(ending);
  if (code !== 0) leaveSoon(host, code);
  return code;
}

const codeOf = (ending: CommandEnd | FailureKind): number => (typeof ending === "number" ? ending : exitCodes[ending]);

async function run(argv: readonly string[], host: Host, out: Shell["out"], err: Shell["err"]): Promise<CommandEnd> {
  if (argv[0] === "--get-yargs-completions") {
    const { printCompletions } = await import("../kernel/command/help.ts");
    printCompletions(argv, await allCommands());
    return "ok";
  }
  const reading = startOf(argv) ?? readArgs(argv, await allCommands());
  if ("command" in reading) return reading.command.run(reading.flags, await shellOf(host, out, err));
  out.say("version" in reading ? version : await help(reading.help, host.stdout.columns));
  return "ok";
}

/** A valid start does not load the other commands; help and hints on mistakes need all of them. */
function startOf(argv: readonly string[]): CommandLine | undefined {
  try {
    const reading = readArgs(argv, [start]);
    return "help" in reading ? undefined : reading;
  } catch {
    return undefined;
  }
}

const allCommands = async (): Promise<readonly Command[]> => (await import("./commands.ts")).commands;

async function help(name: string, columns: number | undefined): Promise<string> {
  const { helpOf } = await import("../kernel/command/help.ts");
  return helpOf(name, await allCommands(), columns);
}

async function shellOf(host: Host, out: Shell["out"], err: Shell["err"]): Promise<Shell> {
  const { env, stdout, stderr } = host;
  const cwd = host.cwd();
  const config = await findConfig(cwd, async () => configOptions(await allCommands()), [redactionSection]);
  return {
    env,
    cwd,
    config,
    out,
    err,
    outStyle: styleFor(env, stdout.isTTY === true),
    errStyle: styleFor(env, stderr.isTTY === true),
    quit: (ending) => host.exit(codeOf(ending)),
  };
}

/** After a signal or a failure, open handles must not keep the process alive. */
function leaveSoon(host: Host, code: number): void {
  setTimeout(() => host.exit(code), 300).unref();
}

function complaint(error: unknown): string[] {
  if (error instanceof Failure) return [`phx-sim: ${error.message}`];
  return ["phx-sim: unexpected error; please report this:", ...cleanLines(stackOf(error))];
}
