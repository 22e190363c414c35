import type { Command } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import type { Options } from "../kernel/command/options.ts";
import type { OptionTexts } from "../kernel/command/settings.ts";
import { tapeAt } from "../lab/tapes/commands/options.ts";
import { rerouteOptions } from "../tools/exec/child-environment.ts";
import { exec } from "../tools/exec/exec.ts";
import { start } from "./start.ts";

const { tape: _, data, ...startOptions } = start.options;
const { scenarios: __, command, ...execOptions } = exec.options;

const options: Options = {
  tape: tapeAt(1),
  ...startOptions,
  ...(data && {
    data: { kind: data.kind, describe: "Folder for what arrives and what is edited (default: in memory)" },
  }),
  ...rerouteOptions,
  ...(command && {
    command: { ...command, describe: "A command to run against it, and its arguments", optional: true },
  }),
};

/** Options of `start` that mean nothing to a run of a command. */
const servingOnly = ["data", ...Object.keys(startOptions)].filter((name) => !Object.hasOwn(execOptions, name));

/** @throws Failure usage when an option is about serving, and there is a command to run */
function checkForRun(flags: OptionTexts): void {
  const idle = servingOnly.find((name) => Object.hasOwn(flags, name));
  if (idle === undefined) return;
  throw new Failure("usage", `--${idle} does not go with a command after --`);
}

/** @throws Failure usage when an option is about a command, and there is none to run */
function checkForServing(flags: OptionTexts): void {
  const idle = Object.keys(rerouteOptions).find((name) => Object.hasOwn(flags, name));
  if (idle !== undefined)
    throw new Failure("usage", `--${idle} needs a command: phx-sim replay TAPE --${idle} … -- COMMAND`);
}

/** Two replays in one folder do not share their data: none is kept unless a folder is named. @throws Failure usage */
function inMemory(flags: OptionTexts): OptionTexts {
  if (flags.data !== undefined) return flags;
  if (flags.fresh !== undefined) throw new Failure("usage", "--fresh needs --data: a replay is in memory");
  return { ...flags, memory: true };
}

/** `start --tape`, or `exec --tape` when a command follows. */
export const replay: Command = {
  name: "replay",
  describe: "Respond from a tape; with a command after --, until that ends",
  options,
  examples: [
    ["phx-sim replay checkout", "serve tapes/checkout.tape.ndjson; what is not on it is an error"],
    ["phx-sim replay checkout --on-miss emulate", "the emulator answers what is not on it"],
    ["phx-sim replay checkout --on-miss upstream --upstream us", "the real service answers what is not on it"],
    ["phx-sim replay checkout -- npm test", "run a command; exit 1 when a request is not on the tape"],
    ["phx-sim replay checkout --reroute -- npm test", "for a command whose host is hard-coded"],
  ],
  run(flags, shell) {
    if (flags.command === undefined) {
      checkForServing(flags);
      return start.run(inMemory(flags), shell);
    }
    checkForRun(flags);
    return exec.run(flags, shell);
  },
};
