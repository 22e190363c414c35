import { syncBuiltinESMExports } from "node:module";
import net, { Socket } from "node:net";
import tls from "node:tls";
import {
  hostRuleFor,
  isLoopbackHost,
  plainHost,
  type RequestTarget,
  readHostRule,
  serviceHosts,
} from "../http/host-rules.ts";
import { replaceMethod } from "./attempt.ts";
import { type Peer, peerOf } from "./process-exits.ts";

/** What is sent to a sim instead. */
export interface RerouteRules {
  /** The sim's address. */
  url: string;
  /** Hosts to reroute as well as the service's own: `e.example.com`, `*.example.com`, `example.com:8443`. */
  hosts?: readonly string[];
}

/** The variable that carries the rules to a child process. */
export const rerouteVariable = "PHX_SIM_REROUTE_RULES";

/** Every host that is rerouted, as rules. */
export const reroutedHosts = ({ hosts = [] }: Pick<RerouteRules, "hosts">): readonly string[] => [
  ...serviceHosts,
  ...hosts,
];

/**
 * A test for whether a place is rerouted. Loopback never is.
 * @throws TypeError when a host cannot be read, or a rule has a path: a connection has none
 */
export function rerouteTest(rules: Pick<RerouteRules, "hosts">): (place: RequestTarget) => boolean {
  const read = reroutedHosts(rules).map((text) => {
    const rule = readHostRule(text);
    if (rule.prefix === "") return rule;
    throw new TypeError(`${JSON.stringify(text)} has a path: whole hosts are rerouted, or none of them`);
  });
  return (place) => !isLoopbackHost(place.host) && hostRuleFor(read, place) !== undefined;
}

type Covers = (peer: Peer) => boolean;
type Address = Readonly<{ host: string; port: number }>;

const isOptions = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const callbackOf = (args: readonly unknown[]): unknown =>
  args.flat().findLast((it) => typeof it === "function");

/** Options of a connection that do not depend on its target. */
const keptOptions = new Set([
  "allowHalfOpen",
  "keepAlive",
  "keepAliveInitialDelay",
  "noDelay",
  "onread",
  "signal",
  "timeout",
]);

/** The options of a connection, with another target. */
function redirected(args: readonly unknown[], to: Address): net.NetConnectOpts {
  const given = args.flat().find(isOptions) ?? {};
  return { ...Object.fromEntries(Object.entries(given).filter(([name]) => keptOptions.has(name))), ...to };
}

/**
 * The target of `tls.connect`; options may come first, or after port and host. An open tunnel (`socket`) is known by
 * the server name.
 */
function tlsPeerOf(args: readonly unknown[]): Peer | undefined {
  const [port, host] = args;
  const options: Record<string, unknown> = {
    ...(!isOptions(port) && { port }),
    ...(typeof host === "string" && { host }),
    ...args.find(isOptions),
  };
  const tunnelled = { port: 443, ...options, host: options.servername ?? options.host, path: "" };
  return peerOf([isOptions(options.socket) ? tunnelled : options]);
}

/** The first bytes of a rerouted TLS connection: links in its answers must have the scheme of the client's request. */
const securedMark = "\0https\n";

/** Stands in for a TLS connection: it has no certificate, so no authority has to be trusted. */
function openPlain(args: readonly unknown[], to: Address): Socket {
  const tunnel: unknown = args.find(isOptions)?.socket;
  if (tunnel instanceof Socket) tunnel.destroy();
  const socket = net.connect(redirected(args, to));
  socket.write(securedMark);
  Object.assign(socket, { encrypted: true, authorized: true, alpnProtocol: false });
  socket.once("connect", () => socket.emit("secureConnect"));
  const listener = callbackOf(args);
  if (typeof listener === "function") socket.once("secureConnect", () => Reflect.apply(listener, socket, []));
  return socket;
}

/** `https`, `http2`, `fetch` and undici of any version open their connections with this function. */
const rerouteTls = (covers: Covers, to: Address) =>
  replaceMethod(
    tls,
    "connect",
    (original, isOn) =>
      function connect(this: unknown, ...args: unknown[]) {
        const peer = isOn() ? tlsPeerOf(args) : undefined;
        const isOurs = peer !== undefined && covers(peer);
        return isOurs ? openPlain(args, to) : Reflect.apply(original, this, args);
      } as typeof tls.connect,
  );

/** Everything but TLS; and TLS over the caller's own socket, which the sim answers with its own certificate. */
const rerouteSockets = (covers: Covers, to: Address) =>
  replaceMethod(
    Socket.prototype,
    "connect",
    (original, isOn) =>
      function connect(this: Socket, ...args: unknown[]): Socket {
        const peer = isOn() ? peerOf(args) : undefined;
        if (peer === undefined || !covers(peer)) return Reflect.apply(original, this, args);
        return Reflect.apply(original, this, [redirected(args, to), callbackOf(args)]);
      },
  );

/**
 * Sends connections of this process for the service's hosts to a sim, over plain HTTP: `http`, `https`, `fetch`,
 * undici with any dispatcher. Requests stay as they are, including the `Host` header. Worker threads and children are
 * not affected. The function that it returns ends it.
 * @throws TypeError when a host cannot be read
 */
export function rerouteProcess(rules: RerouteRules): () => void {
  const { hostname, port } = new URL(rules.url);
  const to = { host: plainHost(hostname), port: Number(port || 80) };
  const isRerouted = rerouteTest(rules);
  const covers: Covers = (peer) =>
    !isLoopbackHost(peer.host) &&
    [peer.host, peer.servername].some((host) => host !== "" && isRerouted({ host, port: peer.port }));
  const ends = [rerouteTls, rerouteSockets].map((reroute) => reroute(covers, to));
  // For code that imports the functions by name.
  syncBuiltinESMExports();
  return () => {
    for (const end of ends) end();
    syncBuiltinESMExports();
  };
}
