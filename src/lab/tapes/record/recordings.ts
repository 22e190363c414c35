import type { JsonObject } from "../../../kernel/base/json.ts";
import { durationText, readDuration } from "../../../kernel/base/time-text.ts";
import type { TapeHeader } from "../format/header.ts";
import { tapePlace } from "../format/place.ts";
import { TapeError } from "../format/tape-error.ts";
import { type RecordingRequest, TapeOrderError, type TapeSettings } from "../ports.ts";
import type { RecordingFacts } from "../shapes.ts";
import type { Passing } from "../upstream/forward.ts";
import type { Offline } from "../upstream/upstreams.ts";
import type { OwnPlace, RecordingParts, RunningRecording } from "./recording.ts";

type ModeFacts = Pick<TapeSettings, "mode" | "replacesTape">;

/** `once` and `new` record where there is no tape yet, or one that is too old. @throws TapeOrderError */
export async function modeOf(options: TapeSettings): Promise<ModeFacts> {
  const { mode, tape, upstream, onMiss, maxAge } = options;
  if (mode === "once" || mode === "new") {
    if (tape !== undefined) return modeFor(mode, tape, options);
    throw new TapeOrderError("tape", `the mode ${mode} needs a tape`, "name one: --tape NAME, or `tape` in code");
  }
  if (maxAge !== undefined)
    throw new TapeOrderError(
      "maxAge",
      `maxAge does not go with the mode ${mode ?? "replay"}`,
      "a tape can be recorded again with the modes once and new",
    );
  return { mode: mode === undefined && upstream !== undefined && onMiss === undefined ? "record" : mode };
}

/** The mode that `once` and `new` result in for this tape. @throws TapeOrderError */
async function modeFor(mode: "once" | "new", tape: string, options: TapeSettings): Promise<ModeFacts> {
  const ageLimit = ageOf(options.maxAge);
  const file = tapePlace(tape, process.cwd());
  const found = await filledTape(file);
  const closed = () => closedBy(options);
  if (found === undefined) {
    const reason = await closed();
    if (reason === undefined) return { mode: "record" };
    throw new TapeOrderError(
      "offline",
      `there is no tape ${file} to replay, and it cannot be recorded: ${reason.message}`,
      `record it elsewhere, or ${reason.hint}`,
    );
  }
  const age = Date.now() - Date.parse(found.created);
  if (ageLimit !== undefined && age > ageLimit) {
    const reason = await closed();
    if (reason === undefined) return { mode: "record", replacesTape: true };
    options.onNotice?.(`${file} is ${durationText(age)} old and is replayed anyway: ${reason.message}`);
  }
  if (mode === "once") return { mode: "replay" };
  const reason = await closed();
  if (reason === undefined) return { mode };
  options.onNotice?.(`what ${file} has no response for is an error, not recorded: ${reason.message}`);
  return { mode: "replay" };
}

/** @throws TapeOrderError */
function ageOf(maxAge: string | undefined): number | undefined {
  if (maxAge === undefined) return undefined;
  const ms = readDuration(maxAge);
  if (ms !== undefined && ms > 0) return ms;
  throw new TapeOrderError("maxAge", `maxAge cannot be ${JSON.stringify(maxAge)}`, "give an age such as 7d or 12h");
}

/** Why the upstream must not be reached; undefined: it may, or there is none. @throws TapeOrderError */
async function closedBy(options: TapeSettings): Promise<TapeOrderError | undefined> {
  if (options.upstream === undefined) return undefined;
  const { openUpstreams } = await import("../upstream/upstreams.ts");
  try {
    openUpstreams(options.upstream, offlineBy(options));
    return undefined;
  } catch (error) {
    if (error instanceof TapeOrderError && error.key === "offline") return error;
    throw error;
  }
}

/** The header of a tape that has something to replay; undefined: there is none. @throws TapeOrderError */
async function filledTape(file: string): Promise<TapeHeader | undefined> {
  // most sims never read a tape
  const { filledHeader } = await import("../format/read.ts");
  try {
    return await filledHeader(file);
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    throw new TapeOrderError("tape", error.message, error.hint, error);
  }
}

/** Why upstreams must not be reached (default under CI: those of other machines). */
export function offlineBy({ offline }: TapeSettings): Offline {
  if (offline !== undefined) return offline ? "option" : "no";
  return /^(|0|false|no)$/i.test(process.env.CI ?? "") ? "no" : "ci";
}

/** The recording that the options order; undefined: none. @throws TapeOrderError */
function orderOf(options: TapeSettings): RecordingRequest | undefined {
  const { mode, upstream, tape, include, exclude, redact, raw, allowWrites, replacesTape } = options;
  if (mode !== "record" && mode !== "spy") return undefined;
  if (upstream === undefined)
    throw new TapeOrderError(
      "upstream",
      `the mode ${mode} needs an upstream`,
      "give us, eu, or an address such as https://posthog.example.com",
    );
  return { mode, upstream, tape, include, exclude, redact, raw, allow_writes: allowWrites, replacesTape };
}

/** The recording begins first: no request comes before it is ready. @throws TapeOrderError */
export async function listenRecording<L extends { readonly port: number; close(ms: number): Promise<void> }>(
  recordings: Recordings,
  options: TapeSettings,
  open: () => Promise<L>,
): Promise<L> {
  const order = orderOf(options);
  let listener: L | undefined;
  try {
    if (order) await recordings.start(order, true);
    listener = await open();
    recordings.listensAt(options.host ?? "127.0.0.1", listener.port);
    return listener;
  } catch (error) {
    await listener?.close(0);
    await recordings.stop();
    throw error;
  }
}

export const recordingInShort = ({ state, mode, upstream, tape, trouble }: RecordingFacts): JsonObject | null =>
  state === "off" ? null : { state, mode, upstream, tape, trouble };

/** Sends a request in process over the socket while upstreams answer, as all others come. */
export async function overOwnSocket(request: Request, url: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers, signal } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  return fetch(`${url}${pathname}${search}`, { method, headers, body, signal, redirect: "manual" });
}

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
};

/** The recordings of a sim: one at a time. What they need is loaded when the first one starts. */
export class Recordings {
  readonly #parts: RecordingParts;
  #running: RunningRecording | undefined;
  #last = nothing;
  #isStarting = false;
  #own: OwnPlace | undefined;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  get current(): Passing | undefined {
    return this.#running?.passing;
  }

  /** True while a recording runs: unknown keys are adopted. */
  get isOn(): boolean {
    return this.#running !== undefined;
  }

  facts(): RecordingFacts {
    return this.#running?.facts() ?? this.#last;
  }

  /** @param isTrusted The sim's options order it: its tape may be anywhere @throws TapeOrderError */
  async start(order: RecordingRequest, isTrusted = false): Promise<RecordingFacts> {
    if (this.#running || this.#isStarting)
      throw new TapeOrderError("running", "a recording is running already", "stop it first");
    this.#isStarting = true;
    try {
      const { RunningRecording } = await import("./recording.ts");
      this.#running = await RunningRecording.open(order, this.#parts, isTrusted, this.#own);
      return this.#running.facts();
    } finally {
      this.#isStarting = false;
    }
  }

  /** Ends the recording and closes its tape; does nothing if there is none. */
  async stop(): Promise<RecordingFacts> {
    const ending = this.#running;
    this.#running = undefined;
    if (ending) this.#last = await ending.close();
    return this.#last;
  }

  /** To be called once the port is known. @throws TapeOrderError when the upstream is the sim itself */
  listensAt(host: string, port: number): void {
    this.#own = { host, port };
    this.#running?.listensAt(this.#own);
  }
}
