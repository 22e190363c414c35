import { setMaxListeners } from "node:events";
import { setTimeout as sleepFor } from "node:timers/promises";
import type { Exchange } from "../format/exchange.ts";
import type { RawAnswer } from "../format/raw-exchange.ts";
import type { Prepared, Transport } from "../upstream/transport.ts";
import { planSend, type SendPlan, type SendSkipReason } from "./plan.ts";
import { type Kinship, lanesOf } from "./survey.ts";

export interface SendRun {
  plan: SendPlan;
  /** Most requests at the same time. Those of one person are sent in order. */
  concurrency: number;
  rate?: Rate | undefined;
  kinship: Kinship;
  transport: Transport;
  /** From then on no request is begun. */
  stop: AbortSignal;
  /** From then on a request without an answer is no failure: the transport was closed. */
  cut: AbortSignal;
  onStep?: (tally: SendTally) => void;
}

export type Rate = { perSecond: number } | { factor: number };

export interface SendTally {
  answered: number;
  byStatus: Map<number, number>;
  skipped: Partial<Record<SendSkipReason, number>>;
  /** Requests without an answer; `failure` is the reason of the last one. */
  failed: number;
  failure?: string;
  /** No request was answered, or none is any more. */
  unreachable: boolean;
  /** Answers of another status class than the recorded ones, and the first few of them. */
  differing: number;
  examples: { i: number; method: string; url: string; recorded: number; got: number }[];
}

const mostExamples = 5;
/** Failures in a row after which the target counts as gone. */
export const mostFailures = 10;

/** "Not changed" answers a client that already has it. */
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

const mostMs = 2 ** 31 - 1;

async function waitUntil(due: number, stop: AbortSignal): Promise<boolean> {
  for (let left = due - Date.now(); left > 0 && !stop.aborted; left = due - Date.now()) {
    await sleepFor(Math.min(left, mostMs), undefined, { signal: stop }).catch(() => {});
  }
  return !stop.aborted;
}

export const failureText = (error: unknown): string => {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message;
};

/** Sends requests again. Failures are part of the result; it throws only what reading the tape throws. */
export async function runSend(exchanges: AsyncIterable<Exchange>, run: SendRun): Promise<SendTally> {
  const { plan, concurrency, kinship, transport, cut } = run;
  const tally = newTally();
  const pace = createPace(run.rate);
  const gone = new AbortController();
  const stop = AbortSignal.any([run.stop, gone.signal]);
  // Each lane may be waiting for its time.
  setMaxListeners(0, stop);
  const lanes = createLanes(concurrency);
  let failuresInRow = 0;

  function fail(error: unknown): void {
    if (cut.aborted) return;
    tally.failed++;
    tally.failure = failureText(error);
    if (tally.answered > 0 && ++failuresInRow < mostFailures) return;
    tally.unreachable = true;
    gone.abort();
  }

  async function exchangeOnce(exchange: Exchange, prepared: Prepared): Promise<void> {
    try {
      const answer = await transport.send(plan.target, prepared, { limit: 0 });
      failuresInRow = 0;
      addAnswer(tally, exchange, answer);
    } catch (error) {
      fail(error);
    }
  }

  async function job(exchange: Exchange): Promise<void> {
    if (stop.aborted || !(await waitUntil(pace(Date.parse(exchange.at), Date.now()), stop))) return;
    const planned = planSend(exchange, plan, Date.now());
    if ("skip" in planned) tally.skipped[planned.skip] = (tally.skipped[planned.skip] ?? 0) + 1;
    else await exchangeOnce(exchange, planned.prepared);
    run.onStep?.(tally);
  }

  try {
    for await (const exchange of exchanges) {
      if (stop.aborted) break;
      await lanes.add(lanesOf(exchange, kinship, concurrency), () => job(exchange));
    }
  } finally {
    await lanes.done();
  }
  return tally;
}

/** Most jobs that wait, for each lane. */
const waiting = 4;

/**
 * A job in several lanes waits for all of them, and they for it: a batch of several persons keeps its place among each
 * one's requests.
 */
export function createLanes(count: number) {
  const ends = Array.from({ length: count }, () => Promise.resolve());
  const pending = new Set<Promise<void>>();
  const thrown: unknown[] = [];

  async function run(earlier: readonly (Promise<void> | undefined)[], job: () => Promise<void>) {
    await Promise.all(earlier);
    if (thrown.length === 0) await job().catch((error: unknown) => thrown.push(error));
  }

  return {
    /** Resolves when there is room for more jobs: the caller's reading is held back. */
    async add(lanes: readonly number[], job: () => Promise<void>) {
      const end = run(
        lanes.map((lane) => ends[lane]),
        job,
      ).finally(() => pending.delete(end));
      for (const lane of lanes) ends[lane] = end;
      pending.add(end);
      while (pending.size >= count * waiting) await Promise.race(pending);
    },
    /** Resolves when all jobs are over. @throws what the first job threw that did */
    async done() {
      await Promise.all(pending);
      if (thrown.length > 0) throw thrown[0];
    },
  };
}

/** Reads `10` (requests a second) and `2x` (of the recorded pace); undefined for anything else, and for 0. */
export function readRate(text: string): Rate | undefined {
  const [, number, unit] = /^(\d{1,6}(?:\.\d{1,6})?)(x|\/s|rps)?$/i.exec(text) ?? [];
  const value = Number(number);
  if (number === undefined || value === 0) return undefined;
  return unit?.toLowerCase() === "x" ? { factor: value } : { perSecond: value };
}

/** Returns when each request may go, ms since the epoch. `at`: when it was recorded. */
export function createPace(rate: Rate | undefined): (at: number, now: number) => number {
  if (rate === undefined) return (_, now) => now;
  if ("perSecond" in rate) {
    let next = Number.NEGATIVE_INFINITY;
    return (_, now) => {
      const due = Math.max(now, next);
      next = due + 1000 / rate.perSecond;
      return due;
    };
  }
  let first: { at: number; now: number } | undefined;
  return (at, now) => {
    first ??= { at, now };
    return first.now + Math.max(0, at - first.at) / rate.factor;
  };
}
