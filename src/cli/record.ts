import { counted } from "../kernel/base/text.ts";
import { readDuration } from "../kernel/base/time-text.ts";
import { clean } from "../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../kernel/command/command.ts";
import { Failure } from "../kernel/command/failure.ts";
import { sizeText } from "../kernel/command/progress.ts";
import type { Settings } from "../kernel/command/settings.ts";
import { stopRequest, untilSignal } from "../kernel/command/signals.ts";
import type { Style } from "../kernel/command/style.ts";
import type { RecordingFacts } from "../lab/tapes/client.ts";
import { choice, redact, text, texts, toggle } from "../lab/tapes/commands/options.ts";
import { missedOf, replayed, tapeLines } from "../lab/tapes/commands/tape-summary.ts";
import { banner, readyLine, recordBanner, recordReadyLine } from "../sim/command/banner.ts";
import {
  closesWithin,
  loadRest,
  openRequestLog,
  openSim,
  reachOf,
  reachOptions,
  settles,
  simOptions,
  upstreamOf,
  upstreamOptions,
} from "../sim/command/open-sim.ts";
import type { RequestLog } from "../sim/command/request-log.ts";
import type { Sim, SimOptions } from "../sim/types.ts";
import type { RequestSummary } from "../state/journal/request-summary.ts";
import {
  announceVariables,
  checkReroute,
  childVariables,
  isRerouting,
  rerouteOptions,
  rerouteVariables,
} from "../tools/exec/child-environment.ts";

const worldOptions = {
  scenario: simOptions.scenario,
  dialect: simOptions.dialect,
  "rate-limits": simOptions["rate-limits"],
  "query-timeout": simOptions["query-timeout"],
  geoip: simOptions.geoip,
  keep: simOptions.keep,
  clock: simOptions.clock,
  "no-proxy": simOptions["no-proxy"],
  "proxy-others": simOptions["proxy-others"],
  "proxy-allow": simOptions["proxy-allow"],
} as const;

/** The other options of a sim: a recording adopts the keys it sees, and answers from no tape. */
const fixed = {
  "on-miss": undefined,
  timing: undefined,
  "skip-status": undefined,
  approximate: false,
  tape: undefined,
  strict: false,
  "adopt-tokens": true,
};

const options = {
  ...upstreamOptions,
  tape: text("Tape to write: tapes/NAME.tape.ndjson, or a path (default: named after the time)"),
  mode: choice(
    "record: all goes to the upstream; once: replay the tape if it exists; new: replay it and record what is missing; replay: replay only; spy: pass on what the emulator does not know",
    ["record", "once", "new", "replay", "spy"],
    "record",
  ),
  "max-age": text("With --mode once or new: record a tape again that is older than this (7d, 12h)"),
  include: texts("Tape only paths like this: '/flags/**'"),
  exclude: texts("Do not tape paths like this: '*.js'"),
  redact: { describe: redact.describe, configurable: true, default: "default", choices: ["default", "pii"] },
  raw: toggle("Redact nothing: tape, log and data folder hold everything as it was sent"),
  "allow-writes": toggle("With --mode spy: also pass on requests that change something"),
  port: {
    kind: "port",
    describe: "Port to listen on; 0 takes any free one, which is the default with a command",
    configurable: true,
    default: "7490",
  },
  ...reachOptions,
  data: { kind: "folder", describe: "Folder for what arrives (default: in memory)" },
  ...worldOptions,
  ...rerouteOptions,
  json: toggle("Print address, upstream and tape as one JSON line"),
  quiet: { kind: "switch", describe: "No request log and no summary", configurable: true },
  command: {
    kind: "word",
    describe: "A command to run with its host variables set, and its arguments",
    many: true,
    optional: true,
    rest: true,
  },
} as const;

type RecordSettings = Settings<typeof options>;

export const record = command({
  name: "record",
  describe: "Pass everything on to the real service, and record it on a tape without its secrets",
  options,
  examples: [
    ["phx-sim record --upstream us --tape checkout", "point the app's host at http://127.0.0.1:7490"],
    ["phx-sim record --upstream eu --tape checkout -- npm test", "for as long as a command runs"],
    [
      "phx-sim record --upstream us --tape checkout --mode once --max-age 7d -- npm test",
      "record the first time, then replay; again after a week",
    ],
  ],
  run,
});

async function run(settings: RecordSettings, shell: Shell): Promise<CommandEnd> {
  const { values } = settings;
  await checkReroute(values);
  if (values.command.length > 0) return runCommand(settings, shell);
  if (isRerouting(values)) throw new Failure("usage", "--reroute needs a command: phx-sim record … -- COMMAND");
  return serve(settings, shell);
}

/** `recording-20260131-235959`: no two recordings share a tape by accident. */
const nameByTime = (): string =>
  `recording-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}`;

type RecordMode = RecordSettings["values"]["mode"];

/** Modes that may replay: they need a tape, and not always an upstream. */
const replaying: ReadonlySet<RecordMode> = new Set(["once", "new", "replay"]);
const withoutUpstream: ReadonlySet<RecordMode> = new Set(["once", "replay"]);

/** @throws Failure usage */
function checkMode(values: RecordSettings["values"]): void {
  const { tape, upstream, mode, "max-age": maxAge } = values;
  if (upstream === undefined && !withoutUpstream.has(mode))
    throw new Failure("usage", "record needs --upstream: us, eu, or an address");
  if (tape === undefined && replaying.has(mode))
    throw new Failure("usage", `--mode ${mode} needs --tape: the tape to replay`);
  if (maxAge !== undefined && mode !== "once" && mode !== "new")
    throw new Failure("usage", "--max-age needs --mode once or --mode new");
  if (maxAge !== undefined && !((readDuration(maxAge) ?? 0) > 0))
    throw new Failure("usage", `--max-age must be an age such as 7d or 12h, not ${JSON.stringify(maxAge)}`);
}

function recordingOptions(settings: RecordSettings): SimOptions {
  const { values, origins } = settings;
  checkMode(values);
  if (values.raw && origins.redact.source === "flag")
    throw new Failure("usage", "--raw redacts nothing: give --redact or --raw, not both");
  const { upstream, ...way } = upstreamOf(settings);
  const { mode } = values;
  const tape = values.tape ?? (mode === "record" ? nameByTime() : undefined);
  return {
    ...way,
    // A tape alone never asks it.
    ...(upstream !== undefined && mode !== "replay" && { upstream }),
    ...(values["max-age"] !== undefined && { maxAge: values["max-age"] }),
    mode,
    redact: values.redact,
    raw: values.raw,
    allowWrites: values["allow-writes"],
    ...reachOf(values),
    ...(tape !== undefined && { tape }),
    ...(values.include.length > 0 && { include: values.include }),
    ...(values.exclude.length > 0 && { exclude: values.exclude }),
    ...(values.data !== undefined && { data: values.data }),
  };
}

function open(settings: RecordSettings, port: number, shell: Shell, onStop?: () => void): Promise<Sim> {
  const options = { ...recordingOptions(settings), port, ...(onStop && { onStop }) };
  return openSim({ ...settings.values, ...fixed }, options, shell);
}

const replayTexts: Readonly<Partial<Record<RecordMode, string>>> = {
  once: "the tape exists and answers; nothing is recorded",
  new: "the tape answers; what it has no response for goes to the upstream and is recorded",
  replay: "the tape answers; nothing is recorded",
};

function logOf(sim: Sim, quiet: boolean, shell: Shell): RequestLog {
  const log = openRequestLog(sim, quiet ? "quiet" : "normal", shell);
  sim.onRequest((request: RequestSummary) => log.add(request));
  return log;
}

/** True with `spy`: the emulator answers what it knows, so its keys are valid. */
const hasOwnKeys = (sim: Sim): boolean => sim.recorded().mode === "spy";

function startLines(sim: Sim, { json, scenario }: RecordSettings["values"], { outStyle }: Shell): string[] {
  if (json) return [JSON.stringify(hasOwnKeys(sim) ? readyLine(sim) : recordReadyLine(sim))];
  return hasOwnKeys(sim) ? banner(readyLine(sim), scenario, outStyle) : recordBanner(sim, outStyle);
}

const rawWarning =
  "--raw: nothing is redacted; the tape, the log and the data folder hold secrets and personal data as they were sent";

function reportTape(sim: Sim, mode: RecordMode, shell: Shell): void {
  if (sim.isReplaying()) {
    shell.err.say(`phx-sim: ${mode}: ${replayTexts[mode] ?? "the tape answers"}`);
    return;
  }
  const { upstream, tape, mode: recording, redaction } = sim.recorded();
  if (redaction === "none") shell.err.say(`phx-sim: ${shell.errStyle.bad(rawWarning)}`);
  const to = tape === null ? "" : `, taped on ${clean(tape, 1000)}`;
  shell.err.say(`phx-sim: ${recording}: requests go to ${clean(upstream ?? "", 300)}${to}`);
}

async function serve(settings: RecordSettings, shell: Shell): Promise<CommandEnd> {
  const { values } = settings;
  const signal = untilSignal(process, shell.quit);
  const { onStop, stopped } = stopRequest();
  const sim = await open(settings, values.port, shell, onStop);
  const log = logOf(sim, values.quiet, shell);
  shell.out.say(...startLines(sim, values, shell));
  shell.out.flush();
  if (!values.quiet) reportTape(sim, values.mode, shell);
  const loading = new AbortController();
  // what cannot be loaded now is loaded on first use
  loadRest(sim, loading.signal).catch(() => {});
  const ending = await Promise.race([signal, stopped]);
  loading.abort();
  await conclude(sim, log, values.quiet, shell);
  return ending;
}

/** Leaves time for the process to end within two seconds of a signal. */
const closeMs = 1800;

/** Closes the sim and reports. @throws Failure if the tape is incomplete or had no answer, or no request was answered */
async function conclude(sim: Sim, log: RequestLog, quiet: boolean, shell: Shell): Promise<void> {
  const isReplaying = sim.isReplaying();
  const played = await replayed(sim);
  const inTime = await closesWithin(sim, closeMs);
  await log.flush();
  if (!inTime) shell.err.say("phx-sim: some connections did not close in time");
  if (isReplaying) {
    if (!quiet) shell.err.say(...tapeLines(played, shell.errStyle));
    shell.err.flush();
    const missed = missedOf(played);
    if (missed > 0) throw new Failure("failed", `the tape had no response for ${counted(missed, "request")}`);
    return;
  }
  const facts = sim.recorded();
  if (!quiet) shell.err.say(...recordingLines(facts, shell.errStyle));
  shell.err.flush();
  const failure = recordingEnd(facts);
  if (failure) throw failure;
}

/** The app keeps its own keys: it only gets the address for its requests. */
function hostVariables(sim: Sim): Record<string, string> {
  const access = { ...readyLine(sim), url: sim.url };
  return Object.fromEntries(Object.entries(childVariables(access)).filter(([, value]) => value === access.url));
}

async function runCommand(settings: RecordSettings, shell: Shell): Promise<CommandEnd> {
  const { values, origins } = settings;
  const { hasTerminal, relaySignals, runChild } = await import("../tools/exec/child-process.ts");
  const relay = relaySignals(process, hasTerminal());
  const sim = await open(settings, origins.port.source === "default" ? 0 : values.port, shell);
  const log = logOf(sim, values.quiet, shell);
  if (relay.first) {
    await closesWithin(sim, closeMs);
    return relay.first;
  }
  if (!values.quiet) reportTape(sim, values.mode, shell);
  const variables = hostVariables(sim);
  if (!values.quiet) announceVariables(sim, values.command, variables, shell);
  const routes = await rerouteVariables(sim, values, shell).catch(async (error: unknown) => {
    await closesWithin(sim, closeMs);
    throw error;
  });
  shell.err.flush();
  const end = await runChild(values.command, { ...shell.env, ...variables, ...routes }, relay);
  if (end.problem !== undefined) shell.err.say(`phx-sim: ${end.problem}`);
  await settles(sim);
  const code = end.code;
  await conclude(sim, log, values.quiet, shell).catch((error: unknown) => {
    // The exit code of the command comes first.
    if (code === 0) throw error;
    shell.err.say(`phx-sim: ${error instanceof Error ? error.message : String(error)}`);
  });
  return code;
}

const silence = "  nothing reached it: does the app send to this address, with a project key of the upstream?";

function recordingLines(facts: RecordingFacts, style: Style): string[] {
  const { passed, aborted, failed, bytes_sent, bytes_received, tape, taped, redacted } = facts;
  const mishaps = [
    ...(aborted > 0 ? [`${aborted} cut off`] : []),
    ...(failed > 0 ? [style.bad(`${failed} without a response`)] : []),
  ];
  const sizes = `${sizeText(bytes_sent)} out, ${sizeText(bytes_received)} back`;
  const passing = [`${counted(passed, "request")} passed on`, ...mishaps, sizes].join(", ");
  const taping =
    tape === null
      ? []
      : [`phx-sim: ${counted(taped, "exchange")} on ${clean(tape, 1000)}, ${counted(redacted, "secret")} redacted`];
  return [
    `phx-sim: ${passing}`,
    ...(passed === 0 && facts.mode !== "spy" ? [silence] : []),
    ...taping,
    ...(facts.trouble === null ? [] : [`phx-sim: ${style.bad(notWhole)}: ${clean(facts.trouble)}`]),
  ];
}

const notWhole = "the tape is not whole";

/** Why the command fails although it did what it could. */
function recordingEnd(facts: RecordingFacts): Failure | undefined {
  const { trouble, failed, passed, last_failure } = facts;
  if (failed > 0 && failed === passed)
    return new Failure("network", `no request got a response: ${clean(last_failure ?? "")}`);
  if (trouble !== null) return new Failure("failed", `${notWhole}: ${clean(trouble)}`);
  return undefined;
}
