import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import { clearInterval, performance, setInterval } from "../../kernel/base/real-time.ts";
import { hostRuleFor, isLoopbackHost, readHostRule, serviceHosts } from "../../kernel/http/host-rules.ts";
import { endWith, sendLast } from "./last-answer.ts";
import {
  type AbsoluteTarget,
  type Authority,
  isSim,
  peek,
  readAbsolute,
  readAuthority,
  type Speech,
} from "./proxy/first-bytes.ts";
import type { ForwardProxy, ProxyOptions } from "./proxy/proxy.ts";

/** The original address of a request that came through the proxy. */
export interface ProxiedAddress {
  readonly scheme: "http" | "https";
  /** The requested host, as written. */
  readonly host: string;
  /** Path and query. */
  readonly target: string;
}

interface OnePortOptions {
  settings: ProxyOptions;
  port: () => number;
  notice: (text: string) => void;
  /** A connection that sends nothing is closed after this time, ms. */
  silence: number;
  /** Takes connections that begin with a websocket, or a call to the live feed; absent: the server. */
  takeSocket?: (socket: Socket) => void;
  /** True while websockets of any path are taken, not only the live feed's. */
  takesSockets?: () => boolean;
}

const isSlash = (target: string): boolean => target.charCodeAt(0) === 0x2f;

/**
 * Adds a forward proxy to a web server, on the same port. Plain HTTP reaches the server without a hop in between: the
 * first bytes of a connection distinguish it from TLS and HTTP/2, which go to the proxy.
 * @throws TypeError for an invalid rule in `allow`
 */
export function openOnePort(server: Server, options: OnePortOptions) {
  const { settings, port, notice, silence } = options;
  const allow = (settings.allow ?? []).map(readHostRule);
  const service = serviceHosts.map(readHostRule);
  const isService = (host: string) => hostRuleFor(service, { host, port: "" }) !== undefined;
  const isOurs = (authority: Authority) => isSim(authority, port(), isService);
  const schemes = new WeakMap<Socket, "http" | "https">();
  const kept = createKept();
  const take = (socket: Socket) => entrance.take(socket);
  const takeSocket = options.takeSocket ?? take;
  const proxyOf = onFirstUse<ForwardProxy>(async () => {
    const { createProxy } = await import("./proxy/proxy.ts");
    return createProxy({
      others: settings.others ?? "tunnel",
      allow,
      caFolder: settings.caFolder,
      ownPort: port(),
      isOurs,
      admit(socket, scheme) {
        schemes.set(socket, scheme);
        if (!options.takesSockets?.()) return take(socket);
        peek(socket, (speech) => (speech === "socket" ? takeSocket(socket) : take(socket)), options.takesSockets);
      },
      keep: kept.add,
      notice,
      silence,
    });
  });

  /** The connection may break while the proxy is being loaded. */
  const hand = (socket: Socket, use: (it: ForwardProxy) => void) => {
    socket.on("error", () => {});
    proxyOf().then(use, (error: unknown) => {
      notice(`the proxy cannot be loaded: ${String(error)}`);
      socket.destroy();
    });
  };

  const entrance = openEntrance(
    server,
    silence,
    (socket, speech) => {
      if (speech === "http") return take(socket);
      if (speech === "socket") return takeSocket(socket);
      if (!isLocal(socket)) return void socket.destroy();
      hand(socket, (it) => it.decrypt(socket));
    },
    options.takesSockets,
  );
  server.on("connect", (req: IncomingMessage, socket: Socket, head: Buffer) => {
    // the server no longer listens to the connection's errors
    socket.on("error", () => {});
    if (!isLocal(socket)) return endWith(socket, strangerRefused);
    hand(socket, (it) => it.tunnel(req, socket, head));
  });

  function elsewhere(req: IncomingMessage, res: ServerResponse, to: AbsoluteTarget): "elsewhere" {
    if (!isLocal(req.socket)) misdirected(res);
    else
      proxyOf().then(
        (it) => it.send(req, res, to),
        (error: unknown) => {
          notice(`the proxy cannot be loaded: ${String(error)}`);
          sendLast(res, 503, ["x-phx-source", "proxy", "retry-after", "1"], null);
        },
      );
    return "elsewhere";
  }

  /** In a tunnel the Host header names the target. */
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
    /**
     * undefined: the request came directly. `elsewhere`: it is for another host and has been handled, or it was refused.
     */
    passage(req: IncomingMessage, res: ServerResponse) {
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
    /** Ends tunnels, and connections that have sent nothing yet. */
    async close() {
      entrance.close();
      kept.close();
      await (await proxyOf.started)?.close();
    },
  };
}

export type OnePort = ReturnType<typeof openOnePort>;

/** Connections that are not the server's. */
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

/** The proxy serves this machine only, even if the port is open to the network. */
const isLocal = ({ remoteAddress }: Socket): boolean => remoteAddress !== undefined && isLoopbackHost(remoteAddress);

const strangerRefused =
  "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\nX-Phx-Source: proxy\r\n\r\n";

const misdirected = (res: ServerResponse): void => sendLast(res, 421, ["x-phx-source", "proxy"], null);

/**
 * Calls `hand` with each new connection and the protocol of its first bytes.
 * @param silence A connection that sends nothing is closed after this time, ms.
 */
export function openEntrance(
  server: Server,
  silence: number,
  hand: (socket: Socket, speech: Speech) => void,
  takesSockets?: () => boolean,
) {
  /** Connections that have sent nothing yet, and since when: one timer for all, as they are many and short. */
  const waiting = new Map<Socket, number>();
  const sweep = (before: number) => {
    for (const [socket, since] of waiting) {
      if (since > before && !socket.destroyed) continue;
      waiting.delete(socket);
      socket.destroy();
    }
  };
  const secure = new WeakSet<Socket>();
  let sweeping: NodeJS.Timeout | undefined;
  server.once("listening", () => {
    sweeping = setInterval(() => sweep(performance.now() - silence), Math.min(silence, 5_000)).unref();
  });

  const takers = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    waiting.set(socket, performance.now());
    peek(
      socket,
      (speech, isSecure) => {
        waiting.delete(socket);
        if (isSecure) secure.add(socket);
        hand(socket, speech);
      },
      takesSockets,
    );
  });
  return {
    take(socket: Socket) {
      for (const taker of takers) Reflect.apply(taker, server, [socket]);
    },
    /** True if the client uses https, though its connection is plain: so it is with `--reroute`. */
    isSecure: (socket: Socket) => secure.has(socket),
    /** Ends connections that have sent nothing yet. */
    close() {
      clearInterval(sweeping);
      sweep(Number.POSITIVE_INFINITY);
    },
  };
}
