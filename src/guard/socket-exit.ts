import { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { isLoopbackHost, plainHost } from "../kernel/host-rules.ts";
import { bareAttempt, callerFrames } from "./attempt.ts";
import type { EgressError } from "./errors.ts";
import { type Exit, type Gate, replaceMethod } from "./exits.ts";
import type { Trail } from "./trail.ts";

/** Kept from fake timers: a refusal must not wait for somebody to turn a clock. */
const soon = setImmediate;

export interface Peer {
  readonly host: string;
  readonly port: string;
  /** The name that TLS asks for, where the host is an address that was looked up before. */
  readonly servername: string;
}

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** `connect` takes options, port and host, a path, or (from within Node) a list with the options in front. */
export function peerOf(args: readonly unknown[]): Peer | undefined {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  const isObject = typeof first === "object" && first !== null;
  const { host, port, path, servername } = isObject
    ? (first as Record<string, unknown>)
    : { host: typeof args[1] === "string" ? args[1] : "", port: first, path: undefined, servername: "" };
  if (textOf(path) !== "" || !/^\d+$/.test(textOf(port))) return undefined;
  return {
    host: plainHost(textOf(host) || "localhost"),
    port: textOf(port),
    servername: plainHost(textOf(servername)),
  };
}

function refusal(
  gate: Gate,
  trail: Trail,
  peer: Peer,
  entry: (...args: never[]) => unknown,
): EgressError | undefined {
  const known = trail.take(peer.host);
  if (known) return gate.refuse(known);
  // On this machine a name is a test double's.
  const names = isLoopbackHost(peer.host) ? [] : [peer.host, peer.servername];
  const name = names.find((host) => host !== "" && gate.concerns({ host, port: peer.port }));
  return name === undefined
    ? undefined
    : gate.refuse(bareAttempt({ host: name, port: peer.port }, callerFrames(entry)));
}

/** A name that never exists: it is not an address, so that `lookup` is asked. */
const nowhere = "blocked.invalid";

/** Options with which connecting fails as it does when a name cannot be found, but with this error. */
const failing = (port: string, error: Error) => ({
  host: nowhere,
  port: Number(port),
  lookup: (_name: string, _options: unknown, tell: (error: Error) => void) => void soon(() => tell(error)),
});

/** Every connection of `net`, `tls`, `http`, `https`, `http2` and `fetch` begins here, before its name is looked up. */
export const socketExit =
  (trail: Trail): Exit =>
  (gate) =>
    replaceMethod(
      Socket.prototype,
      "connect",
      (original, isOn) =>
        function connect(this: Socket, ...args: unknown[]): Socket {
          const peer = isOn() ? peerOf(args) : undefined;
          const error = peer && refusal(gate, trail, peer, connect);
          if (peer === undefined || error === undefined) return Reflect.apply(original, this, args);
          trail.refused.add(this);
          return Reflect.apply(original, this, [failing(peer.port, error)]);
        },
    );
