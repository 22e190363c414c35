import { syncBuiltinESMExports } from "node:module";
import net, { Socket } from "node:net";
import tls from "node:tls";
import {
  hostRuleFor,
  isLoopbackHost,
  type Place,
  plainHost,
  readHostRule,
  serviceHosts,
} from "../kernel/host-rules.ts";
import { replaceMethod } from "./exits.ts";
import { type Peer, peerOf } from "./socket-exit.ts";

/** What is sent to a sim instead. */
export interface RerouteRules {
  /** The sim's address. */
  url: string;
  /** Hosts besides the service's own: `e.example.com`, `*.example.com`, `example.com:8443`. */
  hosts?: readonly string[];
}

/** Variable by which a child process learns what to reroute. */
export const rerouteVariable = "PHX_SIM_REROUTE_RULES";

/** Every host that is rerouted, as rules. */
export const reroutedHosts = ({ hosts = [] }: Pick<RerouteRules, "hosts">): readonly string[] => [
  ...serviceHosts,
  ...hosts,
];

/**
 * Tells whether a place is rerouted. This machine itself never is.
 * @throws TypeError when a host cannot be read, or a rule has a path: a connection has none
 */
export function rerouteTest(rules: Pick<RerouteRules, "hosts">): (place: Place) => boolean {
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

/** What one may want of a connection, wherever it leads. */
const keptOptions = new Set([
  "allowHalfOpen",
  "keepAlive",
  "keepAliveInitialDelay",
  "noDelay",
  "onread",
  "signal",
  "timeout",
]);

/** The options of a connection, with another end. */
function redirected(args: readonly unknown[], to: Address): net.NetConnectOpts {
  const given = args.flat().find(isOptions) ?? {};
  return { ...Object.fromEntries(Object.entries(given).filter(([name]) => keptOptions.has(name))), ...to };
}

/**
 * What `tls.connect` is to connect to; options may come first, or after port and host. A tunnel that is open
 * (`socket`) is known by the name that is asked for.
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

/** What a rerouted TLS connection begins with: links in its answers are to have the scheme that the client asked with. */
const securedMark = "\0https\n";

/** Stands in for a TLS connection: nobody reads its certificate, so that no authority has to be trusted. */
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

/** `https`, `http2`, `fetch` and undici of any version ask for their connections here. */
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

/** All that is not TLS; and TLS over a socket of one's own, which the sim answers with its own certificate. */
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
 * Sends connections of this process to the service's hosts to a sim instead, over plain HTTP: `http`, `https`,
 * `fetch`, undici with whatever dispatcher. What they say stays as it is, the `Host` header too. Worker threads and
 * children are not in it. The function that it returns ends it.
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
  // For those who import the functions by name.
  syncBuiltinESMExports();
  return () => {
    for (const end of ends) end();
    syncBuiltinESMExports();
  };
}
