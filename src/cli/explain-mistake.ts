import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import type { Command } from "./command.ts";
import { firstWords, membersOf, namedCommand, plainWords } from "./command-names.ts";
import { Failure } from "./failure.ts";
import { placedOf } from "./options.ts";

/** Where the help is: of the command or the group that was named, else of all. */
function seeHelp(argv: readonly string[], commands: readonly Command[]): string {
  const group = commands.find((it) => it.group?.name === argv[0])?.group;
  const name = namedCommand(argv, commands)?.name ?? group?.name;
  return name === undefined ? "(phx-sim --help lists all)" : `(phx-sim ${name} --help)`;
}

export const unexpected = (argument: string, help: string): Failure =>
  new Failure("usage", `unexpected argument "${clean(argument)}" ${help}`);

/** yargs' complaint as a failure of one line that names what was typed and the nearest known word. */
export function explainMistake(
  error: unknown,
  argv: readonly string[],
  commands: readonly Command[],
): Failure {
  if (error instanceof Failure) return error;
  const help = seeHelp(argv, commands);
  const message = error instanceof Error ? error.message : String(error);
  const valueless = /following: (\S+)/.exec(message)?.[1];
  if (valueless) return new Failure("usage", `--${clean(valueless)} needs a value ${help}`);
  if (message.startsWith("Not enough non-option arguments")) return explainLack(argv, commands);
  const unknown = /^Unknown (?:arguments?|commands?): ([^,]+)/.exec(message)?.[1];
  return unknown === undefined
    ? new Failure("usage", `${clean(message)} ${help}`, error)
    : explainUnknown(unknown, argv, commands);
}

/** Words are missing after the command, or the command's second word is. */
function explainLack(argv: readonly string[], commands: readonly Command[]): Failure {
  const command = namedCommand(argv, commands);
  const [first = ""] = argv;
  const needs = command
    ? placedOf(command.options).map((name) => name.toUpperCase())
    : membersOf(first, commands);
  const what = command ? needs.join(" and ") : `one of ${needs.join(", ")}`;
  return new Failure("usage", `${command?.name ?? first} needs ${what} ${seeHelp(argv, commands)}`);
}

function explainUnknown(word: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const flag = argv.find((arg) => /^--?[^-]/.test(arg) && arg.split("=")[0]?.replace(/^--?/, "") === word);
  if (flag) return explainUnknownFlag(flag.split("=")[0] ?? flag, argv, commands);
  const names = firstWords(commands);
  const isLate = argv[0]?.startsWith("-") && names.includes(word);
  const help = seeHelp(argv, commands);
  if (isLate) return new Failure("usage", `the command comes first: phx-sim ${word} … ${help}`);
  if (argv[0] === word) {
    const turned = plainWords([argv[1] ?? "", word]);
    const meant = namedCommand(turned, commands)
      ? `; did you mean ${turned.join(" ")}?`
      : didYouMean(word, names);
    return unknownCommand(word, meant, help);
  }
  const members = namedCommand(argv, commands) ? [] : membersOf(argv[0], commands);
  if (argv[1] !== word || members.length === 0) return unexpected(word, help);
  const meant = didYouMean(word, members) || `; phx-sim ${argv[0]} has ${members.join(", ")}`;
  return unknownCommand(`${argv[0]} ${word}`, meant, help);
}

/** A command that there is not, where help was asked for. */
export function strayWord(argv: readonly string[], commands: readonly Command[]): Failure | undefined {
  const [first = "-", second = "-"] = argv;
  if (first.startsWith("-") || namedCommand(argv, commands)) return undefined;
  const isGroup = commands.some(({ group }) => group?.name === first);
  const word = isGroup ? second : first;
  return word.startsWith("-") ? undefined : explainUnknown(word, argv, commands);
}

const unknownCommand = (name: string, meant: string, help: string): Failure =>
  new Failure("usage", `unknown command "${clean(name)}"${meant} ${help}`);

/** An option that belongs to more commands than these is not what makes a command of them. */
const fewOwners = 3;

function explainUnknownFlag(flag: string, argv: readonly string[], commands: readonly Command[]): Failure {
  const command = namedCommand(argv, commands) ?? commands[0];
  const word = flag.replace(/^-+/, "");
  const owners = commands.filter(({ options }) => Object.hasOwn(options, word)).map(({ name }) => name);
  const isTelling = owners.length > 0 && owners.length <= fewOwners;
  const hint = isTelling
    ? `; it belongs to phx-sim ${owners.join(", ")}`
    : didYouMean(word, Object.keys(command?.options ?? {}), (found) => `--${found}`);
  return new Failure("usage", `unknown option ${clean(flag)}${hint} ${seeHelp(argv, commands)}`);
}
