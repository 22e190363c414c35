import type { Scenario } from "../schema.ts";

/** What a scenario is made with. */
export interface FromTapeOptions {
  /**
   * `end` (default): the world after the last exchange. `start`: the world before the first one, to send the requests
   * again; documents that they created are not in it.
   */
  state?: "end" | "start";
  /** The tape's name, for the header comment. */
  source?: string;
}

/** A scenario made from a tape. */
export interface TapeScenario {
  readonly scenario: Scenario;
  /** The same as an editable file, JSON with comments; inferred values are marked. */
  readonly text: string;
  /** The scenario's keys by their placeholders on the tape. */
  readonly keys: ReadonlyMap<string, string>;
  readonly counts: Readonly<Record<string, number>>;
  /** Parts that the scenario does not have, a line each. */
  readonly leftOut: readonly string[];
  readonly exchanges: number;
  /** The start of the first exchange, ISO 8601; undefined without exchanges. */
  readonly firstAt: string | undefined;
}
