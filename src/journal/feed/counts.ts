import type { TrafficLog, Written } from "../log/traffic-log.ts";

type Counts = Pick<ReturnType<TrafficLog["counts"]>, "requests" | "rejected" | "events" | "kept" | "dropped">;

/** Counts of the log that are kept up to date while somebody looks at them: counting anew walks over everything. */
export interface RunningCounts {
  now(): Counts;
  close(): void;
}

export function runningCounts(log: TrafficLog): RunningCounts {
  let known: { counts: Counts; upTo: number } | undefined;
  const forget = () => {
    known = undefined;
  };
  function count({ n, entry: { record } }: Written): void {
    if (known === undefined || n <= known.upTo) return;
    // numbers were left out: lines came that nobody told of
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
  const ends = [log.onVeiled(forget), log.subscribe(count)];
  return {
    now() {
      known ??= { counts: log.counts(), upTo: log.lastRequest };
      return known.counts;
    },
    close() {
      for (const end of ends) end();
    },
  };
}
