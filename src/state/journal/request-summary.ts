export interface Finding {
  event: string;
  reason: string;
  sentence: string;
  fix: string;
}

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
  unmatched?: true;
  /** Names of the faults that touched it; `status` is 0 where they kept the answer from arriving. */
  fault?: string;
  scripted?: true;
  /** What answered where it was neither the emulator nor a script: `tape:checkout#12`, `upstream`. */
  source?: string;
  events: number;
  since: number;
  names: string[];
  warned: number;
  dropped: Finding[];
  warnings: Finding[];
}
