import { parseArgs } from "node:util";
import type { Command } from "./command.ts";
import type { Flags } from "./settings.ts";

/** What a command line says: which command, with which flags; or a text to print (help, version). */
export type Reading = { readonly command: Command; readonly flags: Flags } | { readonly print: string };

/**
 * The quick reading, for command lines without mistakes: Node's own parser, no package loaded.
 * Undefined when anything is unusual; the full reader (read-args-fully.ts) then explains or serves it.
 */
export function readArgs(argv: readonly string[], commands: readonly Command[]): Reading | undefined {
  const [first, ...rest] = argv;
  const named = commands.find(({ name }) => name === first);
  const command = named ?? commands[0];
  if (!command || (!named && first !== undefined && !first.startsWith("-"))) return undefined;
  const flags = parseStrictly(named ? rest : argv, command);
  return flags && { command, flags };
}

function parseStrictly(args: readonly string[], { options }: Command): Flags | undefined {
  const types = Object.entries(options).map(([name, { kind }]) => {
    const type: "boolean" | "string" = kind === "switch" ? "boolean" : "string";
    return [name, { type }] as const;
  });
  try {
    const { values } = parseArgs({ args: [...args], options: Object.fromEntries(types), strict: true });
    return Object.fromEntries(
      Object.entries(values).filter((entry): entry is [string, string | boolean] => isFlag(entry[1])),
    );
  } catch {
    return undefined;
  }
}

const isFlag = (value: unknown): value is string | boolean =>
  typeof value === "string" || typeof value === "boolean";
