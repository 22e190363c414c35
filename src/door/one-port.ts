import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hostRuleFor, isLoopbackHost, readHostRule, serviceHosts } from "../kernel/host-rules.ts";
import { openEntrance } from "./entrance.ts";
import { endWith, sendLast } from "./last-answer.ts";
import {
  type AbsoluteTarget,
  type Authority,
  isSim,
  readAbsolute,
  readAuthority,
} from "./proxy/authority.ts";
import type { ForwardProxy } from "./proxy/proxy.ts";
import type { ProxyOptions } from "./proxy/settings.ts";

/** How a request came that came through the proxy. */
export interface Passage {
  readonly scheme: "http" | "https";
  /** The host that was asked for, as written. */
  readonly host: string;
  /** Path and query. */
  readonly target: string;
}

export interface OnePort {
  /** Gives a connection to the server. */
  take(socket: Socket): void;
  isSecure(socket: Socket): boolean;
  /**
   * undefined: the request came directly. `elsewhere`: it is for another host, or for none that may be, and is taken
   * care of.
   */
  passage(req: IncomingMessage, res: ServerResponse): Passage | "elsewhere" | undefined;
  /** Breaks off tunnels, and connections that did not say anything yet. */
  close(): Promise<void>;
}

export interface OnePortOptions {
  settings: ProxyOptions;
  /** The port that the server got. */
  port: () => number;
  notice: (text: string) => void;
  /** A connection that says nothing is given up after this long, ms. */
  silence: number;
  /** Takes connections that begin with a call to the live feed; absent: the server. */
  takeFeed?: (socket: Socket) => void;
}

const isSlash = (target: string): boolean => target.charCodeAt(0) === 0x2f;

/**
 * Makes a proxy of a web server, on the same port. Its own connections reach it as before, with no hop in between:
 * their first bytes tell them from TLS and HTTP/2, which nothing but the proxy understands.
 * @throws TypeError when a rule of `allow` cannot be read
 */
export function openOnePort(server: Server, options: OnePortOptions): OnePort {
  const { settings, port, notice, silence } = options;
  const allow = (settings.allow ?? []).map(readHostRule);
  const service = serviceHosts.map(readHostRule);
  const isService = (host: string) => hostRuleFor(service, { host, port: "" }) !== undefined;
  const isOurs = (authority: Authority) => isSim(authority, port(), isService);
  const schemes = new WeakMap<Socket, "http" | "https">();
  const kept = createKept();
  const take = (socket: Socket) => entrance.take(socket);
  const takeFeed = options.takeFeed ?? take;
  let proxy: Promise<ForwardProxy> | undefined;
  const proxyOf = () => {
    proxy ??= import("./proxy/proxy.ts").then(({ createProxy }) =>
      createProxy({
        others: settings.others ?? "tunnel",
        allow,
        caFolder: settings.caFolder,
        ownPort: port(),
        isOurs,
        admit(socket, scheme) {
          schemes.set(socket, scheme);
          take(socket);
        },
        keep: kept.add,
        notice,
        silence,
      }),
    );
    return proxy;
  };

  /** The connection may break while the proxy is being loaded. */
  const hand = (socket: Socket, use: (it: ForwardProxy) => void) => {
    socket.on("error", () => {});
    proxyOf().then(use, (error: unknown) => {
      notice(`the proxy cannot be loaded: ${String(error)}`);
      socket.destroy();
    });
  };

  const entrance = openEntrance(server, silence, (socket, speech) => {
    if (speech === "http") return take(socket);
    if (speech === "feed") return takeFeed(socket);
    if (!isLocal(socket)) return void socket.destroy();
    hand(socket, (it) => it.decrypt(socket));
  });
  server.on("connect", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    // the server has let go of the connection: nobody else hears of its errors
    socket.on("error", () => {});
    if (!isLocal(socket)) return endWith(socket, strangerRefused);
    hand(socket, (it) => it.tunnel(req, socket, head));
  });

  function elsewhere(req: IncomingMessage, res: ServerResponse, to: AbsoluteTarget): "elsewhere" {
    if (!isLocal(req.socket)) misdirected(res);
    else
      proxyOf().then(
        (it) => it.send(req, res, to),
        () => misdirected(res),
      );
    return "elsewhere";
  }

  /** In a tunnel the Host header says whose request it is. */
  function inTunnel(req: IncomingMessage, res: ServerResponse, scheme: "http" | "https") {
    const host = req.headers.host ?? "";
    const authority = readAuthority(host, scheme === "http" ? 80 : 443);
    if (authority !== undefined && isOurs(authority)) return { scheme, host, target: req.url ?? "/" };
    misdirected(res);
    return "elsewhere" as const;
  }

  return {
    take,
    isSecure: entrance.isSecure,
    passage(req, res) {
      const target = req.url ?? "/";
      const scheme = schemes.get(req.socket);
      const absolute = isSlash(target) ? undefined : readAbsolute(target);
      if (absolute === undefined) return scheme === undefined ? undefined : inTunnel(req, res, scheme);
      if (isOurs(absolute.authority)) {
        return { scheme: scheme ?? "http", host: absolute.host, target: absolute.target };
      }
      if (scheme === undefined) return elsewhere(req, res, absolute);
      misdirected(res);
      return "elsewhere";
    },
    async close() {
      entrance.close();
      kept.close();
      await (await proxy)?.close();
    },
  };
}

/** Connections that the server does not know of. */
function createKept() {
  const sockets = new Set<Socket>();
  let isClosed = false;
  return {
    add(socket: Socket) {
      if (isClosed) return void socket.destroy();
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    },
    close() {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The proxy serves this machine only, however wide the port is open. */
const isLocal = ({ remoteAddress }: Socket): boolean =>
  remoteAddress !== undefined && isLoopbackHost(remoteAddress);

const strangerRefused =
  "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\nX-Phx-Source: proxy\r\n\r\n";

const misdirected = (res: ServerResponse): void => sendLast(res, 421, ["x-phx-source", "proxy"], null);
