import {
  RecordingError,
  type RecordingFacts,
  type RecordingOrder,
  type Recordings,
} from "../control/recording-port.ts";
import type { Passing } from "../door/forward/passing.ts";
import type { RecordingParts, RunningRecording } from "./recording.ts";

/** What a sim that never recorded says. */
const nothing: RecordingFacts = {
  state: "off",
  mode: null,
  upstream: null,
  tape: null,
  redaction: null,
  started_at: null,
  passed: 0,
  in_flight: 0,
  bytes_sent: 0,
  bytes_received: 0,
  taped: 0,
  redacted: 0,
  aborted: 0,
  failed: 0,
  last_failure: null,
  trouble: null,
  differences: null,
};

/** The recordings of a sim: one at a time. What they need is loaded when the first one starts. */
export interface RecordingRoom extends Recordings {
  /** Who passes requests on now; the door asks with every request. */
  readonly current: Passing | undefined;
  /** Is anything recorded? Then unknown keys are adopted. */
  readonly isOn: boolean;
  /** Starts one that the sim's options order: its tape may be anywhere. @throws RecordingError */
  open(order: RecordingOrder): Promise<RecordingFacts>;
  /** Must be told once the port is known. @throws RecordingError when the upstream is the sim itself */
  listensAt(host: string, port: number): void;
}

export function createRecordings(parts: RecordingParts): RecordingRoom {
  let running: RunningRecording | undefined;
  let last = nothing;
  let isStarting = false;
  let own: { host: string; port: number } | undefined;

  async function begin(order: RecordingOrder, isTrusted: boolean): Promise<RecordingFacts> {
    if (running || isStarting)
      throw new RecordingError("running", "a recording is running already", "stop it first");
    isStarting = true;
    try {
      const { openRecording } = await import("./recording.ts");
      const opened = await openRecording(order, parts, isTrusted, own);
      running = opened;
      return opened.facts();
    } finally {
      isStarting = false;
    }
  }

  return {
    get current() {
      return running?.passing;
    },
    get isOn() {
      return running !== undefined;
    },
    start: (order) => begin(order, false),
    open: (order) => begin(order, true),
    async stop() {
      const ending = running;
      if (!ending) return last;
      running = undefined;
      last = await ending.close();
      return last;
    },
    facts: () => running?.facts() ?? last,
    listensAt(host, port) {
      own = { host, port };
      running?.listensAt(own);
    },
  };
}
