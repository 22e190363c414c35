import type { ControlCall } from "../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import type {
  LoadedTape,
  LoadedTapeReply,
  MissPolicy,
  RecordingFacts,
  RecordingMode,
  RecordingOrder,
  TapeLedger,
} from "./shapes.ts";

export type { LoadedTape, RecordingFacts, RecordingMode, TapeLedger };

export interface TapeOptions {
  /** A request that is not on the tape: an error (`fail`, default), or the emulator or a sim's upstream answers it. */
  onMiss?: MissPolicy;
  /** How long answers take: `none` (default), `recorded`, `scale:0.5` of that, or `max:2000` ms. At most a minute. */
  timing?: string;
  /** Recorded responses with these statuses are not given, e.g. `[429]`. Default: all are. */
  skipStatus?: readonly number[];
  /**
   * Flags of another person or group are given where the tape has none of this one, and marked. Default: such a request
   * is missed.
   */
  approximate?: boolean;
}

/** Answers from a tape instead of the emulator. Captured events are kept as always. */
export interface Tapes {
  /** Answers from a tape, instead of the one before. @param tape Its name or path @throws ControlError */
  load(tape: string, options?: TapeOptions): Promise<LoadedTape>;
  /** With what was used of it (lists hold the first 1,000); null if the emulator answers. */
  get(): Promise<LoadedTape | null>;
  /**
   * Goes back to the beginning, for all clients or one: `test:NAME` (the X-Test-Id header) or `project:NUMBER`.
   * @throws ControlError not_found when no tape is loaded
   */
  rewind(client?: string): Promise<void>;
  /** The emulator answers again. Returns the tape that answered. */
  unload(): Promise<LoadedTape | null>;
}

export const tapesBy = (call: ControlCall): Tapes =>
  withOptions({
    load: async (tape, { onMiss, timing, skipStatus, approximate } = {}) => {
      const order = { tape, on_miss: onMiss, timing, skip_status: skipStatus, approximate };
      return (await call<{ tape: LoadedTape }>("POST", "tapes", order)).tape;
    },
    get: async () => (await call<LoadedTapeReply>("GET", "tapes")).tape,
    rewind: async (client) => void (await call("POST", "tapes/rewind", { client })),
    unload: async () => (await call<LoadedTapeReply>("DELETE", "tapes")).tape,
  });

/** What to record: as `POST /__sim/recording/start` takes it, with names as TypeScript has them. */
export interface RecordingOptions extends Omit<RecordingOrder, "allow_writes"> {
  /** In the mode `spy`: requests that change something may go to the upstream. Default: false. */
  allowWrites?: boolean;
}

/** Records what an upstream answers, one recording at a time. */
export interface Recording {
  /** Passes requests on to the upstream from now on, and records them. @throws ControlError */
  start(options: RecordingOptions): Promise<RecordingFacts>;
  /** Closes the tape; the emulator answers again. Does nothing if there is no recording. */
  stop(): Promise<RecordingFacts>;
  get(): Promise<RecordingFacts>;
}

export const recordingBy = (call: ControlCall): Recording => ({
  start: ({ allowWrites, ...order }) => call("POST", "recording/start", { ...order, allow_writes: allowWrites }),
  stop: () => call("POST", "recording/stop", {}),
  get: () => call("GET", "recording"),
});

const withOptions = knownOptions<Tapes>("tapes", {
  load: { 1: keysOf<TapeOptions>({ onMiss: true, timing: true, skipStatus: true, approximate: true }) },
});
