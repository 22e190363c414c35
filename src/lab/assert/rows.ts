import { SimError } from "../../kernel/base/errors.ts";
import { performance } from "../../kernel/base/real-time.ts";
import type { Call } from "../../kernel/http/call.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { interestIn } from "./dispatcher.ts";
import { keyComplaints, keyUses } from "./ended-keys.ts";
import { joinSignals, type Watch, watchEvents } from "./event-watch.ts";
import { defaultSettle, defaultWait, settleGrace } from "./limits.ts";
import { Evaluation, forbids } from "./match/evaluate.ts";
import { checkAsserted, checkTerms } from "./match/event-pattern.ts";
import type { PatternProblem } from "./match/pattern.ts";
import { type Count, Surroundings } from "./match/report-shapes.ts";
import type { Terms } from "./match/types.ts";
import type { AssertingPorts, AssertPorts } from "./ports.ts";
import {
  Failed,
  patternOf,
  type RequestedCount,
  Settled,
  SettleRequest,
  SurroundingsRequest,
  Verified,
  VerifyRequest,
  Waited,
  WaitRequest,
} from "./shapes.ts";
import { failure, type LogScope, requestsAfter, surroundingsOf, type Wait } from "./surroundings.ts";

type Worlds = Pick<AssertPorts, "worlds">;
type Scoped = Pick<AssertPorts, "worlds" | "log">;

/** @throws SimError invalid_input for the first mistake */
function refuse([problem]: readonly PatternProblem[], pointer = ""): void {
  if (!problem) return;
  const { detail, hint } = problem;
  throw new SimError("invalid_input", detail, { pointer: pointer + problem.pointer, ...(hint !== null && { hint }) });
}

/** @throws SimError invalid_input if the project does not exist */
function projectIn({ worlds }: Worlds, { project }: { project?: number | null | undefined }): number | undefined {
  if (project === undefined || project === null || worlds.projectById(project)) return project ?? undefined;
  throw new SimError("invalid_input", `there is no project ${project}`, {
    pointer: "/project",
    hint: "GET /__sim/info lists the projects",
  });
}

/** The part of the log that a call is about. @throws SimError invalid_input */
function scopeOf(
  ports: Scoped,
  body: { project?: number | null | undefined; since?: number | null | undefined },
): LogScope {
  const since = body.since ?? 0;
  const { lastSeq } = ports.log;
  if (since > lastSeq) {
    throw new SimError("invalid_input", `"since" is ${since}, but the newest event is #${lastSeq}`, {
      pointer: "/since",
      hint: "take it from events.mark() of this sim, or from the cursor of an answer",
    });
  }
  return { project: projectIn(ports, body), since };
}

function inTitle(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function waitTitle({ match = {}, sequence, count }: WaitRequest): string {
  if (sequence !== undefined) return `wait for the sequence ${inTitle(sequence)}`;
  return count === undefined || count === null || count === 1
    ? `wait for ${inTitle(match)}`
    : `wait for ${count} × ${inTitle(match)}`;
}

function waitOf(ports: Scoped, body: WaitRequest): Wait {
  const { match, sequence, count, outcome = "kept" } = body;
  for (const [i, it] of sequence?.entries() ?? []) refuse(checkAsserted(patternOf(it), outcome), `/sequence/${i}`);
  if (match !== undefined) refuse(checkAsserted(patternOf(match), outcome), "/match");
  return {
    terms:
      sequence === undefined
        ? { expect: [{ match: patternOf(match ?? {}), count: { min: count ?? 1 } }] }
        : { expect: sequence.map((it) => ({ match: patternOf(it) })), ordered: true },
    scope: scopeOf(ports, body),
    outcome,
    timeout: body.timeout_ms ?? defaultWait,
    title: body.title ?? waitTitle(body),
  };
}

function countIn(count: RequestedCount): Count {
  if (typeof count === "number") return { min: count, max: count };
  const { min, max } = count;
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}

function verificationOf(ports: Scoped, body: VerifyRequest): Wait {
  const terms: Terms = {
    expect: body.expect.map(({ match, count }) => ({
      match: patternOf(match),
      ...(count !== undefined && count !== null && { count: countIn(count) }),
    })),
    ordered: body.ordered ?? false,
    nothingElse: body.nothing_else ?? false,
    noEndedKeys: body.no_ended_keys ?? false,
  };
  refuse(checkTerms(terms));
  return {
    terms,
    scope: scopeOf(ports, body),
    outcome: "kept",
    timeout: body.timeout_ms ?? defaultWait,
    title: body.title ?? `verify ${inTitle(body.expect)}`,
  };
}

function begin(ports: AssertPorts, { terms, scope, outcome }: Wait): { evaluation: Evaluation; watch: Watch } {
  const evaluation = new Evaluation(terms);
  const interest = terms.nothingElse ? {} : interestIn(...terms.expect.map(({ match }) => match));
  return { evaluation, watch: watchEvents(ports, { ...interest, ...scope, outcome }, evaluation.take) };
}

async function untilGone<T>(
  { closing }: AssertPorts,
  call: Call,
  run: (gone: AbortSignal) => Promise<T>,
  ms?: number,
): Promise<T> {
  const gone = joinSignals([call.signal, closing], ms);
  try {
    return await run(gone.signal);
  } finally {
    gone.release();
  }
}

/** Returns the first expected events as soon as all have come. @throws SimError wait_timeout with a report */
const wait = (ports: AssertPorts, body: WaitRequest, call: Call) =>
  untilGone(ports, call, async (gone) => {
    const task = waitOf(ports, body);
    const started = performance.now();
    const { evaluation, watch } = begin(ports, task);
    const isMet = await watch.until(evaluation.isMet, task.timeout, gone).finally(watch.close);
    const { chosen: events } = evaluation;
    if (isMet) return { events, cursor: events.at(-1)?.seq ?? ports.log.lastSeq };
    const waited = performance.now() - started;
    throw await failure(ports, "wait_timeout", { wait: task, evaluation, waited, url: call.origin, gone });
  });

async function isQuiet(
  { gauge }: AssertPorts,
  { evaluation, watch }: ReturnType<typeof begin>,
  { idle, most, gone, project }: { idle: number; most: number; gone: AbortSignal; project: number | undefined },
): Promise<boolean> {
  const over = joinSignals([gone]);
  const exceeded = watch.until(evaluation.isExceeded, most, over.signal).finally(over.end);
  const quiet = await gauge.quiet(idle, over.signal, project).then(
    () => true,
    () => false,
  );
  over.end();
  await exceeded;
  over.release();
  return quiet;
}

/** Events in an answer; `matched` lists the seqs of all. */
const mostShown = 1_000;

/** The key that an SDK should use; null: any. */
const expectedKey = ({ worlds }: AssertPorts, { project }: LogScope): string | null =>
  project === undefined ? null : (worlds.projectById(project)?.api_key ?? null);

/** Waits until the expectations are met, then until it is quiet. @throws SimError expectation_failed with a report */
const verify = (ports: AssertPorts, body: VerifyRequest, call: Call) =>
  untilGone(ports, call, async (gone) => {
    const task = verificationOf(ports, body);
    const { terms, timeout, scope } = task;
    const idle = body.settle_ms ?? defaultSettle;
    const started = performance.now();
    const begun = begin(ports, task);
    const { evaluation, watch } = begun;
    const isDecided = () => evaluation.isExceeded() || (watch.isCaughtUp && evaluation.isMet());
    let settled = true;
    try {
      const isMet = (await watch.until(isDecided, timeout, gone)) && !evaluation.isExceeded();
      if (isMet && forbids(terms) && idle > 0) {
        const most = Math.max(started + timeout - performance.now(), idle + settleGrace);
        settled = await isQuiet(ports, begun, { idle, most, gone, project: scope.project });
      }
    } finally {
      watch.close();
    }
    const { passed, matched } = evaluation.verdict();
    const shared =
      passed && (forbids(terms) || terms.noEndedKeys)
        ? keyComplaints(
            terms,
            await keyUses(ports, scope.project, requestsAfter(ports, scope)),
            expectedKey(ports, scope),
          )
        : [];
    if (passed && shared.length === 0 && !gone.aborted) {
      const seqs = new Set(matched.flat());
      const shown = evaluation.events.filter(({ seq }) => seqs.has(seq)).slice(0, mostShown);
      return { passed: true as const, matched, events: shown, settled, cursor: ports.log.lastSeq };
    }
    const waited = performance.now() - started;
    throw await failure(ports, "expectation_failed", {
      ...{ wait: task, evaluation, waited, url: call.origin, gone, shared },
    });
  });

/** Returns when it is quiet. @throws SimError wait_timeout */
const settle = (ports: AssertPorts, body: SettleRequest, call: Call) => {
  const { gauge, log } = ports;
  const project = projectIn(ports, body);
  const { idle_ms, timeout_ms } = body;
  const [idle, timeout] = [idle_ms ?? defaultSettle, timeout_ms ?? defaultWait];
  const quiet = async (gone: AbortSignal) => {
    try {
      await gauge.quiet(idle, gone, project);
    } catch {
      const data = { in_flight: gauge.inFlightOf(project), cursor: log.lastSeq };
      throw new SimError("wait_timeout", `not quiet for ${idle} ms within ${timeout} ms`, { data });
    }
    return { quiet: true as const, cursor: log.lastSeq };
  };
  return untilGone(ports, call, quiet, timeout);
};

export const assertSlice = slice(["asserting"], ({ asserting: ports }: AssertingPorts) => [
  row({
    method: "POST",
    path: "/__sim/events/wait",
    access: "control",
    summary:
      "Waits until events match: `count` of one pattern, or a `sequence`; 409 with a report when they do not come",
    body: WaitRequest,
    reply: Waited,
    replies: { 409: { description: "They did not come in time", shape: Failed } },
    handle: ({ body, call }) => wait(ports, body, call),
  }),
  row({
    method: "POST",
    path: "/__sim/events/verify",
    access: "control",
    summary: "Waits until expectations hold: counts, order, nothing else; 409 with a report when they do not",
    body: VerifyRequest,
    reply: Verified,
    replies: { 409: { description: "They do not", shape: Failed } },
    handle: ({ body, call }) => verify(ports, body, call),
  }),
  row({
    method: "POST",
    path: "/__sim/events/surroundings",
    access: "control",
    summary: "Returns the other facts of a report, for clients that test the events themselves",
    body: SurroundingsRequest,
    reply: Surroundings,
    handle: ({ body, call }) =>
      surroundingsOf(ports, {
        match: body.match === undefined ? undefined : patternOf(body.match),
        scope: scopeOf(ports, body),
        outcome: "kept",
        until: ports.log.lastSeq,
        endedAt: ports.clock.now(),
        waited: null,
        url: call.origin,
      }),
  }),
  row({
    method: "POST",
    path: "/__sim/settle",
    access: "control",
    summary: "Returns once no request is in flight and it has been quiet for idle_ms, in one project or in all",
    body: SettleRequest,
    reply: Settled,
    errors: [409],
    handle: ({ body, call }) => settle(ports, body, call),
  }),
]);
