import type { Sim, StartError } from "../index.ts";
import { banner, readyLine } from "./banner.ts";
import { clean } from "./clean-text.ts";
import { command, type Shell } from "./command.ts";
import { Failure, type FailureKind } from "./failure.ts";
import { portHolder } from "./port-holder.ts";
import { createRequestLog, type RequestLog } from "./request-log.ts";
import type { Settings } from "./settings.ts";
import { untilSignal } from "./signals.ts";

const options = {
  port: { kind: "port", describe: "Port to listen on; 0 takes any free one", default: "7490" },
  host: { kind: "host", describe: "Address to listen on", default: "127.0.0.1" },
  data: {
    kind: "folder",
    describe: "Folder for what arrives and what is edited",
    default: ".phx-sim",
    excludes: "memory",
  },
  memory: { kind: "switch", describe: "Keep everything in memory; nothing is left at the end" },
  scenario: {
    kind: "scenario",
    describe: "World to start with, in a new data folder or in memory: a file, or a shipped one's name",
    default: "default",
  },
  "on-change": {
    kind: "text",
    describe: "What an edit of the scenario's files does to the running sim",
    default: "merge",
    choices: ["merge", "reset", "ignore"],
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
  json: { kind: "switch", describe: "Tell the addresses and keys as one JSON line", flagOnly: true },
  quiet: { kind: "switch", describe: "No request log", excludes: "verbose" },
  verbose: { kind: "switch", describe: "Log every request, not only events and mistakes" },
  open: { kind: "switch", describe: "Open the inspector in the browser", flagOnly: true },
} as const;

type StartSettings = Settings<typeof options>;

export const start = command({
  name: "start",
  describe: "Serve until interrupted (the default command)",
  options,
  examples: [
    ["phx-sim", "serve on port 7490, data in .phx-sim"],
    ["phx-sim start --port 0 --memory --json", "for tests: any port, nothing left behind"],
  ],
  run,
});

async function run(settings: StartSettings, shell: Shell) {
  const signal = untilSignal(process, shell.quit);
  const sim = await open(settings, shell);
  const log = createRequestLog(shell.err, {
    verbosity: settings.values.quiet ? "quiet" : settings.values.verbose ? "verbose" : "normal",
    style: shell.errStyle,
    projectKey: sim.apiKey,
  });
  if (!settings.values.quiet) sim.onRequest(log.add);
  announce(sim, settings, shell);
  if (settings.values.open) await showInspector(sim.inspectorUrl, shell);
  const ending = await signal;
  await stop(sim, log, settings.values.quiet, shell);
  return ending;
}

async function open({ values }: StartSettings, shell: Shell): Promise<Sim> {
  const library = await import("../index.ts");
  try {
    return await library.startSim({
      port: values.port,
      host: values.host,
      ...(values.memory ? {} : { data: values.data }),
      scenario: values.scenario,
      onChange: values["on-change"],
      ...(values.dialect && { dialect: values.dialect }),
      adoptTokens: values["adopt-tokens"],
      rateLimits: values["rate-limits"],
      ...(values.geoip === undefined ? {} : { geoip: values.geoip }),
      ...(values.clock === undefined ? {} : { clock: values.clock }),
      strict: values.strict,
      onNotice: (text) => shell.err.say(`phx-sim: ${clean(text, 4000)}`),
    });
  } catch (error) {
    if (!(error instanceof library.StartError)) throw error;
    const reason = error.code === "port_in_use" ? await portTaken(values) : `${error.message}; ${error.hint}`;
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

async function portTaken({ host, port }: StartSettings["values"]): Promise<string> {
  const holder = await portHolder(host, port);
  return `port ${port} is in use by ${holder}; stop it, or use --port 0 for any free port or --port N for another`;
}

function announce(sim: Sim, { values, origins }: StartSettings, shell: Shell): void {
  const ready = readyLine(sim);
  shell.out.say(...(values.json ? [JSON.stringify(ready)] : banner(ready, scenarioOf(sim), shell.outStyle)));
  shell.out.flush();
  if (values.verbose) {
    const told = Object.entries(origins).map(([name, { where }]) => `${name} from ${clean(where)}`);
    shell.err.say(`phx-sim: ${told.join(", ")}`);
  }
}

async function showInspector(url: string, shell: Shell): Promise<void> {
  const { openPage } = await import("./open-page.ts");
  openPage(url, () => shell.err.say("phx-sim: no browser could be opened"));
}

function scenarioOf(sim: Sim): string {
  const { scenario } = sim.info();
  return typeof scenario === "string" ? scenario : "";
}

/** Leaves time for the process to end within two seconds of the signal. */
const closeMs = 1500;

async function stop(sim: Sim, log: RequestLog, quiet: boolean, shell: Shell): Promise<void> {
  const inTime = await settlesWithin(sim.close(), closeMs);
  log.flush();
  if (!inTime) shell.err.say("phx-sim: some connections did not close in time");
  if (!quiet) shell.err.say(`phx-sim: stopped; ${log.total()}`);
  shell.err.flush();
}

async function settlesWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
