/** Something to know about an event: why it was dropped, or what was odd about it. */
export interface Finding {
  event: string;
  /** Machine-readable: docs/reference/reasons.md lists them. */
  reason: string;
  sentence: string;
  fix: string;
}

/** A request that has been answered, in a few words. */
export interface RequestSummary {
  n: number;
  /** Arrival, ms since the epoch. */
  at: number;
  method: string;
  target: string;
  status: number;
  ms: number;
  project: number | null;
  /** Its name: of a test's project, the test. Absent where the project is not known. */
  project_name?: string;
  rejected?: { reason: string; detail: string; hint?: string };
  /** True if it was rejected for an unknown path. */
  unmatched?: true;
  /** Names of the faults that touched it; `status` is 0 where they kept the answer from arriving. */
  fault?: string;
  /** Answered by a script. */
  scripted?: true;
  /** What answered where it was neither the emulator nor a script: `tape:checkout#12`, `upstream`. */
  source?: string;
  events: number;
  since: number;
  names: string[];
  /** Number of the kept events with warnings. */
  warned: number;
  dropped: Finding[];
  /** What was odd about events that were kept. */
  warnings: Finding[];
}
