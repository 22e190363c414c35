import type { Ledger, Tally, TapeProblem } from "../tape/types.ts";

/** What is to answer from now on; what is left out goes by the mode, which is `replay` unless told. */
export interface TapeOrder {
  /** A name (`tapes/NAME.tape.ndjson`) or a path. */
  readonly tape: string;
  /** `replay` or `none`: what is not on the tape is an error; `hybrid`: the emulator answers it. */
  readonly mode?: string;
  readonly onMiss?: string;
  /** `none`, `recorded`, `scale:0.5`, `max:2000`. */
  readonly timing?: string;
  /** Recorded answers with these statuses are not given. */
  readonly skipStatus?: readonly number[];
}

/** The tape in force, with what was used of it. */
export interface TapeInForce {
  readonly name: string;
  readonly file: string;
  /** Where it was recorded; null for an import of several. */
  readonly upstream: string | null;
  readonly created: string;
  readonly mode: string;
  readonly on_miss: string;
  readonly timing: string;
  readonly skip_status: readonly number[];
  /** Lines that could not be read. */
  readonly problems: readonly TapeProblem[];
  /** Exchanges that were recorded because the tape had no answer, with the mode `new`. */
  readonly added: number;
  readonly ledger: Ledger;
}

/** The tapes as the control API drives them. */
export interface Tapes {
  show(): TapeInForce | null;
  /** In short, of which nothing need be made. */
  tally(): (Tally & Pick<TapeInForce, "name" | "mode">) | null;
  /** Puts a tape in force, in the place of another. @throws SimError invalid_input */
  load(order: TapeOrder): Promise<TapeInForce>;
  /** The emulator answers again; what was used of the tape until now. */
  unload(): TapeInForce | null;
  /** Back to the beginning, for one client or all; its own ids are forgotten, too. */
  rewind(client?: string): void;
}
