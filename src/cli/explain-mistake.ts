import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import { type Command, namedCommand } from "./command.ts";
import { Failure } from "./failure.ts";
import { placedOf } from "./options.ts";

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
  if (message.startsWith("Not enough non-option arguments")) return explainLack(argv, commands);
  const unknown = /^Unknown (?:arguments?|commands?): ([^,]+)/.exec(message)?.[1];
  return unknown === undefined
    ? new Failure("usage", `${clean(message)} ${seeHelp}`, error)
    : explainUnknown(unknown, argv, commands);
}

/** The words that may follow the first one of a group's commands. */
const membersOf = (group: string | undefined, commands: readonly Command[]): string[] =>
  commands.filter((it) => it.group?.name === group).map(({ name }) => name.split(" ").at(-1) ?? "");

/** Words are missing after the command, or the command's second word is. */
function explainLack(argv: readonly string[], commands: readonly Command[]): Failure {
  const command = namedCommand(argv, commands);
  const [first = ""] = argv;
  const needs = command
    ? placedOf(command.options).map((name) => name.toUpperCase())
    : membersOf(first, commands);
  const what = command ? needs.join(" and ") : `one of ${needs.join(", ")}`;
  return new Failure("usage", `phx-sim ${command?.name ?? first} needs ${what} ${seeHelp}`);
}

function explainUnknown(word: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const flag = argv.find((arg) => /^--?[^-]/.test(arg) && arg.split("=")[0]?.replace(/^--?/, "") === word);
  if (flag) return explainUnknownFlag(flag.split("=")[0] ?? flag, argv, commands);
  const names = commands.map(({ name, group }) => group?.name ?? name);
  const isLate = argv[0]?.startsWith("-") && names.includes(word);
  if (isLate) return new Failure("usage", `the command comes first: phx-sim ${word} … ${seeHelp}`);
  if (argv[0] === word) return unknownCommand(word, word, names);
  const members = namedCommand(argv, commands) ? [] : membersOf(argv[0], commands);
  return argv[1] === word && members.length > 0
    ? unknownCommand(`${argv[0]} ${word}`, word, members)
    : unexpected(word);
}

/** A command that there is not, where help was asked for. */
export function strayWord(argv: readonly string[], commands: readonly Command[]): Failure | undefined {
  const [first = "-", second = "-"] = argv;
  if (first.startsWith("-") || namedCommand(argv, commands)) return undefined;
  const isGroup = commands.some(({ group }) => group?.name === first);
  const word = isGroup ? second : first;
  return word.startsWith("-") ? undefined : explainUnknown(word, argv, commands);
}

const unknownCommand = (name: string, word: string, known: readonly string[]): Failure =>
  new Failure("usage", `unknown command "${clean(name)}"${didYouMean(word, known)} ${seeHelp}`);

function explainUnknownFlag(flag: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const command = namedCommand(argv, commands) ?? commands[0];
  const word = flag.replace(/^-+/, "");
  const owner = commands.find(({ options }) => Object.hasOwn(options, word));
  const hint = owner
    ? `; it belongs to phx-sim ${owner.name}`
    : didYouMean(word, Object.keys(command?.options ?? {}), (found) => `--${found}`);
  return new Failure("usage", `unknown option ${clean(flag)}${hint} ${seeHelp}`);
}
