import type { Sim } from "../index.ts";
import { onFirstUse } from "../kernel/base/on-first-use.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { command, type Shell } from "../kernel/command/command.ts";
import { portOption } from "../kernel/command/running-sim.ts";
import type { Settings } from "../kernel/command/settings.ts";
import { stopRequest, untilSignal } from "../kernel/command/signals.ts";
import { missedOf, replayed, tapeFacts, tapeLines } from "../lab/tapes/commands/tape-summary.ts";
import { banner, readyLine } from "../sim/command/banner.ts";
import {
  closesWithin,
  loadRest,
  missUpstreamOf,
  openRequestLog,
  openServer,
  reachOf,
  reachOptions,
  simOptions,
} from "../sim/command/open-sim.ts";
import type { RequestLog } from "../sim/command/request-log.ts";
import type { SimServer } from "../sim/types.ts";
import { createLintWatch, type LintWatch } from "./lint-watch.ts";

const options = {
  port: portOption,
  ...reachOptions,
  data: {
    kind: "folder",
    describe: "Folder for what arrives and what is edited",
    configurable: true,
    default: ".phx-sim",
    excludes: "memory",
  },
  fresh: {
    kind: "switch",
    describe: "Remove what the data folder has, and start anew from the scenario",
    excludes: "memory",
  },
  memory: { kind: "switch", describe: "Keep everything in memory; nothing is left at the end", configurable: true },
  "on-change": {
    describe: "What an edit of the scenario's files does to the running sim",
    configurable: true,
    default: "merge",
    choices: ["merge", "reset", "ignore"],
  },
  ...simOptions,
  json: {
    kind: "switch",
    describe: "Print the addresses and keys as one JSON line; at the end, what was used of a tape",
  },
  quiet: { kind: "switch", describe: "No request log", configurable: true, excludes: "verbose" },
  "no-lint": { kind: "switch", describe: "No warnings about what is captured", configurable: true },
  verbose: { kind: "switch", describe: "Log every request, not only events and mistakes", configurable: true },
  open: { kind: "switch", describe: "Open the inspector in the browser" },
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
  const { onStop, stopped } = stopRequest();
  const sim = await open(settings, onStop, shell);
  const client = onFirstUse(async () => (await import("../sim/start-sim.ts")).withClient(sim));
  const { quiet, verbose } = settings.values;
  const log = openRequestLog(sim, quiet ? "quiet" : verbose ? "verbose" : "normal", shell);
  if (!settings.values.quiet) sim.onRequest(log.add);
  announce(sim, settings, shell);
  const watch = settings.values.quiet || settings.values["no-lint"] ? undefined : watchLint(sim, client, shell);
  if (settings.values.open) await showInspector(sim, shell);
  const loading = new AbortController();
  loadRest(sim, loading.signal).then(
    () => settings.values.verbose && shell.err.say("phx-sim: all parts are loaded"),
    // they are loaded on first use
    () => {},
  );
  const ending = await Promise.race([signal, stopped]);
  loading.abort();
  watch?.close();
  const played = sim.isReplaying() ? await replayed(await client()) : null;
  await stop(sim, log, settings.values.quiet, shell);
  if (!settings.values.quiet) shell.err.say(...tapeLines(played, shell.errStyle));
  if (settings.values.json && played) shell.out.say(JSON.stringify({ tape: tapeFacts(played) }));
  shell.out.flush();
  shell.err.flush();
  return missedOf(played) > 0 ? 1 : ending;
}

const open = (settings: StartSettings, onStop: () => void, shell: Shell): Promise<SimServer> => {
  const { values } = settings;
  return openServer(
    values,
    {
      ...missUpstreamOf(settings),
      port: values.port,
      ...reachOf(values),
      ...(values.memory ? {} : { data: values.data }),
      onChange: values["on-change"],
      fresh: values.fresh,
      reportLinks: true,
      onStop,
    },
    shell,
  );
};

/** Without calling the control API, which would load it before the first request. */
function announce(sim: SimServer, { values, origins }: StartSettings, shell: Shell): void {
  const ready = readyLine(sim);
  shell.out.say(...(values.json ? [JSON.stringify(ready)] : banner(ready, values.scenario, shell.outStyle)));
  shell.out.flush();
  if (values.verbose) {
    const sources = Object.entries(origins).map(([name, { where }]) => `${name} from ${clean(where)}`);
    shell.err.say(`phx-sim: ${sources.join(", ")}`);
  }
}

/** Reports nothing on events from before the first request. */
function watchLint(sim: SimServer, client: () => Promise<Sim>, shell: Shell): Pick<LintWatch, "close"> {
  let watch: LintWatch | undefined;
  const lint: Pick<Sim, "lint"> = { lint: async (query) => (await client()).lint(query) };
  sim.onRequest(({ since }) => {
    watch ??= createLintWatch(lint, { say: shell.err.say, style: shell.errStyle, since });
    watch.note();
  });
  return { close: () => watch?.close() };
}

/** The commands that open an address in the user's browser; elsewhere xdg-open. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** The browser runs on this machine: it gets the address that the sim listens on, with the token. */
async function showInspector({ url, controlToken }: SimServer, shell: Shell): Promise<void> {
  const { spawn } = await import("node:child_process");
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const page = `${url}/__sim/${controlToken === null ? "" : `#t=${controlToken}`}`;
  spawn(program, [...args, page], { stdio: "ignore", detached: true })
    .on("error", () => shell.err.say("phx-sim: no browser could be opened"))
    .unref();
}

/** Leaves time for the process to end within two seconds of the signal. */
const closeMs = 1500;

async function stop(sim: SimServer, log: RequestLog, quiet: boolean, shell: Shell): Promise<void> {
  const inTime = await closesWithin(sim, closeMs);
  await log.flush();
  if (!inTime) shell.err.say("phx-sim: some connections did not close in time");
  if (!quiet) shell.err.say(`phx-sim: stopped; ${log.total()}`);
  shell.err.flush();
}
