import { setImmediate as turn } from "node:timers/promises";
import { performance } from "../../kernel/base/real-time.ts";
import { queryTooSlow } from "./refusals.ts";
import type { Steps } from "./table.ts";

/** Time for which a query may hold the event loop, ms. */
export const longestTurn = 5;

export interface StepLimits {
  /** Time after which the query ends with an error, ms (default: 10 minutes). */
  mostMs?: number;
  signal?: AbortSignal;
}

/**
 * Runs a computation to its end; other work gets a turn about every 5 ms.
 * @throws SimError if it takes longer than `mostMs`; the signal's reason once it is aborted
 */
export async function finish<T extends object>(
  steps: Steps<T> | T,
  { mostMs = 600_000, signal }: StepLimits = {},
): Promise<T> {
  if (!("next" in steps)) return steps;
  const startedAt = performance.now();
  let turnAt = startedAt;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const now = performance.now();
    if (now - turnAt < longestTurn) continue;
    if (now - startedAt > mostMs) throw queryTooSlow();
    await turn();
    signal?.throwIfAborted();
    turnAt = performance.now();
  }
}
