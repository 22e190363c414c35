import { clean } from "../kernel/command/clean-text.ts";
import { command, type Shell } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import { findRunning, portOption, type Running, whereOptions } from "../kernel/command/running-sim.ts";
import type { Settings } from "../kernel/command/settings.ts";
import { envFormats, envLines } from "../lab/egress/env-lines.ts";
import { type Access, envGroups, frameworks } from "../lab/egress/env-names.ts";
import { simOptions } from "../sim/command/open-sim.ts";
import { writeVariables } from "./env-file.ts";

const options = {
  ...whereOptions,
  format: { describe: "Output format", default: "dotenv", choices: envFormats },
  framework: { describe: "Only the names this framework reads", choices: frameworks },
  write: { kind: "file", describe: "Put the variables into this file, such as .env.local; its other lines stay" },
  port: { ...portOption, describe: "The port of `phx-sim start`, while no sim runs" },
  scenario: { ...simOptions.scenario, describe: "The scenario of `phx-sim start`, while no sim runs" },
  json: { kind: "switch", describe: "The same as --format json" },
} as const;

export const env = command({
  name: "env",
  describe: "Print the variables that point an app at the sim, or put them into a file",
  options,
  examples: [
    ["phx-sim env --framework next --write .env.local", "for a Next.js app; other lines of the file stay"],
    ["phx-sim env --framework android --write local.properties", "for an app on the Android emulator"],
    ['eval "$(phx-sim env --format shell)"', "for this shell"],
  ],
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const { values } = settings;
  const format = values.json ? "json" : values.format;
  if (values.write !== undefined && format !== "dotenv")
    throw new Failure("usage", `--write cannot be used with the format ${format}`);
  const groups = envGroups(await accessFor(settings, shell), values.framework);
  if (values.write === undefined) shell.out.say(...envLines(groups, format));
  else shell.out.say(await writeVariables(values.write, groups, shell));
  return "ok" as const;
}

/** The running sim's address and keys; without one those that `phx-sim start` would have in this folder. */
async function accessFor(settings: Settings<typeof options>, shell: Shell): Promise<Access> {
  try {
    return accessOf(await findRunning(settings, shell));
  } catch (error) {
    const { origins } = settings;
    const isNamed = origins.url.source !== "default" || origins.data.source === "flag";
    if (!(error instanceof Failure) || error.kind !== "no_sim" || isNamed) throw error;
    return accessAtStart(settings, shell);
  }
}

/** @throws Failure start, for a scenario with mistakes */
async function accessAtStart({ values }: Settings<typeof options>, shell: Shell): Promise<Access> {
  const { port, scenario: source } = values;
  const { loadScenario, ScenarioError } = await import("../lab/scenario/load.ts");
  const { worldOf } = await import("../lab/scenario/scenario.ts");
  const world = await loadScenario(source)
    .then(worldOf)
    .catch((error: unknown) => {
      throw error instanceof ScenarioError ? new Failure("start", clean(error.message, 2000), error) : error;
    });
  const [project] = world.projects;
  const [personal] = world.personal_api_keys;
  if (port === 0 || !project || !personal)
    throw new Failure("no_sim", "no sim runs, and its port or keys are not known before it starts");
  shell.err.say(
    `phx-sim: no sim runs; these are the address and keys that \`phx-sim start\` has here (scenario ${clean(source)})`,
  );
  return {
    url: `http://127.0.0.1:${port}`,
    project_api_key: project.api_key,
    personal_api_key: personal.key,
    project_id: project.id,
  };
}

/** A value with a line end or another control character would change the meaning of what is printed. */
const isPlain = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value);

function accessOf({ info, foundBy }: Running): Access {
  const { url, project_api_key, personal_api_key, project_id } = info;
  if (isPlain(url) && isPlain(project_api_key) && isPlain(personal_api_key) && typeof project_id === "number") {
    return { url, project_api_key, personal_api_key, project_id };
  }
  throw new Failure("no_sim", `the sim found by ${foundBy} does not report its keys; it may be of another version`);
}
