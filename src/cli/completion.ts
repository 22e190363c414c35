import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { callSim } from "../kernel/command/ask-sim.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../kernel/command/command.ts";
import { type Option, type Options, placedOf, type Suggested } from "../kernel/command/options.ts";
import {
  firstWords,
  membersOf,
  namedCommand,
  parseLine,
  plainWords,
  spellingsOf,
} from "../kernel/command/read-args.ts";
import { findRunning, whereOptions } from "../kernel/command/running-sim.ts";
import { type OptionTexts, resolveSettings } from "../kernel/command/settings.ts";
import { tapeEnding, tapesFolder } from "../lab/tapes/format/place.ts";

/** What fits in addition to the candidates; the shell completes these itself. */
type Other = "none" | "files" | "folders" | "command";

interface Candidate {
  readonly word: string;
  readonly note: string;
}

interface Completion {
  readonly other: Other;
  readonly candidates: readonly Candidate[];
}

const of = (candidates: readonly Candidate[], other: Other = "none"): Completion => ({ other, candidates });

/** Looks up values that are not in the tables. */
type Suggest = (what: Suggested, given: OptionTexts) => Promise<readonly Candidate[]>;

/** What fits at the end of a command line: its last word is the one to complete. */
export async function completed(
  line: readonly string[],
  commands: readonly Command[],
  suggest: Suggest,
): Promise<Completion> {
  const isHelp = line[0] === "help" && line.length > 1;
  const current = line.at(-1) ?? "";
  const before = plainWords(line.slice(isHelp ? 1 : 0, -1));
  const [first] = before;
  const named = namedCommand(before, commands);
  const command = named ?? ((first ?? current).startsWith("-") ? commands[0] : undefined);
  if (command) {
    const words = before.slice(named?.name.split(" ").length ?? 0);
    return isHelp ? of([]) : afterCommand(words, current, command.options, suggest);
  }
  if (first === undefined) return of(nouns(commands));
  return of(before.length === 1 ? verbs(first, commands) : []);
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

async function afterCommand(
  words: readonly string[],
  current: string,
  options: Options,
  suggest: Suggest,
): Promise<Completion> {
  const rest = Object.values(options).find((it) => it.rest);
  if (rest && words.includes("--")) return of([], "command");
  const { flags: given, words: placedWords, valueless } = parseLine(words, options);
  const valuesOf = (name: string) => optionValues(options[name], given, suggest);
  if (valueless !== undefined && words.at(-1) === `--${valueless}`) return valuesOf(valueless);
  const [, name] = /^--([\w-]+)=/.exec(current) ?? [];
  if (name !== undefined) {
    const { other, candidates } = await valuesOf(name);
    return of(
      candidates.map((it) => ({ ...it, word: `--${name}=${it.word}` })),
      other,
    );
  }
  const flags = Object.entries(options)
    .filter(([it, { place, rest, many }]) => place === undefined && !rest && (many || !Object.hasOwn(given, it)))
    .map(([it, { describe }]) => ({ word: `--${it}`, note: describe }));
  if (current.startsWith("-")) return of(flags);
  const placed = placedOf(options);
  const last = placed.at(-1) ?? "";
  const place = placed[placedWords.length] ?? (options[last]?.many ? last : undefined);
  if (place !== undefined) return valuesOf(place);
  return of([...(rest ? [{ word: "--", note: rest.describe }] : []), ...flags]);
}

const others: Readonly<Record<string, Other>> = { file: "files", folder: "folders", scenario: "files" };

async function optionValues(option: Option | undefined, given: OptionTexts, suggest: Suggest): Promise<Completion> {
  if (!option) return of([]);
  const { choices, suggests, kind = "text" } = option;
  const what = suggests ?? (kind === "scenario" ? "scenarios" : undefined);
  const values = choices?.map((word) => ({ word, note: "" })) ?? (what ? await suggest(what, given) : []);
  return of(values, others[kind]);
}

/** A sim that does not answer at once must not hold up a key press, ms. */
const patienceMs = 1000;

type Ask = (path: string) => Promise<Record<string, Readonly<Record<string, unknown>>[]>>;
type Source = (ask: Ask, cwd: string) => Promise<Candidate[]>;

/** Candidates from a list in an answer of the control API. */
const listed =
  (path: string, list: string, word: string, note: string): Source =>
  async (ask) =>
    ((await ask(path))[list] ?? []).map((it) => ({ word: String(it[word]), note: String([it[note]].flat()[0] ?? "") }));

const sources: Readonly<Record<Suggested, Source>> = {
  flags: listed("flags", "flags", "key", "rules"),
  presets: listed("faults/presets", "presets", "name", "describe"),
  faults: listed("faults", "faults", "name", "text"),
  snapshots: listed("snapshots", "snapshots", "name", "created_at"),
  runs: listed("exports/runs?limit=50", "runs", "id", "status"),
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

/** Asks the sim of the command line; no values if that fails. */
const suggestFor =
  (shell: Shell): Suggest =>
  async (what, given) => {
    const ask: Ask = async (path) => {
      const sim = await findRunning(resolveSettings(whereOptions, given, shell), shell);
      return callSim(sim, "GET", path, undefined, patienceMs);
    };
    return sources[what](ask, shell.cwd).catch(() => []);
  };

/** Names come from captured and edited data: one that a shell would read as more than a word is left out. */
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

/** bash replaces the part after its last break, and does not filter by what was typed. */
function inBash(candidates: readonly Candidate[], words: readonly string[]): Candidate[] {
  const joined = joinedWords(words);
  const current = joined.at(-1) ?? "";
  const isSplit = joined.length < words.length && /[=:]/.test(current);
  const kept = isSplit ? Math.max(current.lastIndexOf("="), current.lastIndexOf(":")) + 1 : 0;
  return candidates
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, note }) => ({ word: word.slice(kept), note }));
}

/**
 * What each shell sources. A script passes the words up to the cursor to `phx-sim completion SHELL -- WORDS`, whose
 * first line is what else fits (none, files, folders, command); each other line is a word and a note.
 */
const completionScripts = {
  bash: `# phx-sim completion for bash: eval "$(phx-sim completion bash)"
_phx_sim() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}" kind= word note
  COMPREPLY=()
  [[ $cur == [=:] ]] && cur=
  while IFS=$'\\t' read -r word note; do
    if [[ -z $kind ]]; then kind=$word; else COMPREPLY+=("$word"); fi
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case $kind in
    files) COMPREPLY+=($(compgen -f -- "$cur")) ;;
    folders) COMPREPLY+=($(compgen -d -- "$cur")) ;;
    command) COMPREPLY+=($(compgen -c -- "$cur") $(compgen -f -- "$cur")) ;;
    *) return ;;
  esac
  type compopt &>/dev/null && compopt -o filenames
}
complete -F _phx_sim phx-sim`,

  zsh: `#compdef phx-sim
# phx-sim completion for zsh: eval "$(phx-sim completion zsh)", after compinit
_phx_sim() {
  local -a lines values
  local kind line
  lines=("\${(@f)$(\${~words[1]} completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#values )) && _describe -V phx-sim values
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    command)
      local -i at=\${words[(i)--]}
      shift $at words
      (( CURRENT -= at ))
      _normal
      ;;
  esac
}
if [[ $funcstack[1] == _phx_sim ]]; then _phx_sim "$@"; else compdef _phx_sim phx-sim; fi`,

  fish: `# phx-sim completion for fish: phx-sim completion fish | source
function __phx_sim_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -q current[1]; or set current ""
  set -l lines ($before[1] completion fish -- $before[2..-1] $current 2>/dev/null)
  switch "$lines[1]"
    case files
      __fish_complete_path $current
    case folders
      __fish_complete_directories $current
    case command
      __fish_complete_subcommand --fcs-skip=(contains -i -- -- $before)
  end
  set -q lines[2]; and printf '%s\\n' $lines[2..-1]
end
complete -c phx-sim -f -a '(__phx_sim_complete)'`,
} as const;

type ShellName = keyof typeof completionScripts;
const shells = Object.keys(completionScripts) as [ShellName, ...ShellName[]];

const options = {
  shell: { describe: "bash, zsh or fish", choices: shells, place: 1 },
  words: {
    kind: "word",
    describe: "Words of a command line; the script passes them to complete the last one",
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
      ["phx-sim completion fish | source", "in ~/.config/fish/config.fish"],
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
