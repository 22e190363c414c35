import type { Sim, SimOptions, StartError } from "../index.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure, type FailureKind } from "./failure.ts";
import { portHolder } from "./port-holder.ts";
import type { Settings } from "./settings.ts";

/** What a sim is to be like, for every command that starts one. */
export const simOptions = {
  scenario: {
    kind: "scenario",
    describe: "World to start with, in a new data folder or in memory: a file, or a shipped one's name",
    default: "default",
  },
  dialect: {
    kind: "text",
    describe:
      "Whom to follow where the contract and the live service differ; documented, unless the scenario says more",
    choices: ["documented", "production"],
  },
  "adopt-tokens": { kind: "switch", describe: "An unknown phc_ key becomes a project" },
  "rate-limits": { kind: "switch", describe: "Apply the service's rate limits to personal keys" },
  geoip: {
    kind: "file",
    describe: "City database in MaxMind's format (.mmdb): tells $geoip_ properties from addresses",
  },
  clock: {
    kind: "text",
    describe: "The sim's time at the start, from which it runs on: ISO 8601, or real; else the scenario's",
  },
  strict: { kind: "switch", describe: "Answer 501 on paths that are not emulated" },
} as const;

type Values = Settings<typeof simOptions>["values"];

/** The settings of `simOptions` as the library takes them. */
const chosen = (values: Values): SimOptions => ({
  scenario: values.scenario,
  ...(values.dialect && { dialect: values.dialect }),
  adoptTokens: values["adopt-tokens"],
  rateLimits: values["rate-limits"],
  ...(values.geoip === undefined ? {} : { geoip: values.geoip }),
  ...(values.clock === undefined ? {} : { clock: values.clock }),
  strict: values.strict,
});

/** Starts a sim of these settings in this process; `options` say the rest. @throws Failure usage, start */
export async function openSim(values: Values, options: SimOptions, shell: Shell): Promise<Sim> {
  const library = await import("../index.ts");
  try {
    return await library.startSim({
      ...chosen(values),
      ...options,
      onNotice: (text) => shell.err.say(`phx-sim: ${clean(text, 4000)}`),
    });
  } catch (error) {
    if (!(error instanceof library.StartError)) throw error;
    const reason =
      error.code === "port_in_use" ? await portTaken(options) : `${error.message}; ${error.hint}`;
    const lines = reason.split("\n").map((line) => clean(line, 2000));
    throw new Failure(failureKinds[error.code], lines.join("\n"), error);
  }
}

const failureKinds: Readonly<Record<StartError["code"], FailureKind>> = {
  bad_host: "usage",
  clock: "usage",
  bad_port: "start",
  port_in_use: "start",
  data_folder: "start",
  scenario: "start",
  geoip: "start",
};

async function portTaken({ host = "127.0.0.1", port = 0 }: SimOptions): Promise<string> {
  const holder = await portHolder(host, port);
  return `port ${port} is in use by ${holder}; stop it, or use --port 0 for any free port or --port N for another`;
}

/** Closes it; false when that takes longer than `ms`. */
export async function closesWithin(sim: Sim, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([sim.close().then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
