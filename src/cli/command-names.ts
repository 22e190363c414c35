import type { Command } from "./command.ts";

/** Other spellings of a command's first word, or of its first two. */
const spellings: Readonly<Record<string, string>> = {
  event: "events",
  request: "requests",
  person: "persons",
  people: "persons",
  group: "groups",
  flag: "flags",
  fault: "faults",
  export: "exports",
  tapes: "tape",
  scenarios: "scenario",
  plans: "plan",
  "tape record": "record",
  "tape replay": "replay",
  "tape verify": "verify",
  "tape send": "send",
};

const spelled = (words: string): string =>
  Object.hasOwn(spellings, words) ? (spellings[words] ?? "") : words;

/**
 * The command line with the command's own name in place of another spelling of it, and `help flags set` as
 * `flags set --help`.
 */
export function plainWords(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return argv;
  if (first === "help") return [...plainWords(rest), "--help"];
  const noun = spelled(first);
  const [verb, ...more] = rest;
  const both = `${noun} ${verb}`;
  return verb !== undefined && spelled(both) !== both ? [spelled(both), ...more] : [noun, ...rest];
}

/** Other names of commands that begin with the noun: the word after it, and the command's own name. */
export const spellingsOf = (noun: string): [word: string, name: string][] =>
  Object.entries(spellings).flatMap(([words, name]): [string, string][] => {
    const [first, second] = words.split(" ");
    return first === noun && second !== undefined ? [[second, name]] : [];
  });

/** The command that a command line names, if it names one. */
export const namedCommand = (argv: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));

/** The first words of all commands. */
export const firstWords = (commands: readonly Command[]): string[] => [
  ...new Set(commands.map(({ name, group }) => group?.name ?? name)),
];

/** The words that may follow the first one of a group's commands. */
export const membersOf = (group: string | undefined, commands: readonly Command[]): string[] =>
  commands.filter((it) => it.group?.name === group).map(({ name }) => name.split(" ").at(-1) ?? "");
