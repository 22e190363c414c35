import type { Fixtures } from "./fixture.ts";
import type { Warmup } from "./load.ts";

/** How long to measure. `--quick` takes about five minutes and is noisier. */
export interface Pace {
  readonly rounds: number;
  readonly warmup: Warmup;
  readonly measureMs: number;
  /** Starts per case in the start-up suite. */
  readonly starts: number;
  /** Events in the big data folders. */
  readonly events: number;
  /** Sizes of the growing journal, in events. */
  readonly growth: readonly number[];
  /** Captures whose memory is measured. */
  readonly captures: number;
  readonly kills: number;
  /** Repetitions of a single call whose time is asked. */
  readonly calls: number;
  /** From the last event to the measurement of memory. */
  readonly quietMs: number;
  /** Upper limit of the sizes that suites fix themselves: waits, dashboards, exchanges, files of tests. */
  readonly most: number;
}

/** What a suite gets to work with. */
export interface Bench {
  readonly pace: Pace;
  readonly fixtures: Fixtures;
  /** Installs an npm package to compare with (see `install.ts`); absent: such comparisons are left out. */
  readonly installed?: (home: string, spec: string) => Promise<string>;
  /** One line about what is being done now; it never mixes with the report. */
  progress(text: string): void;
}

/** Cells are ready to print; the first column names the row. */
export interface Table {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

/** One promise held against its measurement. */
export interface Verdict {
  what: string;
  /** The bar as people read it, e.g. "≥ 1.5 ×". */
  bar: string;
  measured: string;
  met: boolean;
}

export interface Report {
  tables: readonly Table[];
  verdicts: readonly Verdict[];
  /** What a reader must know to compare the figures. */
  notes: readonly string[];
}

export interface Suite {
  readonly name: string;
  readonly title: string;
  /** True if it runs only when it is asked for. */
  readonly isOptional?: boolean;
  /** @throws Error when something could not be measured: a server that does not start, an answer that is wrong. */
  run(bench: Bench): Promise<Report>;
}
