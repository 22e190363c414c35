import { type ClockState, type SimClock, timeRange } from "./clock.ts";
import { SimError } from "./errors.ts";
import type { Json } from "./json.ts";

export interface Happened {
  readonly at: string;
  readonly kind: string;
  readonly [fact: string]: Json;
}

export interface Due {
  nextDue(): number | undefined;
  /**
   * Does what is due up to then, in order; the clock shows that time, or a later one. Afterwards `nextDue` is
   * later than `until`; what is not is left for the next time.
   */
  perform(until: number): Promise<readonly Happened[]>;
}

/** Timers take no longer times than this, ms. */
const longestTimer = 2 ** 31 - 1;
/** What could not be performed at its time is tried again after this, ms. */
const pause = 1_000;

interface Next {
  readonly due: Due;
  readonly at: number;
}

function earliest(dues: Iterable<Due>): Next | undefined {
  let next: Next | undefined;
  for (const due of dues) {
    const at = due.nextDue();
    if (at !== undefined && (next === undefined || at < next.at)) next = { due, at };
  }
  return next;
}

/** Performs what is due up to `end`, in order. @param reach Called with each time before its work is performed. */
async function performUntil(
  end: number,
  dues: readonly Due[],
  reach: (at: number) => number,
  isEnded: () => boolean = () => false,
): Promise<Happened[]> {
  const happened: Happened[] = [];
  const waiting = new Set(dues);
  while (!isEnded()) {
    const next = earliest(waiting);
    if (!next || next.at > end) break;
    const until = reach(next.at);
    for (const it of await next.due.perform(until)) happened.push(it);
    if ((next.due.nextDue() ?? Number.POSITIVE_INFINITY) <= until) waiting.delete(next.due);
  }
  return happened;
}

/**
 * @param onError Receives the error of work that has no caller.
 * @param keep Writes down how the clock is set. What it throws before the clock changes refuses the change.
 */
export function createAgenda(
  clock: SimClock,
  onError: (error: unknown) => void = () => {},
  keep: (setting: ClockState) => void = () => {},
) {
  const dues: Due[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** One after the other: the clock must not jump while something is performed. */
  function inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {}).then(() => arm());
    return done;
  }

  async function kept<T>(work: () => T | Promise<T>): Promise<T> {
    keep(clock.setting);
    try {
      return await work();
    } finally {
      keep(clock.setting);
    }
  }

  function arm(wait = 0): void {
    clearTimeout(timer);
    timer = undefined;
    const next = isClosed || clock.isFrozen ? undefined : earliest(dues);
    if (!next) return;
    const rest = Math.max(next.at - clock.now(), wait);
    timer = setTimeout(ring, Math.min(rest, longestTimer)).unref();
  }

  function ring(): void {
    const end = clock.now();
    inTurn(() =>
      performUntil(
        end,
        dues,
        () => Math.max(end, clock.now()),
        () => isClosed,
      ),
    )
      .catch(onError)
      .then(() => last)
      .then(() => arm((earliest(dues)?.at ?? end + 1) <= end ? pause : 0));
  }

  async function moveBy(by: number, signal: AbortSignal | undefined): Promise<readonly Happened[]> {
    const wasFrozen = clock.isFrozen;
    const end = clock.now() + by;
    if (end > timeRange.last) throw new SimError("invalid_input", "the clock ends with the year 9999");
    clock.freeze();
    /** Kept at each step: after a crash, work must not be due again, and what comes in must not belong to an earlier time. */
    const reach = (at: number): number => {
      if (at > clock.now()) clock.set(at);
      keep(wasFrozen ? clock.setting : clock.running);
      return clock.now();
    };
    try {
      const happened = await performUntil(end, dues, reach, () => signal?.aborted ?? false);
      if (!signal?.aborted) clock.set(Math.max(end, clock.now()));
      return happened;
    } finally {
      if (!wasFrozen) clock.run();
    }
  }

  return {
    add(due: Due) {
      dues.push(due);
      arm();
    },
    /** Changes the clock, after what is being performed now. */
    change: (edit: (clock: SimClock) => void) => inTurn(() => kept(() => edit(clock))),
    /**
     * Moves the clock on, standing still at each time at which something is due until that is done. Returns what
     * came about, in order. Ends early, with the clock where it is then, when the signal says so.
     * @param by ms, not negative
     * @throws SimError invalid_input when that is after 9999
     */
    advance: (by: number, signal?: AbortSignal) => inTurn(() => kept(() => moveBy(by, signal))),
    nextDue: () => earliest(dues)?.at,
    changed: () => arm(),
    close() {
      isClosed = true;
      arm();
    },
  };
}

/** Starts work when the clock reaches its time, while it runs or when it is moved. */
export type Agenda = ReturnType<typeof createAgenda>;
