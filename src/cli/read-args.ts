import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import { namedCommand } from "./command-names.ts";
import { placedOf } from "./options.ts";
import type { Flags } from "./settings.ts";

/** What a command line says: which command, with which flags; or a text to print (help, version). */
export type Reading = { readonly command: Command; readonly flags: Flags } | { readonly print: string };

/**
 * The quick reading, for command lines without mistakes: Node's own parser, no package loaded.
 * Undefined when anything is unusual; the full reader (read-args-fully.ts) then explains or serves it.
 */
export function readArgs(argv: readonly string[], commands: readonly Command[]): Reading | undefined {
  const [first] = argv;
  const named = namedCommand(argv, commands);
  const command = named ?? commands[0];
  if (!command || (!named && first !== undefined && !first.startsWith("-"))) return undefined;
  const rest = named ? argv.slice(named.name.split(" ").length) : argv;
  const flags = parseStrictly(rest, command);
  return flags && { command, flags };
}

const optionTypes = ({ options }: Command) =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([, { place, rest }]) => place === undefined && !rest)
      .map(([name, { kind, many = false }]) => {
        const type: "boolean" | "string" = kind === "switch" ? "boolean" : "string";
        return [name, { type, multiple: many }] as const;
      }),
  );

/** The words by the names of their places; undefined when there are too few or too many. */
function placedWords(words: readonly string[], { options }: Command): [string, Flags[string]][] | undefined {
  const placed = placedOf(options);
  const isFull = words.length >= placed.filter((name) => !options[name]?.optional).length;
  const takesRest = options[placed.at(-1) ?? ""]?.many === true;
  if (!isFull || (words.length > placed.length && !takesRest)) return undefined;
  return placed
    .slice(0, words.length)
    .map((name, i) => [name, options[name]?.many ? words.slice(i) : (words[i] ?? "")]);
}

function parseStrictly(args: readonly string[], command: Command): Flags | undefined {
  const placed = placedOf(command.options);
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: optionTypes(command),
      strict: true,
      allowPositionals: placed.length > 0,
    });
    const words = placedWords(positionals, command);
    if (!words) return undefined;
    const given = Object.entries(values).flatMap(([name, value]): [string, Flags[string]][] =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.map(String) : value]],
    );
    return Object.fromEntries([...given, ...words]);
  } catch {
    return undefined;
  }
}
