import type { BlockedCall } from "./types.ts";

/** `POST https://us.i.posthog.com/batch/`, or just the address. */
const callText = ({ method, url }: Pick<BlockedCall, "method" | "url">): string =>
  method === null ? `connection to ${url}` : `${method} ${url}`;

/** A call to a guarded host: what the blocked code gets, and what `verify` throws. */
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

/** What the blocked call fails with; its stack is the caller's. */
export function blockedError(call: BlockedCall, simUrl: string): EgressError {
  const error = new EgressError(`blocked: ${callText(call)} (phx-sim guard): ${advice(simUrl)}`, [call]);
  if (call.stack !== "") error.stack = `${error.name}: ${error.message}\n${call.stack}`;
  return error;
}

/** Frames that say nothing about who called: Node's own, and packages that carry the call out. */
const isForeign = (frame: string): boolean => /\(?node:|[\\/]node_modules[\\/]/.test(frame);

const callerOf = (stack: string): string => {
  const frames = stack.split("\n").filter((line) => line.trim().startsWith("at "));
  const frame = frames.find((it) => !isForeign(it)) ?? frames[0];
  return frame === undefined ? "" : ` (${frame.trim()})`;
};

/** The same call from the same place is told once, with how often. */
function tellTogether(calls: readonly BlockedCall[]): string[] {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const line = `  ${callText(call)}${callerOf(call.stack)}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} ×${count}`));
}

const linesShown = 20;

/** What `verify` throws. */
export function callsError(calls: readonly BlockedCall[], simUrl: string): EgressError {
  const lines = tellTogether(calls);
  const rest = lines.length > linesShown ? [`  … and ${lines.length - linesShown} more`] : [];
  const head =
    calls.length === 1 ? "1 call to a guarded host was" : `${calls.length} calls to guarded hosts were`;
  return new EgressError(
    [`${head} blocked (phx-sim guard): ${advice(simUrl)}`, ...lines.slice(0, linesShown), ...rest].join("\n"),
    calls,
  );
}
