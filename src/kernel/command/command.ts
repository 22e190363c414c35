import { inOptionNames, RefusedCall } from "./ask-sim.ts";
import type { Option, Options } from "./options.ts";
import type { Lines } from "./output.ts";
import { type OptionTexts, resolveSettings, type SettingSources, type Settings } from "./settings.ts";
import type { Style } from "./style.ts";

/** How a command ends if it does not fail: a signal's name if one ended it, a number for the exit code of a child. */
export type CommandEnd = "ok" | "SIGINT" | "SIGTERM" | "SIGHUP" | number;

/** What a command may use of the process. stdout is the result, stderr is everything else. */
export interface Shell extends SettingSources {
  readonly out: Lines;
  readonly err: Lines;
  readonly outStyle: Style;
  readonly errStyle: Style;
  /** Ends the process at once, for a second signal. */
  readonly quit: (ending: CommandEnd) => void;
}

interface CommandGroup {
  readonly name: string;
  readonly describe: string;
}

export interface Command {
  /** One word, or two in a group: `flags set`. */
  readonly name: string;
  readonly group?: CommandGroup;
  readonly describe: string;
  readonly options: Options;
  readonly examples: readonly (readonly [string, string])[];
  /** stdout only confirms success: `--quiet` omits it. */
  readonly confirms?: true;
  /** Resolves the settings, then runs. Throws `Failure`. */
  run(flags: OptionTexts, shell: Shell): Promise<CommandEnd>;
}

interface Row<O extends Options> extends Omit<Command, "options" | "run"> {
  readonly options: O;
  run(settings: Settings<O>, shell: Shell): Promise<CommandEnd>;
}

const quietOption = { kind: "switch", describe: "Print only results and errors" } as const;

/** Adds `--quiet`, and reports what the sim refuses by the names of the command's own options. */
export const command = <const O extends Options>(row: Row<O>): Command => {
  const options: Options = { ...row.options, quiet: row.options.quiet ?? quietOption };
  const isOwn = Object.hasOwn(row.options, "quiet");
  return {
    ...row,
    options,
    async run(flags, shell) {
      const settings = resolveSettings(row.options, flags, shell);
      const isQuiet = !isOwn && resolveSettings({ quiet: quietOption }, flags, shell).values.quiet;
      const isSilent = row.confirms === true && flags.json === undefined;
      try {
        return await (isQuiet ? runQuietly((it) => row.run(settings, it), shell, isSilent) : row.run(settings, shell));
      } catch (error) {
        throw error instanceof RefusedCall ? inOptionNames(error, row.options, settings.origins) : error;
      }
    },
  };
};

function holdBack(lines: Lines): Lines & { release(): void } {
  const held: string[] = [];
  return { flush() {}, say: (...more) => void held.push(...more), release: () => lines.say(...held) };
}

/** Writes notices and confirmations only if the command fails. */
async function runQuietly(
  run: (shell: Shell) => Promise<CommandEnd>,
  shell: Shell,
  isSilent: boolean,
): Promise<CommandEnd> {
  const [out, err] = [holdBack(shell.out), holdBack(shell.err)];
  const release = () => {
    out.release();
    err.release();
  };
  // A dumb terminal gets no progress line.
  const env = { ...shell.env, TERM: "dumb" };
  try {
    const ending = await run({ ...shell, env, out: isSilent ? out : shell.out, err });
    if (ending !== "ok" && ending !== 0) release();
    return ending;
  } catch (error) {
    release();
    throw error;
  }
}

const configurable = ([, option]: [string, Option]): boolean => option.configurable === true;

export const configOptions = (commands: readonly Command[]): Options =>
  Object.fromEntries(commands.flatMap(({ options }) => Object.entries(options).filter(configurable)));
