import type { Ledger, TapeProblem } from "../tape/types.ts";
import type { ControlCall } from "./call.ts";

/** How a tape answers. */
export interface TapeOptions {
  /** `replay` (default; also `none`): what is not on the tape is an error; `hybrid`: the emulator answers it. */
  mode?: "replay" | "none" | "hybrid";
  /** Default: by the mode, `fail` or `emulate`; `upstream` needs a sim that has one. */
  onMiss?: "fail" | "emulate" | "upstream";
  /** How long answers take: `none` (default), `recorded`, `scale:0.5` of that, or `max:2000` ms. Never over a minute. */
  timing?: string;
  /** Recorded answers with these statuses are not given, e.g. `[429]`. Default: all are. */
  skipStatus?: readonly number[];
}

/** What was used of a tape. Lists hold the first 1,000. */
export interface TapeLedger extends Ledger {
  unused_count: number;
  /** Requests that it has no answer for. */
  miss_count: number;
}

/** The tape in force. */
export interface LoadedTape {
  name: string;
  file: string;
  /** Where it was recorded; null for an import of several. */
  upstream: string | null;
  created: string;
  /** `new`: the upstream answers what is not on the tape, and that is recorded. */
  mode: "replay" | "hybrid" | "new";
  on_miss: "fail" | "emulate" | "upstream";
  timing: string;
  skip_status: number[];
  /** Lines that could not be read. */
  problems: TapeProblem[];
  /** Exchanges that were recorded, in the mode `new`. */
  added: number;
  ledger: TapeLedger;
}

/** Recorded answers in the emulator's place. Captured events are kept as always. */
export interface Tapes {
  /** Puts a tape in force, in the place of another. @param tape Its name or path @throws ControlError */
  load(tape: string, options?: TapeOptions): Promise<LoadedTape>;
  /** The tape in force, and what was used of it; null when the emulator answers. */
  get(): Promise<LoadedTape | null>;
  /**
   * Back to the beginning, for all clients or one: `test:NAME` (the X-Test-Id header) or `project:NUMBER`.
   * @throws ControlError not_found when no tape is in force
   */
  rewind(client?: string): Promise<void>;
  /** The emulator answers again; the tape that was in force. */
  unload(): Promise<LoadedTape | null>;
}

interface Answer<T> {
  tape: T;
}

export const tapesBy = (call: ControlCall): Tapes => ({
  load: async (tape, { mode, onMiss, timing, skipStatus } = {}) =>
    (
      await call<Answer<LoadedTape>>("POST", "tapes", {
        tape,
        mode,
        on_miss: onMiss,
        timing,
        skip_status: skipStatus,
      })
    ).tape,
  get: async () => (await call<Answer<LoadedTape | null>>("GET", "tapes")).tape,
  rewind: async (client) => void (await call("POST", "tapes/rewind", { client })),
  unload: async () => (await call<Answer<LoadedTape | null>>("DELETE", "tapes")).tape,
});
