import { type Access, envGroups, frameworks } from "../kernel/env-names.ts";
import { command, type Shell } from "./command.ts";
import { envFormats, envLines } from "./env-format.ts";
import { Failure } from "./failure.ts";
import { findRunning, type Running, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";

const options = {
  ...whereOptions,
  format: {
    kind: "text",
    describe: "Output format",
    default: "dotenv",
    choices: envFormats,
    flagOnly: true,
  },
  framework: {
    kind: "text",
    describe: "Only the names this framework reads",
    choices: frameworks,
    flagOnly: true,
  },
  json: { kind: "switch", describe: "The same as --format json", flagOnly: true },
} as const;

export const env = command({
  name: "env",
  describe: "Print the variables that point an app at the running sim",
  options,
  examples: [
    ["phx-sim env --framework next > .env.local", "for a Next.js app"],
    ["phx-sim env --framework android >> local.properties", "for an app on the Android emulator"],
    ['eval "$(phx-sim env --format shell)"', "for this shell"],
  ],
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const access = accessOf(await findRunning(settings, shell.cwd));
  const groups = envGroups(access, settings.values.framework);
  shell.out.say(...envLines(groups, settings.values.json ? "json" : settings.values.format));
  return "ok" as const;
}

/** A value with a line end or another control character would change the meaning of what is printed. */
const isPlain = (value: unknown): value is string =>
  typeof value === "string" && /^[\x21-\x7e]+$/.test(value);

function accessOf({ info, foundBy }: Running): Access {
  const { url, project_api_key, personal_api_key, project_id } = info;
  if (
    isPlain(url) &&
    isPlain(project_api_key) &&
    isPlain(personal_api_key) &&
    typeof project_id === "number"
  ) {
    return { url, project_api_key, personal_api_key, project_id };
  }
  throw new Failure(
    "no_sim",
    `the sim found by ${foundBy} does not tell its keys; is it of another version?`,
  );
}
