import { setMaxListeners } from "node:events";
import { setTimeout as sleepFor } from "node:timers/promises";
import type { Exchange, RawAnswer, RawExchange } from "../types.ts";
import { createLanes, takingTurns } from "./lanes.ts";
import { type Kinship, lanesOf } from "./persons.ts";
import { planSend } from "./plan.ts";
import { createPace } from "./rate.ts";
import type { Transport } from "./transport.ts";
import type { Prepared, Rate, SendOrder, SendPlan, SkipReason } from "./types.ts";

export interface SendRun {
  plan: SendPlan;
  order: SendOrder;
  /** Requests at the same time, at most. */
  concurrency: number;
  rate?: Rate | undefined;
  kinship: Kinship;
  transport: Transport;
  /** From then on nothing is begun. */
  stop: AbortSignal;
  /** From then on a request without an answer is no failure: the transport was closed. */
  cut: AbortSignal;
  /** Told of each exchange that is over, for a result tape; then answers are kept. */
  onAnswer?: (exchange: RawExchange, i: number) => void;
  onStep?: (tally: SendTally) => void;
}

/** What came of it. */
export interface SendTally {
  /** Requests that got an answer. */
  answered: number;
  byStatus: Map<number, number>;
  skipped: Partial<Record<SkipReason, number>>;
  /** Without an answer; `failure` says why the last one. */
  failed: number;
  failure?: string;
  /** Nobody answered at all, or nobody does any more. */
  unreachable: boolean;
  /** Answers of another status class than the recorded ones, and the first few of them. */
  differing: number;
  examples: { i: number; method: string; url: string; recorded: number; got: number }[];
}

const mostExamples = 5;
/** Failures in a row after which the target counts as gone. */
export const mostFailures = 10;

/** "Not changed" is an answer to who has it already. */
const classOf = (status: number): number => (status === 304 ? 2 : Math.floor(status / 100));

const newTally = (): SendTally => ({
  answered: 0,
  byStatus: new Map(),
  skipped: {},
  failed: 0,
  unreachable: false,
  differing: 0,
  examples: [],
});

function addAnswer(tally: SendTally, { i, req, res }: Exchange, { status }: RawAnswer): void {
  tally.answered++;
  tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
  if (res === null || classOf(res.status) === classOf(status)) return;
  tally.differing++;
  if (tally.examples.length < mostExamples)
    tally.examples.push({ i, method: req.method, url: req.url, recorded: res.status, got: status });
}

const rawOf = (at: number, target: URL, prepared: Prepared, answer: RawAnswer | null): RawExchange => ({
  at,
  method: prepared.method,
  url: `${target.origin}${prepared.target}`,
  http: "1.1",
  headers: prepared.headers,
  body: prepared.body,
  answer,
});

/** The longest that a timer can take. */
const mostMs = 2 ** 31 - 1;

/** False when it was stopped before. */
async function waitUntil(due: number, stop: AbortSignal): Promise<boolean> {
  for (let left = due - Date.now(); left > 0 && !stop.aborted; left = due - Date.now()) {
    await sleepFor(Math.min(left, mostMs), undefined, { signal: stop }).catch(() => {});
  }
  return !stop.aborted;
}

/** Why no answer came, in the system's words. */
export const failureText = (error: unknown): string => {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message;
};

/** Sends requests again. Failures are told in what it resolves with; only what reading the tape throws is thrown. */
export async function runSend(exchanges: AsyncIterable<Exchange>, run: SendRun): Promise<SendTally> {
  const { plan, concurrency, kinship, transport, cut } = run;
  const tally = newTally();
  const pace = createPace(run.rate);
  const gone = new AbortController();
  const stop = AbortSignal.any([run.stop, gone.signal]);
  // Each lane may be waiting for its time.
  setMaxListeners(0, stop);
  const count = run.order === "strict" ? 1 : concurrency;
  const lanes = createLanes(count);
  const anyLane = takingTurns(count);
  let failuresInRow = 0;

  function fail(error: unknown): void {
    if (cut.aborted) return;
    tally.failed++;
    tally.failure = failureText(error);
    if (tally.answered > 0 && ++failuresInRow < mostFailures) return;
    tally.unreachable = true;
    gone.abort();
  }

  async function exchangeOnce(exchange: Exchange, prepared: Prepared, at: number): Promise<void> {
    const answer = await transport.send(prepared, run.onAnswer !== undefined).catch((error: unknown) => {
      fail(error);
      return null;
    });
    if (answer) {
      failuresInRow = 0;
      addAnswer(tally, exchange, answer);
    }
    run.onAnswer?.(rawOf(at, plan.target, prepared, answer), exchange.i);
  }

  async function job(exchange: Exchange): Promise<void> {
    if (stop.aborted || !(await waitUntil(pace(Date.parse(exchange.at), Date.now()), stop))) return;
    const now = Date.now();
    const planned = planSend(exchange, plan, now);
    if ("skip" in planned) tally.skipped[planned.skip] = (tally.skipped[planned.skip] ?? 0) + 1;
    else await exchangeOnce(exchange, planned.prepared, now);
    run.onStep?.(tally);
  }

  try {
    for await (const exchange of exchanges) {
      if (stop.aborted) break;
      const at = run.order === "per-person" ? lanesOf(exchange, kinship, count) : anyLane();
      await lanes.add(at, () => job(exchange));
    }
  } finally {
    await lanes.done();
  }
  return tally;
}
