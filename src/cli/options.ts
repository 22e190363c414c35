import type { Json } from "../kernel/json.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type Kind, type KindName, type KindValue, kinds } from "./kinds.ts";

/** What has values by name: in the running sim, in the folder of tapes, or shipped. */
export type Suggested = "flags" | "presets" | "faults" | "snapshots" | "runs" | "tapes" | "scenarios";

/**
 * One row of a command's table: both readers of the command line, the environment and the config file obey
 * it.
 */
export interface Option {
  readonly kind: KindName;
  readonly describe: string;
  /** Text, as a user would type it; switches are off by default. */
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Where a shell's completion finds values. */
  readonly suggests?: Suggested;
  /** Only on the command line: no environment variable, not in the config file. */
  readonly flagOnly?: true;
  /** Another option that cannot be on at the same time; where both are, the nearer source wins. */
  readonly excludes?: string;
  /** Given by its place among the words after the command, from 1, and not by its name. flagOnly. */
  readonly place?: number;
  /** What is given by its place, or after `--`, may be left out; of places the last ones only. */
  readonly optional?: true;
  /**
   * May be given any number of times; the value is the list of them, in order. By place: all words from there
   * on, one at least unless it is optional. flagOnly.
   */
  readonly many?: true;
  /** All the words after `--`, as they are; with `many`. flagOnly. */
  readonly rest?: true;
}

export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { choices: readonly (infer Choice)[] }
  ? Choice
  : KindValue<O["kind"]>;

type ConstantlyThere = { kind: "switch" } | { default: string } | { place: number };

/** Switches, words at their place and options with a default always have a value. */
export type ValueOf<O extends Option> = O extends { many: true }
  ? readonly Value<O>[]
  : O extends { optional: true }
    ? Value<O> | undefined
    : O extends ConstantlyThere
      ? Value<O>
      : Value<O> | undefined;

/** `PHX_SIM_ADOPT_TOKENS` for `adopt-tokens`. */
export const variableOf = (name: string): string => `PHX_SIM_${name.toUpperCase().replaceAll("-", "_")}`;

/** How the help and complaints name it: `--port`, or `KEY` for what is given by its place. */
export const spelledOption = (name: string, { place }: Pick<Option, "place">): string =>
  place === undefined ? `--${name}` : name.toUpperCase();

/** The names of what is given by place, in order. */
export const placedOf = (options: Options): string[] =>
  Object.keys(options)
    .filter((name) => options[name]?.place !== undefined)
    .sort((a, b) => (options[a]?.place ?? 0) - (options[b]?.place ?? 0));

/**
 * Reads a value's text. `where` names the source, e.g. `--port`; throws a usage failure that says what was
 * expected.
 */
export function readValue(option: Option, text: string, where: string, folder: string): Json {
  const kind: Kind = kinds[option.kind];
  const value = kind.read(text, folder);
  if (value === undefined) {
    const given = kind.isSecret ? "" : `, not ${quote(text)}`;
    throw new Failure("usage", `${where} must be ${kind.expects}${given}`);
  }
  if (option.choices && !option.choices.includes(text)) {
    const wanted = `${option.choices.slice(0, -1).join(", ")} or ${option.choices.at(-1)}`;
    throw new Failure(
      "usage",
      `${where} must be ${wanted}, not ${quote(text)}${meant(text, option.choices)}`,
    );
  }
  return value;
}

/** Also of a longer or a shorter form of a choice: `nextjs`, `react`. */
function meant(text: string, choices: readonly string[]): string {
  const near = didYouMean(text, choices);
  const form = choices.find((it) => text.length > 2 && (text.startsWith(it) || it.startsWith(text)));
  return near === "" && form !== undefined ? `; did you mean ${form}?` : near;
}

const quote = (text: string): string => `"${clean(text)}"`;
