import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** A call that was kept from reaching a guarded host. */
export interface BlockedCall {
  /** `POST`; null where only a connection is known (http/2, raw sockets). */
  method: string | null;
  /** `https://us.i.posthog.com/batch/`, keys masked; `us.i.posthog.com:443` where only a connection is known. */
  url: string;
  host: string;
  at: string;
  /** The caller's frames, a line each; "" where they are not known (calls of child processes that are no Node). */
  stack: string;
  /** The name of the test whose code made it, where that is known. */
  test?: string;
}

/** SDKs retry: calls beyond this number are blocked, but not kept. */
export const callsKept = 1_000;

export interface GuardOptions {
  /**
   * Hosts to guard as well as the service's own, e.g. your reverse proxy: `e.example.com`, `*.example.com`,
   * `app.example.com/ingest`, `*` for every host. Loopback is never guarded.
   */
  hosts?: readonly string[];
  /** Hosts that may be reached anyway, in the same notation. */
  allow?: readonly string[];
}

/** Keeps the code under test from the real service. Its end throws for calls not reported yet: SDKs swallow errors. */
export interface Guard extends Disposable, AsyncDisposable {
  /** Oldest first, at most 1,000. */
  calls(): readonly BlockedCall[];
  /** @throws EgressError naming every blocked call */
  verify(): void;
  /** Forgets the calls so far, as intended ones. */
  clear(): void;
  /** Ends it without throwing. Can be called twice, and in any order with other guards. */
  close(): void;
}

/** `POST https://us.i.posthog.com/batch/`, or `connection to` the address. */
const callText = ({ method, url }: Pick<BlockedCall, "method" | "url">): string =>
  method === null ? `connection to ${url}` : `${method} ${url}`;

/** A call to a guarded host: the error of the blocked code, and of `verify`. */
export class EgressError extends Error {
  readonly code = "PHX_EGRESS_BLOCKED";
  readonly calls: readonly BlockedCall[];

  constructor(message: string, calls: readonly BlockedCall[]) {
    super(message);
    this.name = "EgressError";
    this.calls = calls;
  }
}

const advice = (simUrl: string): string => `point the SDK's host at ${simUrl} (POSTHOG_HOST)`;

/** The error of the blocked call; its stack is the caller's. */
export function blockedError(call: BlockedCall, simUrl: string): EgressError {
  const error = new EgressError(`blocked: ${callText(call)} (phx-sim guard): ${advice(simUrl)}`, [call]);
  if (call.stack !== "") error.stack = `${error.name}: ${error.message}\n${call.stack}`;
  return error;
}

/** True for frames that do not identify the caller: Node's own, and packages. */
const isForeign = (frame: string): boolean => /\(?node:|[\\/]node_modules[\\/]/.test(frame);

const callerOf = (stack: string): string => {
  const frames = stack.split("\n").filter((line) => line.trim().startsWith("at "));
  const frame = frames.find((it) => !isForeign(it)) ?? frames[0];
  return frame === undefined ? "" : ` (${frame.trim()})`;
};

/** Calls that a cause of missing events names. */
const callsNamed = 2;

export function blockedCauses(calls: readonly BlockedCall[], simUrl: string): string[] {
  const lines = countedLines(calls.map((call) => `${callText(call)}${callerOf(call.stack)}`));
  const more = lines.length - callsNamed;
  return [
    ...lines.slice(0, callsNamed).map((it) => `blocked (phx-sim guard): ${it}: ${advice(simUrl)}`),
    ...(more > 0 ? [`${more} more calls were blocked`] : []),
  ];
}

const linesShown = 20;

/** Different lines, each once and with its number of times; of many the first, and the number of the others. */
export function countedLines(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const all = [...counts].map(([line, count]) => (count === 1 ? line : `${line} ×${count}`));
  return all.length > linesShown ? [...all.slice(0, linesShown), `  … and ${all.length - linesShown} more`] : all;
}

/** The error of `verify`. @param by The test that it fails: calls of others are marked */
export function callsError(calls: readonly BlockedCall[], simUrl: string, by?: string): EgressError {
  const ownerOf = ({ test }: BlockedCall): string =>
    test === undefined || by === undefined || test === by ? "" : ` by ${JSON.stringify(test)}, which has ended`;
  const lines = countedLines(calls.map((call) => `  ${callText(call)}${callerOf(call.stack)}${ownerOf(call)}`));
  const head = calls.length === 1 ? "1 call to a guarded host was" : `${calls.length} calls to guarded hosts were`;
  return new EgressError([`${head} blocked (phx-sim guard): ${advice(simUrl)}`, ...lines].join("\n"), calls);
}

/** Variables that carry the log's path and the rules to a child process. */
export const logVariable = "PHX_SIM_EGRESS_LOG";
export const rulesVariable = "PHX_SIM_EGRESS_RULES";

/** Long stacks are cut: short lines are appended whole, even by several processes at once. */
const stackKept = 2_000;

/** Appends a call synchronously: the process may end at any time. */
export function appendCall(file: string, call: BlockedCall): void {
  try {
    appendFileSync(file, `${JSON.stringify({ ...call, stack: call.stack.slice(0, stackKept) })}\n`);
  } catch {
    // The log was removed when the guard closed; the call stays blocked.
  }
}

function callsIn(line: string): BlockedCall[] {
  try {
    return [JSON.parse(line)];
  } catch {
    // Half a line: its process was killed while writing.
    return [];
  }
}

export const readCalls = (file: string): BlockedCall[] =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap(callsIn) : [];
