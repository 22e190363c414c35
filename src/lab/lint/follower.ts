import { setImmediate as turn } from "node:timers/promises";
import { performance } from "../../kernel/base/real-time.ts";
import { inSlices, type Stepwise } from "../../kernel/base/work.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Linter } from "./linter.ts";
import { lintRequestOf } from "./request.ts";

export interface FollowerPorts {
  readonly log: TrafficLog;
  readonly clock: { readonly isReal: boolean };
  readonly closing: AbortSignal;
}

/** Of more new events (or requests) than this, only the newest are examined. */
const mostNew = 100_000;
/** Work without a break, ms. */
const sliceMs = 4;

/** Feeds the log to the linter on demand; requests are not slowed down. */
export function createFollower({ log, clock, closing }: FollowerPorts, linter: Linter) {
  let n = 0;
  let seq = 0;
  let looked = 0;
  let skipped = 0;
  let hasGap = false;
  let working: Promise<void> = Promise.resolve();
  /** Changes when it starts from another request. */
  let restarts = 0;

  log.onVeiled(({ project, isCleared }) => {
    linter.forget(project ?? undefined);
    if (project !== null) return;
    restarts++;
    [looked, skipped] = [0, 0];
    [n, seq] = isCleared ? [log.lastRequest, log.lastSeq] : [0, 0];
  });

  /** Skips the oldest requests if there are too many. */
  function skip(): void {
    const first = log.lastSeq - mostNew + 1;
    const next = first > seq + 1 ? (requestBefore(first, log.lastSeq) ?? log.lastRequest) : n;
    const start = Math.max(next, log.lastRequest - mostNew);
    if (start <= n) return;
    n = start;
    hasGap = true;
    linter.skip();
  }

  /** Events up to `last` are done; those before `first` were skipped. */
  function pass(first: number, last: number): void {
    if (hasGap) skipped += Math.max(0, first - 1 - seq);
    hasGap = false;
    seq = Math.max(seq, last);
  }

  function requestBefore(first: number, last: number): number | undefined {
    let next: number | undefined;
    log.eachEvent(first, last, {}, ({ n }) => {
      next ??= n - 1;
    });
    return next;
  }

  /** Examines the next request. */
  function* step(): Stepwise<void> {
    n++;
    const bytes = log.sizeOf(n);
    const before = restarts;
    const line = yield* log.reading(n);
    if (!line || before !== restarts) return;
    const count = line.events?.length ?? 0;
    if (line.seq !== undefined) pass(line.seq, line.seq + count - 1);
    if (line.seq !== undefined && requestBefore(line.seq, line.seq) === undefined) return;
    const request = lintRequestOf(line, bytes, clock.isReal);
    if (!request) return;
    looked += count;
    yield* linter.examine(request);
  }

  async function work(maxMs: number): Promise<void> {
    let left = maxMs;
    while (n < log.lastRequest && left > 0 && !closing.aborted) {
      skip();
      const start = performance.now();
      let spent = 0;
      while (n < log.lastRequest && spent < Math.min(sliceMs, left)) {
        const rest = inSlices(step());
        if (rest) await rest;
        spent = performance.now() - start;
      }
      left -= spent;
      await turn();
    }
    if (n >= log.lastRequest) pass(log.lastSeq + 1, log.lastSeq);
  }

  return {
    /** Examines new requests; stops after about `maxMs` of work. */
    catchUp(maxMs: number) {
      const done = working.then(() => work(maxMs));
      working = done.catch(() => {});
      return done;
    },
    get progress() {
      return { looked, skipped, behind: Math.max(0, log.lastSeq - seq), cursor: seq };
    },
  };
}
