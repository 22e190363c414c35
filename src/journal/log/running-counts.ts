import type { TrafficLog, Written } from "./traffic-log.ts";

export type Counts = Record<"requests" | "rejected" | "events" | "kept" | "dropped", number>;

/** Counts of the log, kept up to date while clients read them, because a new count walks over everything. */
export function runningCounts(log: TrafficLog): { now(): Counts; close(): void } {
  let known: { counts: Counts; upTo: number } | undefined;
  const forget = () => {
    known = undefined;
  };
  function add({ n, entry: { record } }: Written): void {
    if (known === undefined || n <= known.upTo) return;
    // after a gap in the numbers, lines came without a notification
    if (n > known.upTo + 1) {
      forget();
      return;
    }
    known.upTo = n;
    const { counts } = known;
    const events = record.events ?? [];
    const dropped = events.filter((it) => it.dropped !== undefined).length;
    counts.requests++;
    if (record.rejected) counts.rejected++;
    counts.events += events.length;
    counts.dropped += dropped;
    counts.kept += events.length - dropped;
  }
  const stops = [log.onVeiled(forget), log.subscribe(add)];
  return {
    now() {
      if (known === undefined) {
        const { requests, rejected, events, kept, dropped } = log.counts();
        known = { counts: { requests, rejected, events, kept, dropped }, upTo: log.lastRequest };
      }
      return known.counts;
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}
