import yargs, { type Argv, type Options as YargsOption } from "yargs";
import { version } from "../kernel/version.ts";
import type { Command, CommandGroup } from "./command.ts";
import { explainMistake, strayWord, unexpected } from "./explain-mistake.ts";
import { helpTail } from "./help-tail.ts";
import { type Option, type Options, placedOf, readValue, variableOf } from "./options.ts";
import type { Reading } from "./read-args.ts";
import type { Flags } from "./settings.ts";

/**
 * `--memory=yes` as `--memory`, `--memory=off` as `--no-memory`: yargs would take any other word than
 * "true" as no.
 */
function plainSwitches(argv: readonly string[], commands: readonly Command[]): string[] {
  return argv.map((arg) => {
    const [, name = "", text] = /^--([a-z-]+)=(.*)$/s.exec(arg) ?? [];
    const option = commands.map(({ options }) => options[name]).find((it) => it?.kind === "switch");
    if (!option || text === undefined) return arg;
    return readValue(option, text, `--${name}`, "") ? `--${name}` : `--no-${name}`;
  });
}

/**
 * The full reading, by yargs: help, version, and every mistake told in one line. Loaded on demand, because
 * it costs more than the rest of the start.
 * @param columns Width of the terminal; 0 where there is none
 * @throws Failure usage
 */
export async function readArgsFully(
  argv: readonly string[],
  commands: readonly Command[],
  columns = 0,
): Promise<Reading> {
  let chosen: Reading | undefined;
  const parser = blankParser(columns);
  const add = (to: Argv, command: Command): Argv =>
    addCommand(to, command, command === commands[0], (flags) => {
      chosen = { command, flags };
    });
  for (const command of commands) if (!command.group) add(parser, command);
  for (const group of groupsOf(commands)) {
    const members = commands.filter((it) => it.group === group);
    addGroup(parser, group, (sub) => members.reduce(add, sub));
  }
  let printed = "";
  try {
    await parser.parse(
      plainSwitches(argv, commands),
      {},
      (_error: unknown, _args: unknown, output: string) => {
        printed = output;
      },
    );
  } catch (error) {
    throw explainMistake(error, argv, commands);
  }
  // Asked for the help of a command that there is not, yargs gives that of all.
  const stray = chosen ? undefined : strayWord(argv, commands);
  if (stray) throw stray;
  return chosen ?? { print: printed };
}

const widest = 100;

function blankParser(columns: number): Argv {
  return yargs()
    .scriptName("phx-sim")
    .locale("en")
    .updateStrings({ string: "value", boolean: "switch" })
    .parserConfiguration({
      "short-option-groups": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
    })
    .usage("phx-sim: a local test double for the PostHog API\n\nUsage: $0 [command] [options]")
    .exitProcess(false)
    .fail(false)
    .strict()
    .help("help")
    .alias("help", "h")
    .version(version)
    .alias("version", "v")
    .wrap(Math.min(widest, columns || widest));
}

const groupsOf = (commands: readonly Command[]): CommandGroup[] => [
  ...new Set(commands.flatMap(({ group }) => (group ? [group] : []))),
];

const addGroup = (parser: Argv, { name, describe }: CommandGroup, addMembers: (sub: Argv) => Argv): Argv =>
  parser.command(name, describe, (sub) => addMembers(sub).demandCommand(1).epilogue(helpTail));

/** What yargs is told of a command: its last word, then the words by place. */
const spelled = ({ name, options }: Command): string =>
  [name.split(" ").at(-1), ...placedOf(options).map((it) => spelledPlace(it, options[it] ?? {}))].join(" ");

const spelledPlace = (name: string, { optional, many }: Pick<Option, "optional" | "many">): string => {
  const word = many ? `${name}..` : name;
  return optional ? `[${word}]` : `<${word}>`;
};

function addCommand(
  parser: Argv,
  command: Command,
  isDefault: boolean,
  choose: (flags: Flags) => void,
): Argv {
  const words = command.name.split(" ");
  return parser.command(
    isDefault ? [spelled(command), "$0"] : spelled(command),
    command.describe,
    (sub) => {
      for (const [name, option] of Object.entries(command.options)) addOption(sub, name, option);
      const run = command.options.command;
      if (run?.rest) {
        const words = run.optional ? "[-- COMMAND…]" : "-- COMMAND…";
        sub.usage(`phx-sim ${spelled(command)} [options] ${words}\n\n${command.describe}`);
      }
      for (const [line, purpose] of command.examples) sub.example(line, purpose);
      return sub.epilogue(helpTail);
    },
    (args) => {
      // What follows `--` is not checked by yargs.
      const extra = args._.find((word, i) => word !== words[i]);
      if (extra !== undefined) throw unexpected(String(extra), `(phx-sim ${command.name} --help)`);
      choose(flagsFrom(args, command.options));
    },
  );
}

function addOption(sub: Argv, name: string, option: Option): void {
  if (option.rest) return;
  if (option.place === undefined) sub.option(name, yargsOption(name, option));
  else sub.positional(name, { type: "string", describe: option.describe });
}

function yargsOption(name: string, option: Option): YargsOption {
  const choices = option.choices ? `: ${option.choices.join(", ")}` : "";
  const variable = option.flagOnly ? "" : ` (${variableOf(name)})`;
  return {
    type: option.kind === "switch" ? "boolean" : "string",
    requiresArg: option.kind !== "switch",
    describe: `${option.describe}${choices}${option.many ? "; repeatable" : ""}${variable}`,
    ...(option.default === undefined ? {} : { defaultDescription: option.default }),
  };
}

function flagsFrom(args: Record<string, unknown>, options: Options): Flags {
  const given = Object.entries(options).flatMap(([name, { many }]): [string, Flags[string]][] => {
    const values = [args[name]].flat().filter((it) => typeof it === "string" || typeof it === "boolean");
    const last = values.at(-1);
    if (last === undefined) return [];
    return [[name, many ? values.map(String) : last]];
  });
  return Object.fromEntries(given);
}
