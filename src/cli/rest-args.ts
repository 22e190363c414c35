import { clean } from "./clean-text.ts";
import type { Command } from "./command.ts";
import { namedCommand } from "./command-names.ts";
import { Failure } from "./failure.ts";
import type { Flags } from "./settings.ts";

/** A command line whose end belongs to another program. */
interface Split {
  readonly words: readonly string[];
  /** The words after `--`, by the name of the option that takes them. */
  readonly rest: Flags;
}

/**
 * Cuts the command line at its first `--`, for a command that takes what follows as it is.
 * @throws Failure usage when nothing follows
 */
export function splitRest(argv: readonly string[], commands: readonly Command[]): Split {
  const command = namedCommand(argv, commands);
  const [name, option] = Object.entries(command?.options ?? {}).find(([, { rest }]) => rest) ?? [];
  if (!command || name === undefined) return { words: argv, rest: {} };
  const at = argv.indexOf("--");
  if (at === -1 && option?.optional) return { words: argv, rest: {} };
  const words = at === -1 ? argv : argv.slice(0, at);
  if (words.some((word) => asksForText.includes(word))) return { words, rest: {} };
  const rest = at === -1 ? [] : argv.slice(at + 1);
  if (rest.length === 0) throw lacking(command, at === -1 ? argv : []);
  return { words, rest: { [name]: rest } };
}

const asksForText = ["--help", "-h", "--version", "-v"];

/** Says what it should be, with the user's own words where they tell. */
function lacking({ name, examples }: Command, argv: readonly string[]): Failure {
  const words = argv.slice(name.split(" ").length);
  const example =
    words.length > 0 ? `phx-sim ${name} -- ${words.join(" ")}` : (examples[0]?.[0] ?? `phx-sim ${name}`);
  return new Failure("usage", `${name} needs -- and a command after it, e.g. ${clean(example)}`);
}
