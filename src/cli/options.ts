import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type KindName, type KindValue, kinds } from "./kinds.ts";

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
  /** Only on the command line: no environment variable, not in the config file. */
  readonly flagOnly?: true;
  /** Another option that cannot be on at the same time; where both are, the nearer source wins. */
  readonly excludes?: string;
}

export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O extends { choices: readonly (infer Choice)[] }
  ? Choice
  : KindValue<O["kind"]>;

/** Switches and options with a default always have a value. */
export type ValueOf<O extends Option> = O extends { kind: "switch" } | { default: string }
  ? Value<O>
  : Value<O> | undefined;

/** `PHX_SIM_ADOPT_TOKENS` for `adopt-tokens`. */
export const variableOf = (name: string): string => `PHX_SIM_${name.toUpperCase().replaceAll("-", "_")}`;

/**
 * Reads a value's text. `where` names the source, e.g. `--port`; throws a usage failure that says what was
 * expected.
 */
export function readValue(
  option: Option,
  text: string,
  where: string,
  folder: string,
): string | number | boolean {
  const value = kinds[option.kind].read(text, folder);
  if (value === undefined) {
    throw new Failure("usage", `${where} must be ${kinds[option.kind].expects}, not ${quote(text)}`);
  }
  if (option.choices && !option.choices.includes(text)) {
    const wanted = option.choices.join(" or ");
    throw new Failure(
      "usage",
      `${where} must be ${wanted}, not ${quote(text)}${didYouMean(text, option.choices)}`,
    );
  }
  return value;
}

const quote = (text: string): string => `"${clean(text)}"`;
