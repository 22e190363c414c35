import type { JsonObject } from "../../base/json.ts";
import { durationText, readDuration } from "../../base/time-text.ts";
import type { Listener } from "../../server/listener.ts";
import { type SimOptions, StartError } from "../../sim/types.ts";
import type { TapeHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { TapeError } from "../format/tape-error.ts";
import { type Mode, RecordingError, type RecordingRequest, type Recordings } from "../ports.ts";
import type { RecordingFacts } from "../shapes.ts";
import type { Passing } from "../upstream/forward.ts";
import type { RecordingParts, RunningRecording } from "./recording.ts";

/**
 * The options with the mode that they come to. `once` and `new` record where there is no tape yet, or one that is too
 * old; an upstream alone means `record`. @throws StartError
 */
export async function withMode(options: SimOptions): Promise<SimOptions> {
  const { mode, tape, upstream, onMiss, maxAge } = options;
  if (mode === "once" || mode === "new") {
    if (tape === undefined)
      throw new StartError(
        "tape",
        `the mode ${mode} needs a tape`,
        "name one: --tape NAME, or `tape` in code",
      );
    return { ...options, mode: await modeFor(mode, tape, options) };
  }
  if (maxAge !== undefined)
    throw new StartError(
      "option",
      `maxAge does not go with the mode ${mode ?? "replay"}`,
      "a tape can be recorded again with the modes once and new",
    );
  if (mode === undefined && upstream !== undefined && onMiss === undefined)
    return { ...options, mode: "record" };
  return options;
}

/** What `once` and `new` come to for this tape. @throws StartError */
async function modeFor(mode: "once" | "new", tape: string, options: SimOptions): Promise<Mode> {
  const ageLimit = ageOf(options.maxAge);
  const file = tapePlace(tape, process.cwd());
  const found = await filledTape(file);
  if (found === undefined) {
    const closed = await closedBy(options);
    if (closed === undefined) return "record";
    throw new StartError(
      "offline",
      `there is no tape ${file} to replay, and it cannot be recorded: ${closed.message}`,
      `record it elsewhere, or ${closed.hint}`,
    );
  }
  const age = Date.now() - Date.parse(found.created);
  if (ageLimit !== undefined && age > ageLimit) {
    const closed = await closedBy(options);
    if (closed === undefined) return "all";
    options.onNotice?.(`${file} is ${durationText(age)} old and is replayed anyway: ${closed.message}`);
  }
  if (mode === "once") return "replay";
  const closed = await closedBy(options);
  if (closed === undefined) return "new";
  options.onNotice?.(`what ${file} has no answer for is an error, not recorded: ${closed.message}`);
  return "replay";
}

/** @throws StartError option */
function ageOf(maxAge: string | undefined): number | undefined {
  if (maxAge === undefined) return undefined;
  const ms = readDuration(maxAge);
  if (ms !== undefined && ms > 0) return ms;
  throw new StartError(
    "option",
    `maxAge cannot be ${JSON.stringify(maxAge)}`,
    "give an age such as 7d or 12h",
  );
}

/** Why the upstream must not be reached; undefined: it may, or there is none. @throws StartError */
async function closedBy(options: SimOptions): Promise<RecordingError | undefined> {
  if (options.upstream === undefined) return undefined;
  const { upstreamsOf } = await import("./recording.ts");
  try {
    upstreamsOf(options.upstream, offlineBy(options));
    return undefined;
  } catch (error) {
    if (error instanceof RecordingError && error.code === "offline") return error;
    throw startErrorOf(error);
  }
}

/** The header of a tape that has something to replay; undefined: there is none. @throws StartError */
async function filledTape(file: string): Promise<TapeHeader | undefined> {
  // Most sims never read a tape.
  const { filledHeader } = await import("../format/read.ts");
  try {
    return await filledHeader(file);
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new StartError("tape", error.message, error.hint, error);
  }
}

/** How a sim that records from its start on is started. */

const recorded = new Map<Mode, RecordingRequest["mode"]>([
  ["record", "record"],
  ["all", "all"],
  ["spy", "spy"],
  ["diff", "diff"],
]);

/** Why upstreams must not be reached (default under CI: those of other machines). */
export function offlineBy({ offline }: SimOptions): "no" | "option" | "ci" {
  if (offline !== undefined) return offline ? "option" : "no";
  return /^(|0|false|no)$/i.test(process.env.CI ?? "") ? "no" : "ci";
}

function orderOf(options: SimOptions): RecordingRequest | undefined {
  const mode = options.mode && recorded.get(options.mode);
  if (mode === undefined) return undefined;
  const { upstream, tape, include, exclude, redact, raw, allowWrites } = options;
  if (upstream === undefined)
    throw new StartError(
      "upstream",
      `the mode ${mode} needs an upstream`,
      "give us, eu, or an address such as https://posthog.example.com",
    );
  return { mode, upstream, tape, include, exclude, redact, raw, allow_writes: allowWrites };
}

const startCodes = {
  upstream: "upstream",
  offline: "offline",
  tape: "tape",
  running: "upstream",
} as const;

/** A recording that cannot start is a sim that cannot start. */
export const startErrorOf = (error: unknown): unknown =>
  error instanceof RecordingError
    ? new StartError(startCodes[error.code], error.message, error.hint, error)
    : error;

/** Starts the recording that the options order, if any, and then the listener: no request comes before it is ready. */
export async function listenRecording(
  recordings: RecordingRoom,
  options: SimOptions,
  open: () => Promise<Listener>,
): Promise<Listener> {
  const order = orderOf(options);
  let listener: Listener | undefined;
  try {
    if (order) await recordings.open(order);
    listener = await open();
    recordings.listensAt(options.host ?? "127.0.0.1", listener.port);
    return listener;
  } catch (error) {
    await listener?.close(0);
    await recordings.stop();
    throw startErrorOf(error);
  }
}

/** The recording in the facts of a sim; null if there was none. */
export const recordingInShort = ({
  state,
  mode,
  upstream,
  tape,
  trouble,
}: RecordingFacts): JsonObject | null => (state === "off" ? null : { state, mode, upstream, tape, trouble });

/** A request in process while upstreams answer: it goes the way of all others. */
export async function overOwnSocket(request: Request, url: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers, signal } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  return fetch(`${url}${pathname}${search}`, { method, headers, body, signal, redirect: "manual" });
}

/** The facts of a sim that never recorded. */
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
  open(order: RecordingRequest): Promise<RecordingFacts>;
  /** To be called once the port is known. @throws RecordingError when the upstream is the sim itself */
  listensAt(host: string, port: number): void;
}

export function createRecordings(parts: RecordingParts): RecordingRoom {
  let running: RunningRecording | undefined;
  let last = nothing;
  let isStarting = false;
  let own: { host: string; port: number } | undefined;

  async function begin(order: RecordingRequest, isTrusted: boolean): Promise<RecordingFacts> {
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
