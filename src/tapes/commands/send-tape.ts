import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../../base/counted.ts";
import { uuidV5 } from "../../base/ids.ts";
import { didYouMean } from "../../base/nearest.ts";
import { clean } from "../../cli/clean-text.ts";
import type { Ending, Shell } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import { createProgress } from "../../cli/progress.ts";
import { untilSignal } from "../../cli/signals.ts";
import type { Exchange } from "../format/exchange.ts";
import { readHeader } from "../format/header.ts";
import { readTape } from "../format/read.ts";
import { namePattern } from "../format/routes.ts";
import { openTapeWriter, type TapeWriter } from "../format/write.ts";
import { createRedactor } from "../redact/redactor.ts";
import { type ExcludedCounts, exclusionExpected } from "../send/exclude.ts";
import type { SendPlan } from "../send/plan.ts";
import { runSend, type SendTally } from "../send/run.ts";
import { type Survey, surveyTape } from "../send/survey.ts";
import { createTransport } from "../send/transport.ts";
import type { TapeProblem } from "../shapes.ts";
import type { SendSettings } from "./send.ts";
import {
  dryLines,
  isMissing,
  missingText,
  type Need,
  needsOf,
  requestOf,
  type SendRequest,
  skipLines,
  tallyLines,
} from "./send-request.ts";
import { jsonLine, tapeProblemLine } from "./tape-show.ts";
import { onFile } from "./tape-trouble.ts";

type Values = SendSettings["values"];

/** The exchanges that are to be sent. */
async function* wanted(
  { file, only, excluder }: SendRequest,
  onProblem: (problem: TapeProblem) => void = () => {},
): AsyncGenerator<Exchange> {
  const patterns = only.map(namePattern);
  for await (const exchange of readTape(file, { bodies: "whole", onProblem })) {
    if (patterns.length > 0 && !patterns.some((it) => it.test(exchange.route))) continue;
    const left = excluder.apply(exchange);
    if (left) yield left;
  }
}

/** What is to be sent, and what `--exclude` left out of it. */
type Surveyed = Survey & { excluded: ExcludedCounts };

/** An exclusion that leaves nothing out is a slip: what it was meant for would be sent. @throws Failure usage */
function checkExclusions(excluded: ExcludedCounts): void {
  const idle = [...excluded].find(([, times]) => times === 0)?.[0];
  if (idle !== undefined)
    throw new Failure(
      "usage",
      clean(`--exclude ${idle} fits nothing on the tape; give ${exclusionExpected}`, 600),
    );
}

/** Most damaged lines that are reported. */
const mostProblems = 5;

async function surveyed(request: SendRequest, shell: Shell): Promise<Surveyed> {
  let damaged = 0;
  const onProblem = (problem: TapeProblem) => {
    if (++damaged <= mostProblems) shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  };
  const survey = await surveyTape(wanted(request, onProblem));
  if (damaged > mostProblems) shell.err.say(`phx-sim: … and ${damaged - mostProblems} more lines`);
  const excluded = new Map(request.excluder.counts());
  checkExclusions(excluded);
  return { ...survey, excluded };
}

function planOf(request: SendRequest, values: Values, survey: Survey): SendPlan {
  const run = randomUUID();
  const last = survey.lastEvent ?? survey.last;
  const isMoved = values.timestamps === "shift" && last !== undefined;
  return {
    target: request.target.url,
    keys: request.keys,
    shiftMs: isMoved ? Date.now() - last : 0,
    // The same event twice on a tape, a client's second try, stays the same event.
    ...(values.uuids === "new" && { newUuid: (uuid: string) => uuidV5(run, uuid) }),
  };
}

const shownTarget = ({ url }: SendRequest["target"]): string => url.href.replace(/\/$/, "");

function adviceFor({ target, lacksYes }: SendRequest, values: Values): string | undefined {
  if (!lacksYes) return undefined;
  const host = target.url.hostname;
  const knows = target.kind === "production" && !values["i-know-this-is-production"];
  return `to send it, add --yes --allow-host ${host}${knows ? " --i-know-this-is-production" : ""}`;
}

const iso = (time: number | undefined): string | null =>
  time === undefined ? null : new Date(time).toISOString();

/** A count by name, as JSON: names are a stranger's. */
const counts = (map: ReadonlyMap<string | number, number>) => Object.fromEntries(map);

const reportOf = (request: SendRequest, survey: Surveyed, needs: readonly Need[]) => ({
  tape: request.file,
  target: shownTarget(request.target),
  requests: survey.requests,
  routes: counts(survey.routes),
  hosts: counts(survey.hosts),
  first: iso(survey.first),
  last: iso(survey.last),
  events: survey.events,
  skipped: survey.skipped,
  excluded: counts(survey.excluded),
  placeholders: needs.map((need) => ({
    placeholder: need.placeholder,
    requests: need.requests,
    option: need.option,
    variable: need.variable,
    path: need.path,
    filling: need.filling,
    given: need.filling === "given",
  })),
});

function reportDry(request: SendRequest, values: Values, survey: Surveyed, shell: Shell): "ok" {
  const needs = needsOf(survey, request.keys);
  const { shiftMs } = planOf(request, values, survey);
  const report = { ok: true, dry_run: true, ...reportOf(request, survey, needs), shift_ms: shiftMs };
  const lines = () =>
    dryLines(
      {
        tape: request.file,
        target: shownTarget(request.target),
        survey,
        needs,
        shiftMs,
        newUuids: values.uuids === "new",
        advice: adviceFor(request, values),
      },
      shell.outStyle,
    );
  shell.out.say(...(values.json ? [jsonLine(report)] : lines()));
  return "ok";
}

async function openResult({ file, result }: SendRequest, target: URL): Promise<TapeWriter | undefined> {
  if (result === undefined) return undefined;
  const { redaction, rules } = await readHeader(file);
  const profile = redaction === "pii" ? "pii" : "default";
  return onFile(result, async () =>
    openTapeWriter(result, {
      redactor: createRedactor({ profile, rules }),
      header: { upstream: target.origin },
    }),
  );
}

/** What is under way may end within this time after a signal, ms. */
const graceMs = 1000;

interface Sent {
  tally: SendTally;
  ms: number;
  ending: Ending;
}

async function sendAll(request: SendRequest, values: Values, survey: Surveyed, shell: Shell): Promise<Sent> {
  const plan = planOf(request, values, survey);
  const writer = await openResult(request, plan.target);
  const transport = createTransport(plan.target, request.concurrency);
  const [stop, cut] = [new AbortController(), new AbortController()];
  let ending: Ending = "ok";
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
      plan,
      order: values.order,
      concurrency: request.concurrency,
      rate: request.rate,
      kinship: survey.kinship,
      transport,
      stop: stop.signal,
      cut: cut.signal,
      ...(writer && { onAnswer: (raw, i) => writer.append(raw, i) }),
      onStep: ({ answered, failed }) =>
        progress.show(
          `send: ${answered + failed} of ${survey.requests}${failed > 0 ? `, ${failed} failed` : ""}`,
        ),
    });
    return { tally, ms: performance.now() - begin, ending };
  } finally {
    progress.end();
    transport.close();
    await writer?.close();
    checkResult(writer);
  }
}

/** @throws Failure when the result tape is not whole */
function checkResult(writer: TapeWriter | undefined): void {
  if (!writer?.trouble) return;
  throw new Failure("failed", clean(`${writer.trouble.detail}; ${writer.trouble.hint}`, 600));
}

/** Why the command fails though it did what it could. */
function failureOf({ tally, ending }: Sent, values: Values, target: string): Failure | undefined {
  const { failed, failure = "", unreachable, answered, differing } = tally;
  if (unreachable) {
    const what = answered === 0 ? "cannot be reached" : "does not answer any more";
    return new Failure("network", clean(`${target} ${what}: ${failure}`, 600));
  }
  if (failed > 0) {
    return new Failure(
      "network",
      clean(`${counted(failed, "request")} got no answer from ${target}: ${failure}`, 600),
    );
  }
  if (ending !== "ok" || differing === 0 || values["ignore-status"]) return undefined;
  return new Failure(
    "failed",
    `${counted(differing, "answer")} of another status class than on the tape; --ignore-status passes over it`,
  );
}

function reportSent(
  request: SendRequest,
  survey: Surveyed,
  sent: Sent,
  values: Values,
  failure: unknown,
  shell: Shell,
) {
  const { tally, ms } = sent;
  if (!values.json) {
    shell.err.say(...skipLines(tally.skipped, survey.excluded));
    shell.out.say(...tallyLines(tally, ms, shell.outStyle));
    if (request.result !== undefined) shell.out.say(`answers are on ${clean(request.result, 1000)}`);
    return;
  }
  const { answered, failed, differing, examples, skipped } = tally;
  const report = {
    ok: failure === undefined && sent.ending === "ok",
    dry_run: false,
    ...reportOf(request, survey, needsOf(survey, request.keys)),
    skipped,
    sent: answered + failed,
    by_status: counts(tally.byStatus),
    failed,
    failure: tally.failure ?? null,
    differing,
    examples,
    ms: Math.round(ms),
    result: request.result ?? null,
  };
  shell.out.say(jsonLine(report));
}

/** A name that no route has is a mistake: nothing would be sent for it. @throws Failure usage */
async function checkRoutes(names: readonly string[], tape: string): Promise<void> {
  const routes = new Set<string>();
  for await (const { route } of readTape(tape)) routes.add(route);
  const unknown = names.find((name) => ![...routes].some((route) => namePattern(name).test(route)));
  if (unknown === undefined) return;
  const known = [...routes].sort();
  const list = known.length === 0 ? "the tape has no exchanges" : `it has ${known.slice(0, 12).join(", ")}`;
  const hint = clean(`${didYouMean(unknown, known)}; ${list}${known.length > 12 ? ", …" : ""}`, 900);
  throw new Failure("usage", `no exchange of the tape has the route "${clean(unknown)}"${hint}`);
}

/** Sends a tape's requests again, or lists what would be sent. @throws Failure */
export async function sendTape(values: Values, shell: Shell): Promise<Ending> {
  const request = requestOf(values, shell);
  const { file, only } = request;
  if (only.length > 0) await onFile(file, () => checkRoutes(only, file));
  const survey = await onFile(file, () => surveyed(request, shell));
  if (survey.requests === 0) {
    shell.err.say(...skipLines(survey.skipped, survey.excluded));
    throw new Failure("failed", `${clean(file)} has nothing to send`);
  }
  if (request.isDry) {
    shell.err.say(...skipLines(survey.skipped, survey.excluded));
    return reportDry(request, values, survey, shell);
  }
  const missing = needsOf(survey, request.keys).filter(isMissing);
  if (missing.length > 0) throw new Failure("usage", missingText(missing));
  const sent = await onFile(file, () => sendAll(request, values, survey, shell));
  const failure = failureOf(sent, values, shownTarget(request.target));
  reportSent(request, survey, sent, values, failure, shell);
  if (sent.ending !== "ok") return sent.ending;
  if (failure) throw failure;
  return "ok";
}
