import type { ScenarioSource, Sim } from "../../index.ts";
import type { Signal } from "../../kernel/command/signals.ts";
import type { RunVerdict, VerdictSection } from "../../testing/run-report/shapes.ts";
import type { BaselineRun } from "../baseline/command-run.ts";
import type { ExecSettings } from "./exec-options.ts";
import type { ExitCheck } from "./kill-after-response.ts";

/** What a command runs with. */
export interface RunPlace {
  readonly scenario: ScenarioSource;
  readonly baseline?: BaselineRun | undefined;
  /** Makes a further section of the verdict, after the run. */
  readonly inspect?: ((sim: Sim) => Promise<VerdictSection>) | undefined;
  /** Ends the app after its response, and reports what was lost. */
  readonly exit?: ExitCheck | undefined;
  /** A section of the verdict that was printed before the run. */
  readonly known?: VerdictSection;
  /** The names of the command's variables were printed before. */
  readonly isAnnounced?: boolean;
}

/** Runs the command once, with a sim of its own, and prints the summary. Returns a signal that came before it. */
export type RunOnce = (settings: ExecSettings, place: RunPlace) => Promise<RunVerdict | Signal>;
