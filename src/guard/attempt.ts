import { type Place, placeOf, plainHost } from "../kernel/host-rules.ts";
import { maskKeys } from "../kernel/secrets.ts";
import type { BlockedCall } from "./types.ts";

/** A call on its way out. */
export interface Attempt extends Pick<BlockedCall, "method" | "url" | "stack"> {
  readonly place: Place;
}

/** `user:password@` and keys are nobody's business in a report. */
function shown(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  return maskKeys(copy.href);
}

const isHostAndPort = /^(\[[\da-f:.]+\]|[^:/?#\s]+):(\d{1,5})$/i;

/**
 * What a request is about. `base` is scheme, host and port it is sent to; `target` what stands in its first line: a
 * path, a whole URL (to a proxy), or host and port (CONNECT). undefined when it cannot be read as any of these.
 */
export function aimOf(method: string, base: string, target: string): Omit<Attempt, "stack"> | undefined {
  const [, host, port] = (method === "CONNECT" && isHostAndPort.exec(target)) || [];
  if (host !== undefined && port !== undefined) {
    return { method, url: target, place: { host: plainHost(host), port } };
  }
  const text = target.startsWith("/") ? base + target : target;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return { method, url: shown(url), place: placeOf(url) };
}

/** A connection of which no more is known. */
export const bareAttempt = (place: Place, stack: string): Attempt => ({
  method: null,
  url: `${place.host.includes(":") ? `[${place.host}]` : place.host}:${place.port}`,
  place,
  stack,
});

const framesKept = 30;

/** The frames of whoever called `below`. */
export function callerFrames(below: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = framesKept;
  Error.captureStackTrace(holder, below);
  Error.stackTraceLimit = limit;
  // The first line is the holder's own text.
  return (holder.stack ?? "").split("\n").slice(1).join("\n");
}
