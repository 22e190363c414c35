import { setImmediate as turn } from "node:timers/promises";
import type { Linter } from "../../lint/linter.ts";
import type { ControlDesk } from "../desk.ts";
import { lintRequestOf } from "./request.ts";

/** The linter, kept up with the log when it is asked; nothing happens while requests come. */
export interface Follower {
  /** Looks at what is new; stops after about `maxMs` of work. */
  catchUp(maxMs: number): Promise<void>;
  readonly progress: Progress;
}

/** How far it is. */
interface Progress {
  /** Events that were looked at, and that were not because there were too many. */
  looked: number;
  skipped: number;
  /** Events that are still to be looked at. */
  behind: number;
  /** The last event that was looked at. */
  cursor: number;
}

/** When more than so many events (or requests) are new, only the newest of them are looked at. */
const mostNew = 100_000;
/** Work before others get a turn, ms. */
const sliceMs = 4;

export function createFollower({ log, clock, closing }: FollowDesk, linter: Linter): Follower {
  let n = 0;
  let seq = 0;
  let looked = 0;
  let skipped = 0;
  let hasGap = false;
  let working: Promise<void> = Promise.resolve();

  log.onVeiled(({ project, isCleared }) => {
    linter.forget(project ?? undefined);
    if (project !== null) return;
    [looked, skipped] = [0, 0];
    [n, seq] = isCleared ? [log.lastRequest, log.lastSeq] : [0, 0];
  });

  /** Leaves the oldest out when there is too much. */
  function skip(): void {
    const next = log.lastSeq - seq > mostNew ? requestAfter(log.lastSeq - mostNew) : n;
    const start = Math.max(next, log.lastRequest - mostNew);
    if (start <= n) return;
    n = start;
    hasGap = true;
    linter.skip();
  }

  /** Events up to here were looked at; those before them were left out after a skip. */
  function pass(first: number, last: number): void {
    if (hasGap) skipped += Math.max(0, first - 1 - seq);
    hasGap = false;
    seq = Math.max(seq, last);
  }

  /** The request before the one that has the first visible event after this seq. */
  function requestAfter(after: number): number {
    for (const { line } of log.scan({ since: after })) return line.n - 1;
    return log.lastRequest;
  }

  const isSeen = (first: number): boolean => {
    for (const _ of log.scan({ since: first - 1, until: first })) return true;
    return false;
  };

  /** Looks at the next request. */
  function step(): void {
    n++;
    const bytes = log.sizeOf(n);
    const line = log.line(n);
    if (!line) return;
    const count = line.events?.length ?? 0;
    if (line.seq !== undefined) pass(line.seq, line.seq + count - 1);
    if (line.seq !== undefined && !isSeen(line.seq)) return;
    const request = lintRequestOf(line, bytes, clock.isReal);
    if (!request) return;
    looked += count;
    linter.look(request);
  }

  async function work(maxMs: number): Promise<void> {
    let left = maxMs;
    while (n < log.lastRequest && left > 0 && !closing.aborted) {
      skip();
      const start = performance.now();
      let spent = 0;
      while (n < log.lastRequest && spent < Math.min(sliceMs, left)) {
        step();
        spent = performance.now() - start;
      }
      left -= spent;
      await turn();
    }
    if (n >= log.lastRequest) pass(log.lastSeq + 1, log.lastSeq);
  }

  return {
    catchUp(maxMs) {
      const done = working.then(() => work(maxMs));
      working = done.catch(() => {});
      return done;
    },
    get progress() {
      return { looked, skipped, behind: Math.max(0, log.lastSeq - seq), cursor: seq };
    },
  };
}

type FollowDesk = Pick<ControlDesk, "log" | "clock" | "closing">;
