import yargs, { type Argv, type Options as YargsOption } from "yargs";
import { version } from "../kernel/version.ts";
import type { Command } from "./command.ts";
import { explainMistake, unexpected } from "./explain-mistake.ts";
import { helpTail } from "./help-tail.ts";
import { type Option, readValue, variableOf } from "./options.ts";
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
 * it costs more than the rest of the start. Throws a usage failure.
 */
export async function readArgsFully(argv: readonly string[], commands: readonly Command[]): Promise<Reading> {
  let chosen: Reading | undefined;
  const parser = blankParser();
  for (const command of commands) {
    addCommand(parser, command, command === commands[0], (flags) => {
      chosen = { command, flags };
    });
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
  return chosen ?? { print: printed };
}

function blankParser(): Argv {
  return yargs()
    .scriptName("phx-sim")
    .locale("en")
    .updateStrings({ string: "value", boolean: "switch" })
    .parserConfiguration({
      "camel-case-expansion": false,
      "duplicate-arguments-array": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
    })
    .usage("phx-sim: a local test double for the PostHog API\n\nUsage: $0 [command] [options]")
    .exitProcess(false)
    .fail(false)
    .strict()
    .recommendCommands()
    .help("help")
    .alias("help", "h")
    .version(version)
    .alias("version", "v")
    .wrap(100);
}

function addCommand(
  parser: Argv,
  command: Command,
  isDefault: boolean,
  choose: (flags: Flags) => void,
): Argv {
  const entries = Object.entries(command.options);
  return parser.command(
    isDefault ? [command.name, "$0"] : command.name,
    command.describe,
    (sub) => {
      for (const [name, option] of entries) sub.option(name, yargsOption(name, option));
      for (const [line, purpose] of command.examples) sub.example(line, purpose);
      return sub.epilogue(helpTail);
    },
    (args) => {
      // What follows `--` is not checked by yargs.
      const extra = args._.find((word, i) => i > 0 || word !== command.name);
      if (extra !== undefined) throw unexpected(String(extra));
      choose(flagsFrom(args, Object.keys(command.options)));
    },
  );
}

function yargsOption(name: string, option: Option): YargsOption {
  const choices = option.choices ? `: ${option.choices.join(", ")}` : "";
  const variable = option.flagOnly ? "" : ` (${variableOf(name)})`;
  return {
    type: option.kind === "switch" ? "boolean" : "string",
    requiresArg: option.kind !== "switch",
    describe: `${option.describe}${choices}${variable}`,
    ...(option.default === undefined ? {} : { defaultDescription: option.default }),
  };
}

function flagsFrom(args: Record<string, unknown>, names: readonly string[]): Flags {
  const given = names.flatMap((name): [string, string | boolean][] => {
    const value = args[name];
    return typeof value === "string" || typeof value === "boolean" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}
