import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isoOf } from "../../../kernel/base/clock.ts";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import { didYouMean } from "../../../kernel/base/nearest.ts";
import { counted } from "../../../kernel/base/text.ts";
import { durationText } from "../../../kernel/base/time-text.ts";
import { nameTest } from "../../../kernel/base/wildcard.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import type { CommandEnd, Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { createProgress } from "../../../kernel/command/progress.ts";
import { untilSignal } from "../../../kernel/command/signals.ts";
import type { Style } from "../../../kernel/command/style.ts";
import type { Exchange } from "../format/exchange.ts";
import { tapePlace } from "../format/place.ts";
import { readTape } from "../format/read.ts";
import { createExcluder, type ExcludedCounts, type Excluder, exclusionExpected } from "../send/exclude.ts";
import { type GivenKeys, type SendPlan, type SendSkipReason, skipReasons } from "../send/plan.ts";
import { type Rate, readRate, runSend, type SendTally } from "../send/run.ts";
import { type Survey, surveyTape } from "../send/survey.ts";
import { leaveFor, readTarget, type SendTarget } from "../send/target.ts";
import type { TapeProblem } from "../shapes.ts";
import { createTransport } from "../upstream/transport.ts";
import { createAgents } from "../upstream/upstreams.ts";
import type { SendSettings } from "./options.ts";
import { checkKeys, fillingText, keysOf, needsOf } from "./send-needs.ts";
import { jsonLine, tapeProblemLine } from "./tape-show.ts";
import { onFile } from "./tape-trouble.ts";
import { damageText } from "./verify-report.ts";

type Values = SendSettings["values"];

interface SendFacts {
  file: string;
  target: SendTarget;
  keys: GivenKeys;
  /** What to add so that it is sent; undefined: nothing is missing. */
  advice: string | undefined;
}

type Surveyed = Survey & { excluded: ExcludedCounts; damaged: number };

interface Sent {
  tally: SendTally;
  ms: number;
  ending: CommandEnd;
}

const most = 20;

function countLines(counts: ReadonlyMap<string, number>, style: Style): string[] {
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const more = sorted.length > most ? [`  … and ${sorted.length - most} more`] : [];
  return [...sorted.slice(0, most).map(([name, it]) => `  ${style.bold(`${it}`)} ${clean(name, 120)}`), ...more];
}

const skipTexts: Readonly<Record<SendSkipReason, string>> = {
  no_body: "its body is not on the tape",
  cut_off: "it was cut off by its client",
  tunnel: "it opens a tunnel or a websocket",
  method: "its method is none",
  encoding: "its body cannot be encoded here as it was received",
};

const excludedText = (text: string, times: number): string => {
  if (text.startsWith("path:")) return `a value of ${counted(times, "request")}`;
  return counted(times, text.startsWith("event:") ? "event" : "request");
};

const skipLines = (skipped: Survey["skipped"], excluded: ExcludedCounts): string[] => [
  ...[...excluded].map(
    ([text, times]) => `phx-sim: --exclude ${clean(text, 120)} left out ${excludedText(text, times)}`,
  ),
  ...skipReasons.flatMap((reason) => {
    const times = skipped[reason];
    return times === undefined ? [] : `phx-sim: ${counted(times, "request")} left out: ${skipTexts[reason]}`;
  }),
];

const isoOrNull = (time: number | undefined): string | null => (time === undefined ? null : isoOf(time));

const targetText = ({ target }: SendFacts): string => target.url.href.replace(/\/$/, "");

const commonReport = (request: SendFacts, survey: Surveyed) => ({
  tape: request.file,
  target: targetText(request),
  requests: survey.requests,
  routes: Object.fromEntries(survey.routes),
  hosts: Object.fromEntries(survey.hosts),
  first: isoOrNull(survey.first),
  last: isoOrNull(survey.last),
  events: survey.events,
  skipped: survey.skipped,
  excluded: Object.fromEntries(survey.excluded),
  placeholders: needsOf(survey, request.keys).map(({ first: _, ...need }) => ({
    ...need,
    given: need.filling === "given",
  })),
});

function dryReport(
  request: SendFacts,
  survey: Surveyed,
  { shiftMs, newUuids }: { shiftMs: number; newUuids: boolean },
  style: Style,
) {
  const { requests, routes, hosts, first, last, events } = survey;
  const moved = shiftMs === 0 ? "keep their times" : `move by ${durationText(shiftMs)}`;
  const needs = needsOf(survey, request.keys).slice(0, most);
  const what = `${style.bold(`${requests}`)} request${requests === 1 ? "" : "s"} of ${clean(request.file, 1000)}`;
  return {
    report: { ok: true, dry_run: true, ...commonReport(request, survey), shift_ms: shiftMs },
    lines: [
      `${what} would go to ${clean(targetText(request), 300)}; nothing was sent`,
      ...countLines(routes, style),
      `recorded from ${isoOrNull(first) ?? "never"} to ${isoOrNull(last) ?? "never"}, for`,
      ...countLines(hosts, style),
      `${counted(events, "event")} ${moved} and ${newUuids ? "get new uuids" : "keep their uuids"}; sent_at becomes now`,
      ...needs.map(
        (it) => `  ${clean(it.placeholder, 100)} in ${counted(it.requests, "request")}: ${fillingText(it, style)}`,
      ),
      ...(request.advice === undefined ? [] : [clean(request.advice, 1000)]),
    ],
  };
}

function sentReport(request: SendFacts, survey: Surveyed, { tally, ms }: Sent, style: Style) {
  const { answered, failed, differing, examples, skipped, byStatus } = tally;
  const sent = answered + failed;
  const statuses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${times} × ${status < 400 ? style.good(`${status}`) : style.bad(`${status}`)}`);
  const failures = failed > 0 ? [style.bad(`${failed} without a response`)] : [];
  const rate = ms > 0 ? `, ${Math.round((1000 * sent) / ms)} a second` : "";
  return {
    report: {
      dry_run: false,
      ...commonReport(request, survey),
      skipped,
      sent,
      by_status: Object.fromEntries(byStatus),
      failed,
      failure: tally.failure ?? null,
      differing,
      examples,
      ms: Math.round(ms),
    },
    lines: [
      [`${counted(sent, "request")} sent in ${Math.round(ms)} ms${rate}`, ...statuses, ...failures].join(", "),
      ...examples.map(
        ({ i, method, url, recorded, got }) =>
          `  #${i} ${clean(method, 32)} ${clean(url, 160)}: ${recorded} on the tape, ${style.bad(`${got}`)} now`,
      ),
      ...(differing > examples.length ? [`  … and ${differing - examples.length} more of another status class`] : []),
    ],
  };
}

interface SendRequest extends SendFacts {
  isDry: boolean;
  only: readonly string[];
  excluder: Excluder;
  rate: Rate | undefined;
  concurrency: number;
}

/** Reads an option's value; a TypeError becomes a usage failure that names the option. */
function checked<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure("usage", `${name}: ${clean(error.message, 300)}`, error);
  }
}

function rateOf({ rate }: Values): Rate | undefined {
  const found = rate === undefined ? undefined : readRate(rate);
  if (rate === undefined || found) return found;
  throw new Failure("usage", `--rate must be requests a second (10) or a pace (2x), not "${clean(rate)}"`);
}

const mostConcurrency = 64;

/** Checks the options; nothing is read or sent yet. @throws Failure usage */
function requestOf(values: Values, shell: Shell): SendRequest {
  const { to, concurrency, yes, "i-know-this-is-production": knows } = values;
  if (to === undefined) throw new Failure("usage", "send needs --to, e.g. --to http://127.0.0.1:7490");
  if (concurrency < 1 || concurrency > mostConcurrency)
    throw new Failure("usage", `--concurrency must be from 1 to ${mostConcurrency}, not ${concurrency}`);
  const target = checked("--to", () => readTarget(to));
  const leave = checked("--allow-host", () =>
    leaveFor(target, { yes, production: knows, hosts: values["allow-host"] }),
  );
  if (leave.may === "refused") throw new Failure("usage", clean(leave.why, 600));
  const more = target.kind === "production" && !knows ? " --i-know-this-is-production" : "";
  return {
    file: tapePlace(values.tape, shell.cwd),
    target,
    isDry: values["dry-run"] || leave.may === "dry",
    advice: leave.may === "dry" ? `to send it, add --yes --allow-host ${target.url.hostname}${more}` : undefined,
    only: values.only,
    excluder: checked("--exclude", () => createExcluder(values.exclude)),
    keys: keysOf(values, shell.env),
    rate: rateOf(values),
    concurrency,
  };
}

async function* wanted(
  { file, only, excluder }: SendRequest,
  onProblem: (problem: TapeProblem) => void = () => {},
): AsyncGenerator<Exchange> {
  const tests = only.map(nameTest);
  for await (const exchange of readTape(file, { bodies: "whole", onProblem })) {
    if (tests.length > 0 && !tests.some((it) => it(exchange.route))) continue;
    const left = excluder.apply(exchange);
    if (left) yield left;
  }
}

const mostProblems = 5;

/** @throws Failure usage for an exclusion that leaves nothing out: what it was meant for would be sent */
async function surveyed(request: SendRequest, shell: Shell): Promise<Surveyed> {
  let damaged = 0;
  const survey = await surveyTape(
    wanted(request, (problem) => {
      if (++damaged <= mostProblems) shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
    }),
  );
  if (damaged > mostProblems) shell.err.say(`phx-sim: … and ${damaged - mostProblems} more lines`);
  const excluded = new Map(request.excluder.counts());
  const idle = [...excluded].find(([, times]) => times === 0)?.[0];
  if (idle === undefined) return { ...survey, excluded, damaged };
  const text = `--exclude ${idle} fits nothing on the tape; give ${exclusionExpected}`;
  throw new Failure("usage", clean(text, 600));
}

function planOf(request: SendRequest, values: Values, survey: Surveyed): SendPlan {
  const run = randomUUID();
  const last = survey.lastEvent ?? survey.last;
  const isMoved = values.timestamps === "shift" && last !== undefined;
  return {
    target: request.target.url,
    keys: request.keys,
    shiftMs: isMoved ? Date.now() - last : 0,
    // the same event twice on a tape, a client's second try, stays the same event
    ...(values.uuids === "new" && { newUuid: (uuid: string) => uuidV5(run, uuid) }),
  };
}

/** What is in flight may end within this time after a signal, ms. */
const graceMs = 1000;

async function sendAll(request: SendRequest, values: Values, survey: Surveyed, shell: Shell): Promise<Sent> {
  const transport = createTransport(createAgents(undefined, request.concurrency));
  const [stop, cut] = [new AbortController(), new AbortController()];
  let ending: CommandEnd = "ok";
  void untilSignal(process, shell.quit).then(async (signal) => {
    ending = signal;
    stop.abort();
    await sleep(graceMs, undefined, { ref: false });
    cut.abort();
    transport.close();
  });
  const progress = createProgress(process.stderr, shell.env);
  const begin = performance.now();
  try {
    const tally = await runSend(wanted(request), {
      plan: planOf(request, values, survey),
      concurrency: request.concurrency,
      rate: request.rate,
      kinship: survey.kinship,
      transport,
      stop: stop.signal,
      cut: cut.signal,
      onStep: ({ answered, failed }) =>
        progress.show(`send: ${answered + failed} of ${survey.requests}${failed > 0 ? `, ${failed} failed` : ""}`),
    });
    return { tally, ms: performance.now() - begin, ending };
  } finally {
    progress.end();
    transport.close();
  }
}

function failureOf(tally: SendTally, ending: CommandEnd, values: Values, target: string): Failure | undefined {
  const { failed, failure = "", unreachable, answered, differing } = tally;
  const network = (text: string) => new Failure("network", clean(`${text}: ${failure}`, 600));
  if (unreachable) return network(`${target} ${answered === 0 ? "cannot be reached" : "does not respond any more"}`);
  if (failed > 0) return network(`${counted(failed, "request")} got no response from ${target}`);
  if (ending !== "ok" || differing === 0 || values["ignore-status"]) return undefined;
  return new Failure(
    "failed",
    `${counted(differing, "response")} of another status class than on the tape; --ignore-status passes over it`,
  );
}

/** A name that no route has is a mistake: nothing would be sent for it. @throws Failure usage */
async function checkRoutes(names: readonly string[], tape: string): Promise<void> {
  const routes = new Set<string>();
  for await (const { route } of readTape(tape)) routes.add(route);
  const unknown = names.find((name) => ![...routes].some(nameTest(name)));
  if (unknown === undefined) return;
  const known = [...routes].sort();
  const list = known.length === 0 ? "the tape has no exchanges" : `it has ${known.slice(0, 12).join(", ")}`;
  const hint = clean(`${didYouMean(unknown, known)}; ${list}${known.length > 12 ? ", …" : ""}`, 900);
  throw new Failure("usage", `no exchange of the tape has the route "${clean(unknown)}"${hint}`);
}

/** Sends a tape's requests again, or lists what would be sent. @throws Failure */
export async function sendTape(values: Values, shell: Shell): Promise<CommandEnd> {
  const request = requestOf(values, shell);
  const { file, only } = request;
  if (only.length > 0) await onFile(file, () => checkRoutes(only, file));
  const survey = await onFile(file, () => surveyed(request, shell));
  if (request.isDry || survey.requests === 0) shell.err.say(...skipLines(survey.skipped, survey.excluded));
  if (survey.requests === 0) throw new Failure("failed", `${clean(file)} has nothing to send`);
  if (request.isDry) {
    const dry = { shiftMs: planOf(request, values, survey).shiftMs, newUuids: values.uuids === "new" };
    const { report, lines } = dryReport(request, survey, dry, shell.outStyle);
    shell.out.say(...(values.json ? [jsonLine(report)] : lines));
    return "ok";
  }
  checkKeys(survey, request.keys);
  const sent = await onFile(file, () => sendAll(request, values, survey, shell));
  const failure = failureOf(sent.tally, sent.ending, values, request.target.url.href.replace(/\/$/, ""));
  const { report, lines } = sentReport(request, survey, sent, shell.outStyle);
  if (values.json) shell.out.say(jsonLine({ ok: !failure && survey.damaged === 0 && sent.ending === "ok", ...report }));
  else {
    shell.err.say(...skipLines(sent.tally.skipped, survey.excluded));
    shell.out.say(...lines);
  }
  if (failure && sent.ending === "ok") throw failure;
  if (survey.damaged > 0 && sent.ending === "ok")
    throw new Failure("failed", `${damageText(survey.damaged)} (${clean(file)})`);
  return sent.ending;
}
