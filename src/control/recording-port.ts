import type { DifferenceGroup } from "../tape/differences/group.ts";

/** What a running sim can be told to do with requests besides answering them itself. */
export const recordingModes = ["record", "all", "spy", "diff"] as const;
export type RecordingMode = (typeof recordingModes)[number];

export const redactions = ["default", "pii"] as const;

/** What to record, and where. */
export interface RecordingOrder {
  /**
   * `record` (default): everything goes to the upstream, and a tape that exists is continued; `all`: the same, and a tape
   * that exists is replaced when the recording ends with every request answered; `spy`: what the emulator has no row for, GET only unless
   * `allow_writes`; `diff`: everything, and the emulator's answers are compared.
   */
  mode?: RecordingMode;
  /** `us`, `eu`, or the address of a self-hosted service. */
  upstream: string;
  /** A name (`checkout` is `tapes/checkout.tape.ndjson`) or a path; absent: nothing is written. */
  tape?: string;
  /** Globs over paths: only these are taped; all are passed on. */
  include?: readonly string[];
  /** Globs over paths that are not taped. */
  exclude?: readonly string[];
  /** `pii` takes personal data out as well as secrets. */
  redact?: (typeof redactions)[number];
  /** Nothing is taken out of what is written and shown. The control API cannot order it. */
  raw?: boolean;
  /** With `spy`: may requests that change something go to the upstream? */
  allow_writes?: boolean;
}

/** How a recording is, or was. */
export interface RecordingFacts {
  state: "off" | "recording" | "stopped";
  mode: RecordingMode | null;
  upstream: string | null;
  /** The tape's file. */
  tape: string | null;
  redaction: string | null;
  started_at: string | null;
  /** Requests that were passed on, and those of them that are under way. */
  passed: number;
  in_flight: number;
  /** Bytes of bodies as they travelled. */
  bytes_sent: number;
  bytes_received: number;
  /** Exchanges on the tape; values that were taken out of them. */
  taped: number;
  redacted: number;
  /** Cut off by either side. */
  aborted: number;
  /** Requests that the upstream did not answer, and why the last one was not. */
  failed: number;
  last_failure: string | null;
  /** Why the tape is not whole; traffic goes on all the same. */
  trouble: string | null;
  /** With `diff`: how the emulator's answers differ from the upstream's. */
  differences: { compared: number; differing: number; groups: DifferenceGroup[] } | null;
}

/** Starts and ends recordings, one at a time. */
export interface Recordings {
  /** @throws RecordingError */
  start(order: RecordingOrder): Promise<RecordingFacts>;
  /** Ends it and closes the tape; harmless when there is none. */
  stop(): Promise<RecordingFacts>;
  facts(): RecordingFacts;
}

/** Why a recording cannot start, and what to do about it. */
export class RecordingError extends Error {
  readonly code: "upstream" | "offline" | "tape" | "running";
  readonly hint: string;

  constructor(code: RecordingError["code"], message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "RecordingError";
    this.code = code;
    this.hint = hint;
  }
}
