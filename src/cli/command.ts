import type { Option, Options } from "./options.ts";
import type { Lines } from "./output.ts";
import { type Flags, resolveSettings, type Settings, type Surroundings } from "./settings.ts";
import type { Style } from "./style.ts";

/** How a command ends when it does not fail; a signal's name when one ended it, a number for another's exit code. */
export type Ending = "ok" | "SIGINT" | "SIGTERM" | "SIGHUP" | number;

/** What a command may use of the process. stdout is the result, stderr is everything else. */
export interface Shell extends Surroundings {
  readonly out: Lines;
  readonly err: Lines;
  readonly outStyle: Style;
  readonly errStyle: Style;
  /** Ends the process at once, for a signal that comes while another one is being served. */
  readonly quit: (ending: Ending) => void;
}

/** Commands whose names begin with the same word. */
export interface CommandGroup {
  readonly name: string;
  readonly describe: string;
}

/** One command as data, with its way to run. */
export interface Command {
  /** One word, or two in a group: `flags set`. */
  readonly name: string;
  readonly group?: CommandGroup;
  readonly describe: string;
  readonly options: Options;
  /** Command line, then what it is good for. */
  readonly examples: readonly (readonly [string, string])[];
  /** Resolves the settings, then runs. Throws `Failure`. */
  run(flags: Flags, shell: Shell): Promise<Ending>;
}

interface Row<O extends Options> extends Omit<Command, "options" | "run"> {
  readonly options: O;
  run(settings: Settings<O>, shell: Shell): Promise<Ending>;
}

/** Makes a command from its table and a function that takes the resolved settings. */
export const command = <const O extends Options>(row: Row<O>): Command => ({
  ...row,
  run: (flags, shell) => row.run(resolveSettings(row.options, flags, shell), shell),
});

/** The command that a command line names, if it names one. */
export const namedCommand = (argv: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, i) => argv[i] === word));

const configurable = ([, option]: [string, Option]): boolean => !option.flagOnly;

/** Every option that a config file may set. */
export const configOptions = (commands: readonly Command[]): Options =>
  Object.fromEntries(commands.flatMap(({ options }) => Object.entries(options).filter(configurable)));
