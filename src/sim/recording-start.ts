import { RecordingError, type RecordingFacts, type RecordingOrder } from "../control/recording-port.ts";
import type { Listener } from "../door/listener.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Mode } from "../tape/types.ts";
import type { RecordingRoom } from "./recordings.ts";
import { type SimOptions, StartError } from "./types.ts";

/** How a sim that records from its start on is started. */

const recorded = new Map<Mode, RecordingOrder["mode"]>([
  ["record", "record"],
  ["all", "all"],
  ["spy", "spy"],
  ["diff", "diff"],
]);

/** May upstreams be reached? Under CI only this machine's own, unless told. */
export function offlineBy({ offline }: SimOptions): "no" | "told" | "ci" {
  if (offline !== undefined) return offline ? "told" : "no";
  return /^(|0|false|no)$/i.test(process.env.CI ?? "") ? "no" : "ci";
}

function orderOf(options: SimOptions): RecordingOrder | undefined {
  const mode = options.mode && recorded.get(options.mode);
  if (mode === undefined) return undefined;
  const { upstream, tape, include, exclude, redact, raw, allowWrites } = options;
  if (upstream === undefined)
    throw new StartError(
      "upstream",
      `the mode ${mode} needs an upstream`,
      "give us, eu, or an address such as https://posthog.example.com",
    );
  return {
    mode,
    upstream,
    ...(tape !== undefined && { tape }),
    ...(include && { include }),
    ...(exclude && { exclude }),
    ...(redact && { redact }),
    ...(raw !== undefined && { raw }),
    ...(allowWrites !== undefined && { allow_writes: allowWrites }),
  };
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

/** What the facts of a sim say of its recording; null: there was none. */
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
