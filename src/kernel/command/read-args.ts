import parse from "yargs-parser";
import { didYouMean } from "../base/nearest.ts";
import { clean } from "./clean-text.ts";
import type { Command } from "./command.ts";
import { Failure } from "./failure.ts";
import { type Option, type Options, placedOf, readValue } from "./options.ts";
import type { OptionTexts } from "./settings.ts";

/** What a command line asks for. `help` is the name of a command or a group; empty for all. */
export type CommandLine =
  | { readonly command: Command; readonly flags: OptionTexts }
  | { readonly help: string }
  | { readonly version: true };

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

const spelled = (words: string): string => (Object.hasOwn(spellings, words) ? (spellings[words] ?? "") : words);

const helpWords = ["help", "--help", "-h"];

/** The command line with the command's own name for another spelling, and `help flags` as `flags --help`. */
function plainWords(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return argv;
  if (helpWords.includes(first)) return [...plainWords(rest), "--help"];
  const noun = spelled(first);
  const [verb, ...more] = rest;
  const both = `${noun} ${verb}`;
  return verb !== undefined && spelled(both) !== both ? [spelled(both), ...more] : [noun, ...rest];
}

const namedCommand = (words: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, i) => words[i] === word));

const firstWords = (commands: readonly Command[]): string[] => [
  ...new Set(commands.map(({ name, group }) => group?.name ?? name)),
];

const membersOf = (group: string | undefined, commands: readonly Command[]): string[] =>
  commands.filter((it) => it.group?.name === group).map(({ name }) => name.split(" ").at(-1) ?? "");

/** The words after a command's name, sorted by its options. */
interface Line {
  readonly flags: Record<string, OptionTexts[string]>;
  readonly words: readonly string[];
  readonly rest: readonly string[] | undefined;
  /** The first option that the command does not have, as it was typed. */
  readonly unknown: string | undefined;
  readonly valueless: string | undefined;
  readonly asks: "help" | "version" | undefined;
}

/** The parser has no switches with a value, such as `--memory=off`: this is `--no-memory`. */
function plainSwitch(arg: string, options: Options): string {
  const [, name = "", text = ""] = /^--([a-z-]+)=(.*)$/s.exec(arg) ?? [];
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option?.kind !== "switch") return arg;
  return readValue(option, text, `--${name}`, "") ? `--${name}` : `--no-${name}`;
}

const restOf = (options: Options): string | undefined => Object.keys(options).find((name) => options[name]?.rest);

const isNamed = ([, { place, rest }]: [string, Option]): boolean => place === undefined && !rest;

function parseLine(argv: readonly string[], options: Options): Line {
  const at = argv.indexOf("--");
  const args = at === -1 ? argv : argv.slice(0, at);
  const named = Object.fromEntries(Object.entries(options).filter(isNamed));
  const switches = Object.keys(named).filter((name) => named[name]?.kind === "switch");
  const valued = Object.keys(named).filter((name) => named[name]?.kind !== "switch");
  let valueless: string | undefined;
  const settings = {
    boolean: [...switches, "help", "version"],
    string: valued,
    // With a fixed number of values the parser keeps quotes, and gives a switch no `true` that follows it.
    narg: Object.fromEntries([...switches.map((it) => [it, 0]), ...valued.map((it) => [it, 1])]),
    alias: { help: ["h"], version: ["v"] },
    configuration: {
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "short-option-groups": false,
      "strip-aliased": true,
    },
    /** Makes the parser's messages; the only one is about an option without a value. */
    __: (_format: string, name: string) => {
      valueless = name;
      return name;
    },
  };
  const parsed: Record<string, unknown> = parse(
    args.map((arg) => plainSwitch(arg, named)),
    settings,
  );
  const { _: words, help, version, ...values } = parsed;
  const flags: Record<string, OptionTexts[string]> = {};
  let unknown: string | undefined;
  for (const [key, value] of Object.entries(values)) {
    // The parser takes `--no-proxy` for the negation of `--proxy`.
    const isNegated = value === false && Object.hasOwn(named, `no-${key}`);
    const name = isNegated ? `no-${key}` : key;
    const option = Object.hasOwn(named, name) ? named[name] : undefined;
    if (!option || (value === false && option.kind !== "switch")) unknown ??= typed(key, args);
    else flags[name] = isNegated || flagValue(value, option);
  }
  const after = at === -1 ? undefined : argv.slice(at + 1);
  const takesRest = restOf(options) !== undefined;
  return {
    flags,
    words: [words, takesRest ? [] : (after ?? [])].flat(2).map(String),
    rest: takesRest ? after : undefined,
    unknown,
    valueless,
    asks: help ? "help" : version ? "version" : undefined,
  };
}

/** The last value counts, unless the option is repeatable. */
function flagValue(value: unknown, { kind, many }: Option): OptionTexts[string] {
  const all = [value].flat();
  return kind === "switch" ? all.at(-1) === true : many ? all.map(String) : String(all.at(-1));
}

const typed = (key: string, args: readonly string[]): string =>
  args
    .map((arg) => arg.split("=")[0] ?? arg)
    .find((arg) => arg.startsWith("-") && arg.replace(/^--?(no-)?/, "") === key.replace(/^no-/, "")) ?? `--${key}`;

/** Reads a command line; the first command is the default. @throws Failure usage */
export function readArgs(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const words = plainWords(argv);
  const named = namedCommand(words, commands);
  const command = named ?? (words[0]?.startsWith("-") === false ? undefined : commands[0]);
  if (!command) return readGroup(words, commands);
  const own = words.slice(named?.name.split(" ").length ?? 0);
  // First, as without `--` another program's options would be taken for wrong ones of the command.
  const missing = missingRest(own, command);
  if (missing && !parseLine(own, {}).asks) throw usage(missing, named?.name);
  const line = parseLine(own, command.options);
  if (line.asks) return line.asks === "help" ? { help: named?.name ?? "" } : { version: true };
  const mistake = mistakeIn(line, command, commands, words);
  if (mistake) throw usage(mistake, named?.name);
  const flags = { ...line.flags };
  for (const [i, name] of placedOf(command.options).slice(0, line.words.length).entries())
    flags[name] = command.options[name]?.many ? line.words.slice(i) : (line.words[i] ?? "");
  const rest = restOf(command.options);
  if (rest !== undefined && line.rest) flags[rest] = line.rest;
  return { command, flags };
}

function readGroup(words: readonly string[], commands: readonly Command[]): CommandLine {
  const [first = "", second = "-"] = words;
  const members = membersOf(first, commands);
  if (members.length === 0) throw usage(unknownCommand(words, commands));
  if (!second.startsWith("-")) {
    const meant = didYouMean(second, members) || `; phx-sim ${first} has ${members.join(", ")}`;
    throw usage(`unknown command "${first} ${clean(second)}"${meant}`, first);
  }
  const { asks } = parseLine(words.slice(1), {});
  if (!asks) throw usage(`${first} needs one of ${members.join(", ")}`, first);
  return asks === "help" ? { help: first } : { version: true };
}

/** A message that ends with where the help is: of the command or the group that was named, else of all. */
const usage = (message: string, name?: string): Failure =>
  new Failure("usage", `${message} (phx-sim ${name === undefined ? "--help lists all" : `${name} --help`})`);

function unknownCommand([word = "", second = ""]: readonly string[], commands: readonly Command[]): string {
  const turned = plainWords([second, word]);
  const isTurned = namedCommand(turned, commands) !== undefined;
  const words = [...firstWords(commands), "help"];
  const meant = isTurned
    ? `; did you mean ${turned.join(" ")}?`
    : word === "version"
      ? "; phx-sim --version prints it"
      : didYouMean(word, words);
  return `unknown command "${clean(word)}"${meant}`;
}

function mistakeIn(
  line: Line,
  { name, options }: Command,
  commands: readonly Command[],
  words: readonly string[],
): string | undefined {
  if (line.unknown !== undefined) return unknownOption(line.unknown, options, commands);
  if (line.valueless !== undefined) return `--${line.valueless} needs a value`;
  const placed = placedOf(options);
  const extra = options[placed.at(-1) ?? ""]?.many ? undefined : line.words[placed.length];
  if (extra !== undefined) {
    const isLate = words[0]?.startsWith("-") && firstWords(commands).includes(extra);
    return isLate ? `the command comes first: phx-sim ${extra} …` : `unexpected argument "${clean(extra)}"`;
  }
  const required = placed.filter((it) => !options[it]?.optional);
  if (line.words.length >= required.length) return undefined;
  const needed = `${name} needs ${required.map((it) => it.toUpperCase()).join(" and ")}`;
  const choices = required.length === 1 ? (options[required[0] ?? ""]?.choices ?? []) : [];
  if (choices.length < 2) return needed;
  const all = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
  return `${needed}: ${all}, as in phx-sim ${name} ${choices[0]}`;
}

function missingRest(own: readonly string[], { name, options, examples }: Command): string | undefined {
  const option = options[restOf(options) ?? ""];
  const at = own.indexOf("--");
  if (!option || (at === -1 ? option.optional : at < own.length - 1)) return undefined;
  const isWhole = at === -1 && own.length > 0;
  const example = isWhole ? `phx-sim ${name} -- ${own.join(" ")}` : (examples[0]?.[0] ?? "");
  return `${name} needs -- and a command after it, e.g. ${clean(example)}`;
}

/** An option that belongs to more commands than these does not identify a command. */
const fewOwners = 3;

function unknownOption(flag: string, options: Options, commands: readonly Command[]): string {
  const word = flag.replace(/^-+/, "");
  const owners = commands.filter((it) => Object.hasOwn(it.options, word)).map(({ name }) => name);
  const hint =
    owners.length > 0 && owners.length <= fewOwners
      ? `; it belongs to phx-sim ${owners.join(", ")}`
      : didYouMean(word, Object.keys(options), (found) => `--${found}`);
  return `unknown option ${clean(flag)}${hint}`;
}
