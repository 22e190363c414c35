import type { RecordingFacts, RecordingMode, RecordingOrder } from "../control/recording-port.ts";
import type { ControlCall } from "./call.ts";

export type { RecordingFacts, RecordingMode };

/** What to record: as `POST /__sim/recording/start` takes it, with names as TypeScript has them. */
export interface RecordingOptions extends Omit<RecordingOrder, "allow_writes" | "raw"> {
  /** In the mode `spy`: may requests that change something go to the upstream? Default false. */
  allowWrites?: boolean;
}

/** Recording of what an upstream answers, one at a time. */
export interface Recording {
  /** Passes requests on to the upstream from now on, and tapes them. @throws ControlError */
  start(options: RecordingOptions): Promise<RecordingFacts>;
  /** Ends it and closes the tape; the emulator answers again. Harmless when nothing is recorded. */
  stop(): Promise<RecordingFacts>;
  /** What is recorded, and how it goes. */
  get(): Promise<RecordingFacts>;
}

/** The recording's part of the client. */
export const recordingBy = (call: ControlCall): Recording => ({
  start: ({ allowWrites, ...order }) =>
    call("POST", "recording/start", {
      ...order,
      ...(allowWrites !== undefined && { allow_writes: allowWrites }),
    }),
  stop: () => call("POST", "recording/stop", {}),
  get: () => call("GET", "recording"),
});
