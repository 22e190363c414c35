import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { tapeEnding, tapesFolder } from "../tape/place.ts";
import { callSim } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { type Command, command, type Shell } from "./command.ts";
import { firstWords, membersOf, namedCommand, plainWords, spellingsOf } from "./command-names.ts";
import { completionScripts } from "./completion-scripts.ts";
import { type Option, type Options, placedOf, type Suggested } from "./options.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import { type Flags, resolveSettings } from "./settings.ts";

type ShellName = keyof typeof completionScripts;
const shells = Object.keys(completionScripts) as [ShellName, ...ShellName[]];

/** What else fits than the words: the shell knows these itself. */
type Other = "none" | "files" | "folders" | "command";

interface Candidate {
  readonly word: string;
  readonly note: string;
}

interface Completion {
  readonly other: Other;
  readonly candidates: readonly Candidate[];
}

const none: Completion = { other: "none", candidates: [] };
const of = (candidates: readonly Candidate[]): Completion => ({ other: "none", candidates });

/** Values that are known only when they are asked for. */
type Suggest = (what: Suggested, given: Flags) => Promise<readonly Candidate[]>;

/** What fits at the end of a command line: its last word is the one to complete. */
export async function completed(
  line: readonly string[],
  commands: readonly Command[],
  suggest: Suggest,
): Promise<Completion> {
  const isHelp = line[0] === "help" && line.length > 1;
  const typed = isHelp ? line.slice(1) : line;
  const current = typed.at(-1) ?? "";
  const before = plainWords(typed.slice(0, -1));
  const named = namedCommand(before, commands);
  if (named) {
    const words = before.slice(named.name.split(" ").length);
    return isHelp ? none : afterCommand({ words, current, options: named.options, suggest });
  }
  const [first] = before;
  if (first === undefined && !current.startsWith("-")) return of(nouns(commands));
  const [start] = commands;
  if (start && (first ?? current).startsWith("-"))
    return afterCommand({ words: before, current, options: start.options, suggest });
  return before.length === 1 ? of(verbs(first ?? "", commands)) : none;
}

const describeOf = (name: string, commands: readonly Command[]): string =>
  commands.find((it) => it.name === name)?.describe ?? "";

const nouns = (commands: readonly Command[]): Candidate[] => [
  ...firstWords(commands).map((word) => {
    const group = commands.find((it) => it.group?.name === word)?.group;
    return { word, note: group?.describe ?? describeOf(word, commands) };
  }),
  { word: "help", note: "Show the help of a command" },
];

const verbs = (noun: string, commands: readonly Command[]): Candidate[] => [
  ...membersOf(noun, commands).map((word) => ({ word, note: describeOf(`${noun} ${word}`, commands) })),
  ...spellingsOf(noun).map(([word, name]) => ({ word, note: describeOf(name, commands) })),
];

interface Place {
  /** What was typed after the command, without the word to complete. */
  readonly words: readonly string[];
  readonly current: string;
  readonly options: Options;
  readonly suggest: Suggest;
}

/** The options and words by place that were typed; `open` is the option whose value comes next. */
function readSoFar(words: readonly string[], options: Options) {
  const given: Record<string, string | boolean> = {};
  let places = 0;
  let open: string | undefined;
  for (const word of words) {
    const [, name = "", value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (open !== undefined) {
      given[open] = word;
      open = undefined;
    } else if (Object.hasOwn(options, name)) {
      if (value === undefined && options[name]?.kind !== "switch") open = name;
      else given[name] = value ?? true;
    } else if (!word.startsWith("-")) places++;
  }
  return { given, places, open };
}

async function afterCommand({ words, current, options, suggest }: Place): Promise<Completion> {
  const rest = Object.values(options).find((it) => it.rest);
  if (rest && words.includes("--")) return { other: "command", candidates: [] };
  const { given, places, open } = readSoFar(words, options);
  const valuesOf = (name: string) => optionValues(options[name], given, suggest);
  if (open !== undefined) return valuesOf(open);
  const [, name] = /^--([\w-]+)=/.exec(current) ?? [];
  if (name !== undefined) {
    const { other, candidates } = await valuesOf(name);
    return { other, candidates: candidates.map(({ word, note }) => ({ word: `--${name}=${word}`, note })) };
  }
  const flags = optionNames(options, given);
  if (current.startsWith("-")) return of(flags);
  const placed = placedOf(options);
  const last = placed.at(-1) ?? "";
  const place = placed[places] ?? (options[last]?.many ? last : undefined);
  if (place !== undefined) return valuesOf(place);
  return of([...(rest ? [{ word: "--", note: rest.describe }] : []), ...flags]);
}

const optionNames = (options: Options, given: Flags): Candidate[] =>
  Object.entries(options)
    .filter(
      ([name, { place, rest, many }]) => place === undefined && !rest && (many || given[name] === undefined),
    )
    .map(([name, { describe }]) => ({ word: `--${name}`, note: describe }));

const others: Readonly<Record<string, Other>> = { file: "files", folder: "folders", scenario: "files" };

async function optionValues(option: Option | undefined, given: Flags, suggest: Suggest): Promise<Completion> {
  if (!option) return none;
  const { choices, suggests, kind } = option;
  const other = others[kind] ?? "none";
  if (choices) return { other, candidates: choices.map((word) => ({ word, note: "" })) };
  const what = suggests ?? (kind === "scenario" ? "scenarios" : undefined);
  return { other, candidates: what === undefined ? [] : await suggest(what, given) };
}

/** A sim that does not answer at once must not hold up a key press, ms. */
const patienceMs = 1000;

type Ask = <T>(path: string) => Promise<T>;

const sources: Readonly<Record<Suggested, (ask: Ask, cwd: string) => Promise<Candidate[]>>> = {
  flags: async (ask) =>
    (await ask<{ flags: { key: string; rules: string[] }[] }>("flags")).flags.map(({ key, rules }) => ({
      word: key,
      note: rules[0] ?? "",
    })),
  presets: async (ask) =>
    (await ask<{ presets: { name: string; describe: string }[] }>("faults/presets")).presets.map((it) => ({
      word: it.name,
      note: it.describe,
    })),
  faults: async (ask) =>
    (await ask<{ faults: { name: string; text: string }[] }>("faults")).faults.map((it) => ({
      word: it.name,
      note: it.text,
    })),
  snapshots: async (ask) =>
    (await ask<{ snapshots: { name: string; created_at: string | null }[] }>("snapshots")).snapshots.map(
      (it) => ({ word: it.name, note: it.created_at ?? "" }),
    ),
  runs: async (ask) =>
    (await ask<{ runs: { id: string; status: string }[] }>("exports/runs?limit=50")).runs.map((it) => ({
      word: it.id,
      note: it.status,
    })),
  tapes: async (_, cwd) =>
    (await readdir(resolve(cwd, tapesFolder)))
      .filter((file) => file.endsWith(tapeEnding))
      .map((file) => ({ word: file.slice(0, -tapeEnding.length), note: "" })),
  scenarios: async () =>
    (await (await import("../index.ts")).shippedList()).map(({ name, description }) => ({
      word: name,
      note: description,
    })),
};

/** Asks the sim that the command line is about; there are no values where that fails. */
const suggestFor =
  (shell: Shell): Suggest =>
  async (what, given) => {
    const ask: Ask = async (path) => {
      const sim = await findRunning(resolveSettings(whereOptions, given, shell), shell.cwd);
      return callSim(sim, "GET", path, undefined, patienceMs);
    };
    return sources[what](ask, shell.cwd).catch(() => []);
  };

/** Names come from captured and edited data: what a shell would read as more than a word is not offered. */
const isPlainWord = (word: string): boolean => /^[^\s\p{C}"'`$\\|&;<>()*?[\]{}!#~]+$/u.test(word);

/** bash splits words at `=` and `:`; what was one word becomes one again. */
function joinedWords(words: readonly string[]): string[] {
  const joined: string[] = [];
  let isOpen = false;
  for (const word of words) {
    const isBreak = word === "=" || word === ":";
    const last = joined.at(-1);
    if (last !== undefined && (isOpen || isBreak)) joined[joined.length - 1] = last + word;
    else joined.push(word);
    isOpen = isBreak;
  }
  return joined;
}

/** bash replaces the part after its last break, and leaves it to us which words begin as the typed one does. */
function inBash(candidates: readonly Candidate[], words: readonly string[]): Candidate[] {
  const joined = joinedWords(words);
  const current = joined.at(-1) ?? "";
  const isSplit = joined.length < words.length && /[=:]/.test(current);
  const kept = isSplit ? Math.max(current.lastIndexOf("="), current.lastIndexOf(":")) + 1 : 0;
  return candidates
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, note }) => ({ word: word.slice(kept), note }));
}

const options = {
  shell: { kind: "text", describe: "bash, zsh or fish", choices: shells, flagOnly: true, place: 1 },
  words: {
    kind: "word",
    describe: "Words of a command line; the script passes them to complete the last one",
    flagOnly: true,
    many: true,
    optional: true,
    rest: true,
  },
} as const;

/** The command `phx-sim completion`. @param commands Every command, itself included */
export const completion = (commands: () => readonly Command[]): Command =>
  command({
    name: "completion",
    describe: "Print the script that makes a shell complete commands, options and values",
    options,
    examples: [
      ['eval "$(phx-sim completion bash)"', "in ~/.bashrc"],
      ['eval "$(phx-sim completion zsh)"', "in ~/.zshrc, after compinit"],
      ["phx-sim completion fish > ~/.config/fish/completions/phx-sim.fish", "for fish"],
    ],
    async run({ values: { shell: name, words } }, shell) {
      if (words.length === 0) {
        shell.out.say(completionScripts[name]);
        return "ok";
      }
      const isBash = name === "bash";
      const line = isBash ? joinedWords(words) : words;
      const { other, candidates } = await completed(line, commands(), suggestFor(shell));
      const shown = isBash ? inBash(candidates, words) : candidates;
      const plain = shown.filter(({ word }) => isPlainWord(word));
      shell.out.say(other, ...plain.map(({ word, note }) => `${word}\t${clean(note, 80)}`));
      return "ok";
    },
  });
