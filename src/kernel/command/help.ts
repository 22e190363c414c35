import yargs, { type Argv, type Options as YargsOption } from "yargs";
import type { Command } from "./command.ts";
import { type Option, placedOf, variableOf } from "./options.ts";

const widest = 100;

/** The help of a command or a group, or of all (""). yargs costs more than the start. @param columns 0: no terminal */
export async function helpOf(name: string, commands: readonly Command[], columns = 0): Promise<string> {
  const parser = parserOf(commands).wrap(Math.min(widest, columns || widest));
  return new Promise((resolve) => {
    parser.parse([...name.split(" ").filter(Boolean), "--help"], {}, (_error, _args, text) => resolve(text));
  });
}

/** Prints what fits at the end of a command line. @param argv As the script of a shell passes it */
export function printCompletions(argv: readonly string[], commands: readonly Command[]): void {
  parserOf(commands, true)
    .completion("completion", false)
    .parse([...argv]);
}

export function printCompletionScript(shell: "bash" | "zsh"): void {
  // yargs has no other way to choose one
  process.env.SHELL = shell;
  delete process.env.ZSH_NAME;
  yargs().scriptName("phx-sim").completion("completion", false).showCompletionScript();
}

/** @param hasChoices yargs completes choices; in a help they are in the description */
function parserOf(commands: readonly Command[], hasChoices = false): Argv {
  const parser = yargs()
    .scriptName("phx-sim")
    .locale("en")
    .updateStrings({ string: "value", boolean: "switch" })
    .usage("phx-sim: a local test double for the PostHog API\n\nUsage: $0 [command] [options]")
    .exitProcess(false)
    .alias("help", "h")
    .alias("version", "v");
  const add = (to: Argv, command: Command): Argv => addCommand(to, command, command === commands[0], hasChoices);
  commands.filter(({ group }) => !group).reduce(add, parser);
  for (const group of new Set(commands.flatMap((it) => it.group ?? []))) {
    const members = commands.filter((it) => it.group === group);
    parser.command(group.name, group.describe, (sub) => members.reduce(add, sub).epilogue(helpTail));
  }
  return parser;
}

/** The command's last word, then the words by place, in the spelling of yargs. */
const spelled = ({ name, options }: Command): string =>
  [name.split(" ").at(-1), ...placedOf(options).map((it) => spelledPlace(it, options[it] ?? {}))].join(" ");

const spelledPlace = (name: string, { optional, many }: Pick<Option, "optional" | "many">): string => {
  const word = many ? `${name}..` : name;
  return optional ? `[${word}]` : `<${word}>`;
};

function addCommand(parser: Argv, command: Command, isDefault: boolean, hasChoices: boolean): Argv {
  const { describe, options, examples } = command;
  const words = spelled(command);
  return parser.command(isDefault ? [words, "$0"] : words, describe, (sub) => {
    for (const [name, option] of Object.entries(options)) {
      if (option.place !== undefined) sub.positional(name, { type: "string", describe: option.describe });
      else if (!option.rest)
        sub.option(name, { ...yargsOption(name, option), ...(hasChoices && { choices: option.choices }) });
    }
    const run = options.command;
    if (run?.rest) {
      const after = run.optional ? "[-- COMMAND…]" : "-- COMMAND…";
      sub.usage(`phx-sim ${words} [options] ${after}\n\n${describe}`);
    }
    for (const [line, purpose] of examples) sub.example(line, purpose);
    return sub.epilogue(helpTail);
  });
}

function yargsOption(name: string, option: Option): YargsOption {
  const choices = option.choices ? `: ${option.choices.join(", ")}` : "";
  const variable = option.configurable ? ` (${variableOf(name)})` : "";
  return {
    type: option.kind === "switch" ? "boolean" : "string",
    describe: `${option.describe}${choices}${option.many ? "; repeatable" : ""}${variable}`,
    ...(option.default !== undefined && { defaultDescription: option.default }),
  };
}

/** Below the options of every command; lines fit a terminal of 80 columns. */
const helpTail = `Each option can also be set by its environment variable (in brackets), or in
the nearest phx-sim.config.json at or above the current folder, such as
{"port": 7490, "adopt-tokens": true}. A flag wins over the variable, the
variable over the file, the file over the default. "redaction" in that file has
your own rules for tapes: what is secret, what is not, what to ignore.

Environment:
  PHX_SIM_…              one for each option, in brackets after it
  PHX_SIM_URL            the sim that client commands ask (status, events …)
  NO_COLOR, FORCE_COLOR  never use bold and colors; use them without a terminal

Exit codes:
  0  success                           4  an upstream or the network failed
  1  an expectation was not met        5  no running sim was found
  2  usage or configuration mistake    130, 143  ended by SIGINT, SIGTERM
  3  cannot start (port, data folder, scenario)
  exec ends with its command's own code: 128+n after signal n, 126 and 127 when
  it cannot be run`;
