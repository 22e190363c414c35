import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import type { Command } from "./command.ts";
import { Failure } from "./failure.ts";

const seeHelp = "(phx-sim --help lists all)";

export const unexpected = (argument: string): Failure =>
  new Failure("usage", `unexpected argument "${clean(argument)}" ${seeHelp}`);

/** yargs' complaint as a failure of one line that names what was typed and the nearest known word. */
export function explainMistake(
  error: unknown,
  argv: readonly string[],
  commands: readonly Command[],
): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const valueless = /following: (\S+)/.exec(message)?.[1];
  if (valueless) return new Failure("usage", `--${clean(valueless)} needs a value ${seeHelp}`);
  const unknown = /^Unknown arguments?: ([^,]+)/.exec(message)?.[1];
  return unknown === undefined
    ? new Failure("usage", `${clean(message)} ${seeHelp}`, error)
    : explainUnknown(unknown, argv, commands);
}

function explainUnknown(word: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const flag = argv.find((arg) => /^--?[^-]/.test(arg) && arg.split("=")[0]?.replace(/^--?/, "") === word);
  if (flag) return explainUnknownFlag(flag.split("=")[0] ?? flag, argv, commands);
  const isLate = argv[0]?.startsWith("-") && commands.some(({ name }) => name === word);
  if (isLate) return new Failure("usage", `the command comes first: phx-sim ${word} … ${seeHelp}`);
  if (argv[0] !== word) return unexpected(word);
  const hint = didYouMean(
    word,
    commands.map(({ name }) => name),
  );
  return new Failure("usage", `unknown command "${clean(word)}"${hint} ${seeHelp}`);
}

function explainUnknownFlag(flag: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const command = commands.find(({ name }) => name === argv[0]) ?? commands[0];
  const word = flag.replace(/^-+/, "");
  const owner = commands.find(({ options }) => Object.hasOwn(options, word));
  const hint = owner
    ? `; it belongs to phx-sim ${owner.name}`
    : didYouMean(word, Object.keys(command?.options ?? {}), (found) => `--${found}`);
  return new Failure("usage", `unknown option ${clean(flag)}${hint} ${seeHelp}`);
}
