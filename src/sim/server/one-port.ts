import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import { clearInterval, performance, setInterval } from "../../kernel/base/real-time.ts";
import {
  type HostRule,
  hostRuleFor,
  isLoopbackHost,
  readHostRule,
  serviceHosts,
} from "../../kernel/http/host-rules.ts";
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

export interface ProxiedAddress {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly target: string;
}

interface OnePortOptions {
  settings: ProxyOptions;
  notice: (text: string) => void;
  /** A connection that sends nothing is closed after this time, ms. */
  silence: number;
  /** Takes connections that begin with a websocket, or a call to the live feed; absent: the server. */
  takeSocket: ((socket: Socket) => void) | undefined;
  /** True while websockets of any path are taken, not only the live feed's. */
  takesSockets: () => boolean;
}

const isSlash = (target: string): boolean => target.charCodeAt(0) === 0x2f;

/**
 * Adds a forward proxy to a web server, on the same port. Plain HTTP reaches the server without a hop in between: the
 * first bytes of a connection distinguish it from TLS and HTTP/2, which go to the proxy.
 */
export class OnePort {
  readonly #server: Server;
  readonly #options: OnePortOptions;
  readonly #allow: HostRule[];
  readonly #service = serviceHosts.map(readHostRule);
  readonly #schemes = new WeakMap<Socket, "http" | "https">();
  readonly #kept = new KeptSockets();
  readonly #entrance: Entrance;
  readonly #proxy = onFirstUse(() => this.#openProxy());

  /** @throws TypeError for an invalid rule in `allow` */
  constructor(server: Server, options: OnePortOptions) {
    this.#server = server;
    this.#options = options;
    this.#allow = (options.settings.allow ?? []).map(readHostRule);
    const { silence, takesSockets } = options;
    this.#entrance = openEntrance(server, silence, (socket, speech) => this.#admit(socket, speech), takesSockets);
    server.on("connect", (req: IncomingMessage, socket: Socket, head: Buffer) => {
      // the server no longer listens to the connection's errors
      socket.on("error", () => {});
      if (!isLocal(socket)) return endWith(socket, strangerRefused);
      this.#hand(socket, (it) => it.tunnel(req, socket, head));
    });
  }

  take(socket: Socket): void {
    this.#entrance.take(socket);
  }

  isSecure(socket: Socket): boolean {
    return this.#entrance.isSecure(socket);
  }

  /** undefined: the request came directly. `elsewhere`: it was for another host and is handled, or it was refused. */
  passage(req: IncomingMessage, res: ServerResponse): ProxiedAddress | "elsewhere" | undefined {
    const target = req.url ?? "/";
    const scheme = this.#schemes.get(req.socket);
    const absolute = isSlash(target) ? undefined : readAbsolute(target);
    if (absolute === undefined) return scheme === undefined ? undefined : this.#inTunnel(req, res, scheme);
    if (this.#isOurs(absolute.authority)) {
      return { scheme: scheme ?? "http", host: absolute.host, target: absolute.target };
    }
    if (scheme === undefined && isLocal(req.socket)) this.#sendElsewhere(req, res, absolute);
    else misdirected(res);
    return "elsewhere";
  }

  async close(): Promise<void> {
    this.#entrance.close();
    this.#kept.close();
    await (await this.#proxy.started)?.close();
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #isOurs(authority: Authority): boolean {
    return isSim(authority, this.#port, (host) => hostRuleFor(this.#service, { host, port: "" }) !== undefined);
  }

  #admit(socket: Socket, speech: Speech): void {
    if (speech === "http") this.take(socket);
    else if (speech === "socket") this.#takeSocket(socket);
    else if (isLocal(socket)) this.#hand(socket, (it) => it.decrypt(socket));
    else socket.destroy();
  }

  #takeSocket(socket: Socket): void {
    const { takeSocket } = this.#options;
    if (takeSocket) takeSocket(socket);
    else this.take(socket);
  }

  async #openProxy(): Promise<ForwardProxy> {
    const { settings, notice, silence, takesSockets } = this.#options;
    const { createProxy } = await import("./proxy/proxy.ts");
    return createProxy({
      others: settings.others ?? "tunnel",
      allow: this.#allow,
      caFolder: settings.caFolder,
      ownPort: this.#port,
      isOurs: (authority) => this.#isOurs(authority),
      admit: (socket, scheme) => {
        this.#schemes.set(socket, scheme);
        if (!takesSockets()) return this.take(socket);
        peek(socket, (speech) => (speech === "socket" ? this.#takeSocket(socket) : this.take(socket)), takesSockets);
      },
      keep: (socket) => this.#kept.add(socket),
      notice,
      silence,
    });
  }

  /** The connection may break while the proxy is being loaded. */
  #hand(socket: Socket, use: (it: ForwardProxy) => void): void {
    socket.on("error", () => {});
    this.#proxy().then(use, (error: unknown) => {
      this.#notLoaded(error);
      socket.destroy();
    });
  }

  #sendElsewhere(req: IncomingMessage, res: ServerResponse, to: AbsoluteTarget): void {
    this.#proxy().then(
      (it) => it.send(req, res, to),
      (error: unknown) => {
        this.#notLoaded(error);
        sendLast(res, 503, ["x-phx-source", "proxy", "retry-after", "1"], null);
      },
    );
  }

  #notLoaded(error: unknown): void {
    this.#options.notice(`the proxy cannot be loaded: ${String(error)}`);
  }

  /** In a tunnel the Host header names the target. */
  #inTunnel(req: IncomingMessage, res: ServerResponse, scheme: "http" | "https"): ProxiedAddress | "elsewhere" {
    const host = req.headers.host ?? "";
    const authority = readAuthority(host, scheme === "http" ? 80 : 443);
    if (authority !== undefined && this.#isOurs(authority)) return { scheme, host, target: req.url ?? "/" };
    misdirected(res);
    return "elsewhere";
  }
}

class KeptSockets {
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  add(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** The proxy serves this machine only, even if the port is open to the network. */
const isLocal = ({ remoteAddress }: Socket): boolean => remoteAddress !== undefined && isLoopbackHost(remoteAddress);

const strangerRefused =
  "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\nX-Phx-Source: proxy\r\n\r\n";

const misdirected = (res: ServerResponse): void => sendLast(res, 421, ["x-phx-source", "proxy"], null);

/** Calls `hand` with each new connection and the protocol of its first bytes; one that is silent is closed. */
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
    close() {
      clearInterval(sweeping);
      sweep(Number.POSITIVE_INFINITY);
    },
  };
}

type Entrance = ReturnType<typeof openEntrance>;
