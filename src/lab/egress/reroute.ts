import type { ClientRequest } from "node:http";
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
} from "../../kernel/http/host-rules.ts";
import { projectHeader } from "../../state/journal/traffic.ts";
import { currentTest, isRunning, type RunningTest, replaceMethod } from "./attempt.ts";
import {
  agents,
  aimOfSent,
  aimsOf,
  listen,
  type OpenAgent,
  type Peer,
  peerOf,
  type SentRequest,
} from "./process-exits.ts";

export interface RerouteRules {
  url: string;
  /** Hosts to reroute as well as the service's own: `e.example.com`, `*.example.com`, `example.com:8443`. */
  hosts?: readonly string[];
}

export const rerouteVariable = "PHX_SIM_REROUTE_RULES";

export const reroutedHosts = ({ hosts = [] }: Pick<RerouteRules, "hosts">): readonly string[] => [
  ...serviceHosts,
  ...hosts,
];

/** Never loopback. @throws TypeError when a host cannot be read, or a rule has a path: a connection has none */
export function rerouteTest(rules: Pick<RerouteRules, "hosts">): (place: RequestTarget) => boolean {
  const read = reroutedHosts(rules).map((text) => {
    const rule = readHostRule(text);
    if (rule.prefix === "") return rule;
    throw new TypeError(`${JSON.stringify(text)} has a path: whole hosts are rerouted, or none of them`);
  });
  return (place) => !isLoopbackHost(place.host) && hostRuleFor(read, place) !== undefined;
}

type Address = Readonly<{ host: string; port: number }>;
type Redirect = (peer: Peer) => Address | undefined;

const isOptions = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const callbackOf = (args: readonly unknown[]): unknown => args.flat().findLast((it) => typeof it === "function");

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
const rerouteTls = (redirect: Redirect) =>
  replaceMethod(
    tls,
    "connect",
    (original, isOn) =>
      function connect(this: unknown, ...args: unknown[]) {
        const peer = isOn() ? tlsPeerOf(args) : undefined;
        const to = peer && redirect(peer);
        return to ? openPlain(args, to) : Reflect.apply(original, this, args);
      } as typeof tls.connect,
  );

/** Everything but TLS; and TLS over the caller's own socket, which the sim answers with its own certificate. */
const rerouteSockets = (redirect: Redirect) =>
  replaceMethod(
    Socket.prototype,
    "connect",
    (original, isOn) =>
      function connect(this: Socket, ...args: unknown[]): Socket {
        const peer = isOn() ? peerOf(args) : undefined;
        const to = peer && redirect(peer);
        if (to === undefined) return Reflect.apply(original, this, args);
        return Reflect.apply(original, this, [redirected(args, to), callbackOf(args)]);
      },
  );

/** Requests of a test get a header that names its project: their own key is that of the real one. */
const markHttp = () =>
  replaceMethod(
    agents,
    "addRequest",
    (original, isOn) =>
      function addRequest(this: OpenAgent, request: ClientRequest, ...rest: unknown[]) {
        const places = isOn() && !request.headersSent ? aimsOf(request).flatMap((it) => it?.place ?? []) : [];
        const project = projectFor(places);
        if (project !== undefined) request.setHeader(projectHeader, project);
        return Reflect.apply(original, this, [request, ...rest]);
      },
  );

const markFetches = () =>
  listen("undici:request:create", (message) => {
    const { request } = message as { request: SentRequest & { addHeader(name: string, value: string): void } };
    const place = aimOfSent(request)?.place;
    const project = projectFor(place ? [place] : []);
    if (project !== undefined) request.addHeader(projectHeader, String(project));
  });

interface Route {
  readonly to: Address;
  /** The project of its requests; undefined: that of each request's key. */
  readonly project: number | undefined;
  /** The only test whose code is rerouted; undefined: all code. */
  readonly test: RunningTest | undefined;
  isRerouted(place: RequestTarget): boolean;
}

/** As for guards, the process has one list. */
const routes = new Set<Route>();
let uninstall: (() => void) | undefined;

/** A call of a test that is unknown, or has ended, takes the route of the first test. */
function routeFor(place: RequestTarget, test: RunningTest | undefined): Route | undefined {
  if (routes.size === 0 || isLoopbackHost(place.host)) return undefined;
  const all = [...routes].filter((it) => it.isRerouted(place));
  return all.find((it) => it.test === undefined || it.test === test) ?? (test && isRunning(test) ? undefined : all[0]);
}

/** True if the call goes to a sim of this process' tests. */
export const isReroutedNow = (place: RequestTarget, test: RunningTest | undefined): boolean =>
  routeFor(place, test) !== undefined;

const projectFor = (places: readonly RequestTarget[]): number | undefined =>
  places.map((it) => routeFor(it, currentTest())?.project).find((it) => it !== undefined);

const redirect: Redirect = (peer) => {
  if (isLoopbackHost(peer.host)) return undefined;
  const names = [peer.host, peer.servername].filter((host) => host !== "");
  const found = names.map((host) => routeFor({ host, port: peer.port }, currentTest()));
  return found.find((it) => it !== undefined)?.to;
};

function install(): () => void {
  const ends = [rerouteTls(redirect), rerouteSockets(redirect), markHttp(), markFetches()];
  // For code that imports the functions by name.
  syncBuiltinESMExports();
  return () => {
    for (const end of ends) end();
    syncBuiltinESMExports();
  };
}

/**
 * Sends connections of this process for the service's hosts to a sim, over plain HTTP: `http`, `https`, `fetch`,
 * undici with any dispatcher. Requests stay as they are, including the `Host` header. Worker threads and children are
 * not affected. The function that it returns ends it.
 * @param only The test whose code is rerouted, and its project
 * @throws TypeError when a host cannot be read
 */
export function rerouteProcess(rules: RerouteRules, only: Partial<Pick<Route, "project" | "test">> = {}): () => void {
  const { hostname, port } = new URL(rules.url);
  const to = { host: plainHost(hostname), port: Number(port || 80) };
  const route: Route = { project: undefined, test: undefined, ...only, to, isRerouted: rerouteTest(rules) };
  routes.add(route);
  uninstall ??= install();
  return () => {
    if (!routes.delete(route) || routes.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}
