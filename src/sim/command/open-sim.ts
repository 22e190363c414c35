import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { builtFile } from "../../kernel/base/built-file.ts";
import { clean, cleanLines } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure, type FailureKind } from "../../kernel/command/failure.ts";
import { portHolder } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import type { LineRules } from "../../state/journal/commands/request-lines.ts";
import type { Sim } from "../types.ts";
import { type SimOptions, type SimServer, StartError } from "../types.ts";
import { createRequestLog, type RequestLog } from "./request-log.ts";

export const reachOptions = {
  host: { kind: "host", describe: "Address to listen on", configurable: true, default: "127.0.0.1" },
  token: {
    kind: "control token",
    describe:
      "Token that the control API requires, 16 characters or more; generated where the sim is open to the network",
    configurable: true,
  },
  "public-url": {
    kind: "public url",
    describe: "Address at which others reach the sim, e.g. http://sim:7490: printed, and used in links",
    configurable: true,
  },
} as const;

export const upstreamOptions = {
  upstream: { describe: "The real service: us, eu, or the address of a self-hosted one", configurable: true },
  offline: {
    kind: "switch",
    describe: "Contact no upstream, except on this machine: report an error instead; on if CI is set",
    configurable: true,
  },
  "upstream-ca": {
    kind: "file",
    describe: "Certificate authority (PEM) to trust in addition to the usual ones",
    configurable: true,
  },
} as const;

export const simOptions = {
  scenario: {
    kind: "scenario",
    describe: "Scenario to serve: a file, or a shipped one's name; changes since the last start are merged",
    configurable: true,
    default: "default",
  },
  dialect: {
    describe:
      "Which to follow where the documentation and the live service differ (default: the scenario's, else documented)",
    configurable: true,
    choices: ["documented", "production"],
  },
  "adopt-tokens": { kind: "switch", describe: "Create a project for each unknown phc_ key", configurable: true },
  "rate-limits": { kind: "switch", describe: "Apply the service's rate limits to personal keys", configurable: true },
  "query-timeout": {
    kind: "duration",
    describe: "Time that one query may compute, from 1ms to 10m, e.g. 30s (default: 10s)",
    configurable: true,
  },
  geoip: {
    kind: "file",
    describe: "City database in MaxMind's format (.mmdb), to derive $geoip_ properties from addresses",
    configurable: true,
  },
  clock: {
    describe: "The sim's time at the start, from which it runs on: ISO 8601, or real (default: the scenario's)",
    configurable: true,
  },
  keep: {
    describe: "Traffic to keep: a size (2GB), an age (7d), or both (2GB,7d); older requests are deleted",
    configurable: true,
  },
  strict: { kind: "switch", describe: "Respond with 501 on paths that are not emulated", configurable: true },
  tape: { describe: "Respond from this tape, except to events: tapes/NAME.tape.ndjson, or a path" },
  "on-miss": {
    describe: "What happens to requests that are not on the tape (default: fail)",
    choices: ["fail", "emulate", "upstream"],
  },
  ...upstreamOptions,
  timing: {
    describe: "How long recorded responses take: none, recorded, scale:0.5 of that, or max:2000 ms (default: none)",
  },
  "skip-status": {
    kind: "names",
    describe: "Skip recorded responses with these statuses, e.g. 429, and use the next one",
  },
  approximate: {
    kind: "switch",
    describe:
      "Give flags of another person, group or other properties where the tape has none of this one; they are marked",
  },
  "no-proxy": { kind: "switch", describe: "No forward proxy on the port", configurable: true },
  "proxy-others": {
    describe: "What the proxy does with other hosts than the service's (default: tunnel)",
    configurable: true,
    choices: ["tunnel", "refuse"],
  },
  "proxy-allow": {
    describe: "Host on this machine or a private network that the proxy may reach, e.g. localhost:3000",
    many: true,
  },
} as const;

type Values = Settings<typeof simOptions>["values"];

/** The upstream of these settings; `offline` is only set if the user set it. @throws Failure usage */
export function upstreamOf({ values, origins }: Settings<typeof upstreamOptions>): SimOptions {
  const ca = certificateIn(values["upstream-ca"]);
  return {
    ...(values.upstream !== undefined && { upstream: values.upstream }),
    ...(origins.offline.source !== "default" && { offline: values.offline }),
    ...(ca !== undefined && { upstreamCa: ca }),
  };
}

function certificateIn(file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure("usage", `--upstream-ca cannot be read: ${clean(reason)}`, error);
  }
}

/** The upstream for what a tape has no response for; none without `--on-miss upstream`. @throws Failure usage */
export function missUpstreamOf(settings: Settings<typeof simOptions>): SimOptions {
  const { values, origins } = settings;
  if (values["on-miss"] !== "upstream") {
    if (origins.upstream.source === "flag")
      throw new Failure("usage", "--upstream needs --on-miss upstream; `phx-sim record` records from it");
    return {};
  }
  if (values.tape === undefined) throw new Failure("usage", "--on-miss upstream needs a tape: --tape NAME");
  if (values.upstream === undefined)
    throw new Failure("usage", "--on-miss upstream needs --upstream: us, eu, or an address");
  return upstreamOf(settings);
}

const chosen = (values: Values): SimOptions => ({
  scenario: values.scenario,
  ...(values.dialect && { dialect: values.dialect }),
  adoptTokens: values["adopt-tokens"],
  rateLimits: values["rate-limits"],
  ...(values["query-timeout"] === undefined ? {} : { queryTimeout: values["query-timeout"] }),
  ...(values.geoip === undefined ? {} : { geoip: values.geoip }),
  ...(values.clock === undefined ? {} : { clock: values.clock }),
  ...(values.keep === undefined ? {} : { keep: values.keep }),
  strict: values.strict,
  ...(values.tape === undefined ? {} : { tape: values.tape }),
  ...(values["on-miss"] && { onMiss: values["on-miss"] }),
  ...(values.timing === undefined ? {} : { timing: values.timing }),
  ...(values.approximate && { approximate: true }),
  ...(values["skip-status"] && { skipStatus: statusesIn(values["skip-status"]) }),
  proxy: proxyOf(values),
});

function statusesIn(words: readonly string[]): number[] {
  const wrong = words.find((it) => !/^[2-5]\d\d$/.test(it));
  if (wrong === undefined) return words.map(Number);
  throw new Failure("usage", `--skip-status must be statuses such as 429, not ${JSON.stringify(wrong)}`);
}

const proxyOf = (values: Values): SimOptions["proxy"] =>
  !values["no-proxy"] && {
    allow: values["proxy-allow"],
    ...(values["proxy-others"] && { others: values["proxy-others"] }),
  };

export const reachOf = (values: Settings<typeof reachOptions>["values"]): SimOptions => ({
  host: values.host,
  ...(values.token === undefined ? {} : { token: values.token }),
  ...(values["public-url"] === undefined ? {} : { publicUrl: values["public-url"] }),
});

/** Starts a sim with these settings and `options` in this process, with its client. @throws Failure usage, start */
export async function openSim(values: Values, options: SimOptions, shell: Shell): Promise<Sim> {
  const sim = await openServer(values, options, shell);
  const { withClient } = await import("../start-sim.ts");
  return withClient(sim);
}

/** The same without a client. @throws Failure usage, start */
export async function openServer(values: Values, options: SimOptions, shell: Shell): Promise<SimServer> {
  const { runSim } = await import("../sim.ts");
  try {
    return await runSim({
      ...chosen(values),
      ...(shell.config?.redaction && { redaction: shell.config.redaction }),
      ...options,
      onNotice: (text) => shell.err.say(...cleanLines(`phx-sim: ${text}`, 4000)),
    });
  } catch (error) {
    throw error instanceof StartError ? await startFailure(error, options) : error;
  }
}

/** Loads what is needed later: then files that a build replaces, or a lack of file descriptors, do not matter. */
export async function loadRest(sim: Pick<SimServer, "onRequest">, signal: AbortSignal): Promise<void> {
  let lastRequest = performance.now();
  const latest = lastRequest + lateness.longest;
  const unsubscribe = sim.onRequest(() => {
    lastRequest = performance.now();
  });
  const isQuiet = () => performance.now() > Math.min(lastRequest + lateness.quiet, latest);
  const pause = async () => {
    do await delay(lateness.step, undefined, { ref: false, signal }).catch(() => {});
    while (!signal.aborted && !isQuiet());
  };
  const loader = pathToFileURL(builtFile("parts.js")).href;
  try {
    const parts = (await import(loader)) as PartLoader;
    await parts.loadRest(signal, pause);
  } finally {
    unsubscribe();
  }
}

interface PartLoader {
  loadRest(signal: AbortSignal, pause: () => Promise<void>): Promise<void>;
}

/** When the rest is loaded, ms: one part in a step, after a time without requests, or after the longest time. */
const lateness = { step: 40, quiet: 400, longest: 20_000 };

/** Why a sim with these options did not start, with the program that has its port. */
export async function startFailure(error: StartError, options: SimOptions): Promise<Failure> {
  const reason = error.code === "port_in_use" ? await portTaken(options) : `${error.message}; ${error.hint}`;
  return new Failure(failureKinds[error.code], cleanLines(reason, 2000).join("\n"), error);
}

const failureKinds: Readonly<Record<StartError["code"], FailureKind>> = {
  option: "usage",
  bad_host: "usage",
  clock: "usage",
  bad_port: "start",
  port_in_use: "start",
  data_folder: "start",
  scenario: "start",
  geoip: "start",
  proxy: "usage",
  tape: "start",
  upstream: "usage",
  offline: "network",
};

async function portTaken({ host = "127.0.0.1", port = 0 }: SimOptions): Promise<string> {
  const { holder, stop } = await portHolder(host, port);
  return `port ${port} is in use by ${holder}; ${stop}, or use --port 0 for any free port or --port N for another`;
}

/** Waits for the last requests, but not for a program in the background that continues to send. */
export const settles = (sim: Sim): Promise<void> => sim.settle({ idleMs: 100, timeoutMs: 1000 }).catch(() => {});

export function openRequestLog(
  sim: SimServer | Sim,
  verbosity: LineRules["verbosity"],
  { err, errStyle, config }: Shell,
): RequestLog {
  return createRequestLog(err, { verbosity, style: errStyle, projectKey: sim.apiKey }, config?.redaction);
}

export async function closesWithin(sim: Pick<Sim, "close">, ms: number): Promise<boolean> {
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
