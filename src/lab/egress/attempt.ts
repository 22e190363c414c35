import { AsyncLocalStorage } from "node:async_hooks";
import { maskKeys } from "../../kernel/base/secrets.ts";
import { placeOf, plainHost, type RequestTarget } from "../../kernel/http/host-rules.ts";
import type { BlockedCall, EgressError } from "./blocked-call.ts";
import { looksLikeSdk } from "./browser-traffic.ts";

export interface RunningTest {
  readonly name: string;
}

interface TestSource {
  /** The test whose code runs; undefined if that is not known. */
  current(): RunningTest | undefined;
  isRunning(test: RunningTest): boolean;
}

let source: TestSource = { current: () => undefined, isRunning: () => false };

export function knowTests(it: TestSource): void {
  source = it;
}

export const currentTest = (): RunningTest | undefined => source.current();

export const isRunning = (test: RunningTest): boolean => source.isRunning(test);

export interface Place extends RequestTarget {
  /** True for a request that looks like one of PostHog's SDKs, to any host. */
  readonly isOfSdk?: boolean;
}

export interface Attempt extends Pick<BlockedCall, "method" | "url" | "stack"> {
  readonly place: Place;
  readonly test: RunningTest | undefined;
  refusal?: EgressError;
}

type Aim = Pick<Attempt, "method" | "url" | "place">;

interface Sent {
  readonly agent?: string | undefined;
  /** Text; a compressed body is none. */
  readonly body?: unknown;
}

function shown(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  return maskKeys(copy.href);
}

const isHostAndPort = /^(\[[\da-f:.]+\]|[^:/?#\s]+):(\d{1,5})$/i;

/** `base`: where it is sent; `target`: from its first line. Undefined: no path, whole URL, or host and port. */
export function aimOf(method: string, base: string, target: string, { agent, body }: Sent = {}): Aim | undefined {
  const [, host, port] = (method === "CONNECT" && isHostAndPort.exec(target)) || [];
  if (host !== undefined && port !== undefined) {
    return { method, url: target, place: { host: plainHost(host), port } };
  }
  const text = target.startsWith("/") ? base + target : target;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const request = { method, url, agent, body: () => (typeof body === "string" ? body : "") };
  return { method, url: shown(url), place: { ...placeOf(url), isOfSdk: looksLikeSdk(request) } };
}

export const bareAttempt = (place: RequestTarget, stack: string): Attempt => ({
  method: null,
  url: `${place.host.includes(":") ? `[${place.host}]` : place.host}:${place.port}`,
  place,
  stack,
  test: currentTest(),
});

const framesKept = 30;

export function callerFrames(below: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = framesKept;
  Error.captureStackTrace(holder, below);
  Error.stackTraceLimit = limit;
  // The first line describes the holder.
  return (holder.stack ?? "").split("\n").slice(1).join("\n");
}

export interface Gate {
  concerns(place: Place): boolean;
  /** Records the call with every guard that refuses it, and returns the error that the call must fail with. */
  refuse(attempt: Attempt): EgressError | undefined;
}

/** Watches one way out of the process; the function that it returns ends that. */
export type Exit = (gate: Gate) => () => void;

/**
 * Replaces a method; the function that it returns restores it, unless other code has replaced it since: ours then stays
 * below theirs and passes everything on.
 */
export function replaceMethod<Host extends object, Name extends keyof Host>(
  host: Host,
  name: Name,
  wrap: (original: Host[Name], isOn: () => boolean) => Host[Name],
): () => void {
  const original = host[name];
  let on = true;
  const ours = wrap(original, () => on);
  host[name] = ours;
  return () => {
    on = false;
    if (host[name] === ours) host[name] = original;
  };
}

/** The first guarded one, with the stack frames of the caller of `entry`; frames are costly, so only then. */
export function guardedOf(
  gate: Gate,
  aims: readonly (Aim | undefined)[],
  entry: (...args: never[]) => unknown,
): Attempt | undefined {
  const aim = aims.find((it) => it !== undefined && gate.concerns(it.place));
  return aim && { ...aim, stack: callerFrames(entry), test: currentTest() };
}

/** Guarded requests that wait for a connection: they give it its URL and its caller. */
export function createTrail() {
  const storage = new AsyncLocalStorage<Attempt | undefined>();
  const taken = new WeakSet<Attempt>();
  // The latest of each host. Only guarded hosts come here, so it stays small.
  const left = new Map<string, Attempt>();
  return {
    /** Runs `action`, whose connections are for this attempt; undefined: for nothing that is guarded. */
    during: <T>(attempt: Attempt | undefined, action: () => T): T => storage.run(attempt, action),
    /** For requests whose connection is not opened below the call that makes them. */
    leave: (attempt: Attempt): void => void left.set(attempt.place.host, attempt),
    /** The attempt that a connection to this host, opened now, is for. Each attempt names one connection only. */
    take(host: string): Attempt | undefined {
      const running = storage.getStore();
      const found = running && !taken.has(running) ? running : left.get(host);
      if (found) taken.add(found);
      left.delete(host);
      return found;
    },
    /** Sockets that were refused: later messages on them belong to the same call. */
    refused: new WeakSet<object>(),
    /** Frees it: each test may have its own. */
    end: () => storage.disable(),
  };
}

export type Trail = ReturnType<typeof createTrail>;
