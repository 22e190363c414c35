import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent, ClientRequest } from "node:http";
import { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { isNode } from "../../kernel/base/runtime.ts";
import { isLoopbackHost, plainHost } from "../../kernel/http/host-rules.ts";
import {
  aimOf,
  bareAttempt,
  callerFrames,
  type Exit,
  type Gate,
  guardedOf,
  replaceMethod,
  type Trail,
} from "./attempt.ts";
import type { EgressError } from "./blocked-call.ts";
import { isAgentOfSdk } from "./browser-traffic.ts";

/** A request in undici's diagnostics, both of Node's copy and of the package. */
export interface SentRequest {
  readonly origin: string | URL;
  readonly path: string;
  readonly method: string;
  /** A text or a list, by undici's version. */
  readonly headers?: unknown;
  readonly body?: unknown;
}

const originOf = ({ origin }: SentRequest): string => String(origin).replace(/\/$/, "");

const agentIn = (headers: unknown): string | undefined =>
  /user-agent(?:,|: *)([^\r\n,]*)/i.exec(String(headers ?? ""))?.[1];

export const aimOfSent = (request: SentRequest) =>
  aimOf(request.method, originOf(request), request.path, { agent: agentIn(request.headers), body: request.body });

/** `fetch` connects in a later turn: its arguments and its caller are remembered until then. Elsewhere than in Node it fails here. */
const namedFetches =
  (trail: Trail): Exit =>
  (gate) =>
    // Browser-like environments may lack `fetch`, and must not get one here.
    typeof globalThis.fetch !== "function"
      ? () => {}
      : replaceMethod(
          globalThis,
          "fetch",
          (original, isOn) =>
            function fetch(this: unknown, ...args: Parameters<typeof globalThis.fetch>) {
              const pass = () => Reflect.apply(original, this, args);
              if (!isOn()) return pass();
              const attempt = guardedOf(gate, [aimOfFetch(args)], fetch);
              const isRefused = attempt && !isNode && original === ownFetch;
              const answer = isRefused ? failed(gate.refuse(attempt)) : trail.during(attempt, pass);
              if (!attempt || !isAgentOfSdk(agentOf(args))) return answer;
              return answer.catch((error: unknown) => {
                if (!attempt.refusal) throw error;
                return refusedAnswer(attempt.refusal);
              });
            },
        );

/** The runtime's own, if no other tool has replaced it before: what that answers does not leave the process. */
const ownFetch = globalThis.fetch;

const failed = (cause: EgressError | undefined) => Promise.reject(new TypeError("fetch failed", { cause }));

/** SDKs retry after a failed connection, for seconds; they do not after this status. */
const refusedAnswer = ({ message }: EgressError): Response =>
  new Response(`${message}\n`, { status: 403, statusText: "Blocked by the phx-sim guard" });

type FetchArguments = Parameters<typeof globalThis.fetch>;

function agentOf([input, init]: FetchArguments): string | undefined {
  const headers = init?.headers ?? (input instanceof Request ? input.headers : undefined);
  return headers && (new Headers(headers).get("user-agent") ?? undefined);
}

function aimOfFetch(args: FetchArguments) {
  const [input, init] = args;
  const isRequest = input instanceof Request;
  const method = String(init?.method ?? (isRequest ? input.method : "GET")).toUpperCase();
  return aimOf(method, "", isRequest ? input.url : String(input), { agent: agentOf(args), body: init?.body });
}

export function listen(name: string, listener: (message: unknown) => void): () => void {
  subscribe(name, listener);
  return () => void unsubscribe(name, listener);
}

/** For requests of undici that do not come from the global `fetch`. */
const announcedFetches =
  (trail: Trail): Exit =>
  (gate) => {
    const onCreate = (message: unknown) => {
      const { request } = message as { request: SentRequest };
      const attempt = guardedOf(gate, [aimOfSent(request)], onCreate);
      if (attempt) trail.leave(attempt);
    };
    return listen("undici:request:create", onCreate);
  };

/** Stops requests over connections that were open before, or lead to a proxy: nothing has been written yet. */
const stoppedFetches =
  (trail: Trail): Exit =>
  (gate) => {
    const onSend = (message: unknown) => {
      const { request, socket } = message as { request: SentRequest; socket: Socket };
      const aims = trail.refused.has(socket) ? [] : [aimOfSent(request)];
      const attempt = guardedOf(gate, aims, onSend);
      if (attempt === undefined) return;
      const known = trail.take(attempt.place.host);
      trail.refused.add(socket);
      socket.destroy(gate.refuse(known?.url === attempt.url ? known : attempt));
    };
    return listen("undici:client:sendHeaders", onSend);
  };

export const fetchExits = (trail: Trail): readonly Exit[] => [
  namedFetches(trail),
  announcedFetches(trail),
  stoppedFetches(trail),
];

/** Agents offer this method to requests; Node documents neither it nor its arguments. */
export type OpenAgent = { addRequest(request: ClientRequest, ...rest: unknown[]): void };
type OpenRequest = { onSocket(socket: Socket | null, error?: Error): void };

export const agents = Agent.prototype as unknown as OpenAgent;
const requests = ClientRequest.prototype as unknown as OpenRequest;

/** Possible targets of a request: its `Host` header, which has the port, and the host that it connects to. */
export function aimsOf(request: ClientRequest) {
  const header = String(request.getHeader("host") ?? "");
  // A named host behind a loopback address is a test double, or a proxy that gets the whole URL.
  const names = isLoopbackHost(request.host) ? [request.host] : [header, request.host];
  const agent = String(request.getHeader("user-agent") ?? "");
  return names.map((name) => aimOf(request.method, `${request.protocol}//${name}`, request.path, { agent }));
}

/** False for a stand-in by which another tool answers: without a handle, nothing leaves the process. */
const isReal = (socket: Socket): boolean => {
  const handle: unknown = Reflect.get(socket, "_handle");
  return typeof handle === "object" && handle !== null;
};

const namedRequests =
  (trail: Trail): Exit =>
  (gate) =>
    replaceMethod(
      agents,
      "addRequest",
      (original, isOn) =>
        function addRequest(this: OpenAgent, request: ClientRequest, ...rest: unknown[]) {
          const pass = () => Reflect.apply(original, this, [request, ...rest]);
          if (!isOn()) return pass();
          return trail.during(guardedOf(gate, aimsOf(request), addRequest), pass);
        },
    );

const stoppedRequests =
  (trail: Trail): Exit =>
  (gate) =>
    replaceMethod(
      requests,
      "onSocket",
      (original, isOn) =>
        function onSocket(this: OpenRequest, socket: Socket | null, ...rest: [Error?]) {
          const isOpen = isOn() && socket !== null && !trail.refused.has(socket) && isReal(socket);
          const aims = isOpen && this instanceof ClientRequest ? aimsOf(this) : [];
          const attempt = guardedOf(gate, aims, onSocket);
          const error = attempt ? gate.refuse(attempt) : undefined;
          if (error === undefined) return Reflect.apply(original, this, [socket, ...rest]);
          socket?.destroy();
          return Reflect.apply(original, this, [null, error]);
        },
    );

export const httpExits = (trail: Trail): readonly Exit[] => [namedRequests(trail), stoppedRequests(trail)];

/** The real one: a refusal must not wait for a test to advance fake timers. */
const soon = setImmediate;

export interface Peer {
  readonly host: string;
  readonly port: string;
  /** The name in the TLS handshake, where the host is an address that was resolved before. */
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

function refusal(gate: Gate, trail: Trail, peer: Peer, entry: (...args: never[]) => unknown): EgressError | undefined {
  const known = trail.take(peer.host);
  if (known) return gate.refuse(known);
  // A name that leads to loopback belongs to a test double.
  const names = isLoopbackHost(peer.host) ? [] : [peer.host, peer.servername];
  const name = names.find((host) => host !== "" && gate.concerns({ host, port: peer.port }));
  return name === undefined
    ? undefined
    : gate.refuse(bareAttempt({ host: name, port: peer.port }, callerFrames(entry)));
}

/** A name that never exists. It is no address, so that `lookup` is called. */
const nowhere = "blocked.invalid";

/** Options with which connecting fails as for an unknown name, but with this error. */
const failing = (port: string, error: Error) => ({
  host: nowhere,
  port: Number(port),
  lookup: (_name: string, _options: unknown, done: (error: Error) => void) => void soon(() => done(error)),
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
