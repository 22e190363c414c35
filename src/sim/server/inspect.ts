import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import { onFirstUse } from "../../kernel/base/on-first-use.ts";
import { performance, setTimeout } from "../../kernel/base/real-time.ts";
import { callFrom, pathOf } from "../../kernel/http/call.ts";
import { asSimError, errorReply } from "../../kernel/http/error-body.ts";
import { sameOriginOnly } from "../../kernel/http/reply.ts";
import type { Admit, PageSockets } from "./inspect-socket.ts";
import { endWith } from "./last-answer.ts";

/** Passes a websocket on to an upstream; false: it does not. @param head What came after the handshake */
export type PassSocket = (req: IncomingMessage, socket: Socket, head: Buffer) => boolean;

export interface InspectOptions {
  readonly main: Server;
  /** Gives a connection to the main server for good. */
  takeOver(socket: Socket): void;
  /** Called with each connection that is not the main server's. */
  watch(socket: Socket): void;
  readonly admit: Admit;
  readonly pass: PassSocket;
  readonly clock: TimeSource;
  /** A connection that sends nothing is closed after this time, ms. */
  readonly silence: number;
}

const feedPath = "/__sim/ws";

/** False with several `Host` headers, of which a proxy may have read another one, and with none from HTTP/1.1 on. */
export function hasOneHost({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion !== "1.1";
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts <= 1;
}

/**
 * Takes connections to the live feed, and other websockets.
 *
 * node:http ignores `Upgrade:` only if a server has no listener for it, and the main server must ignore it: Java's
 * client offers HTTP/2 with each request. So the websockets have their own server, which listens on no port.
 */
export function createInspect(options: InspectOptions) {
  const { main, admit, clock } = options;
  /** Open connections, each with its number of running plain calls. */
  const open = new Map<Socket, number>();
  /** The next step for a connection that offers another protocol, once its calls are answered. */
  const next = new WeakMap<Socket, () => void>();
  let server: Server | undefined;
  let isClosing = false;

  const socketsOf = onFirstUse<PageSockets>(async () => {
    const { createPageSockets } = await import("./inspect-socket.ts");
    return createPageSockets((socket, why) =>
      refuse(socket, new SimError("invalid_input", `not a websocket's handshake: ${why}`)),
    );
  });

  async function upgrade(req: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on("error", () => {});
    try {
      if (!hasOneHost(req)) throw new SimError("invalid_input", "a request has one Host header");
      const connect = await admit(callOf(req, clock.now()));
      const pages = await socketsOf();
      if (isClosing) return void socket.destroy();
      open.delete(socket);
      pages.accept(req, socket, head, connect);
    } catch (error) {
      refuse(socket, asSimError(error));
    }
  }

  function work(socket: Socket, by: 1 | -1): void {
    const count = (open.get(socket) ?? 0) + by;
    if (!open.has(socket)) return;
    open.set(socket, count);
    if (count > 0) return;
    if (isClosing) socket.destroySoon();
    else next.get(socket)?.();
  }

  function inTurn(socket: Socket, go: () => void): void {
    if (open.get(socket) === 0) go();
    else next.set(socket, go);
  }

  function handBack(req: IncomingMessage, socket: Socket, head: Buffer): void {
    open.delete(socket);
    socket.setTimeout(0);
    socket.unshift(Buffer.concat([plainHead(req), head]));
    options.takeOver(socket);
  }

  function makeServer(): Server {
    const settings = {
      keepAliveTimeout: main.keepAliveTimeout,
      requireHostHeader: false,
      // From Node 24.9 on; Node 26 reads the body before `upgrade`, so that the request could not be handed back.
      shouldUpgradeCallback: isSocket,
    };
    const made = createServer(settings);
    made.timeout = options.silence;
    allowHalfOpen(made);
    made.on("request", (req, res) => {
      work(req.socket, 1);
      res.once("close", () => work(req.socket, -1));
      main.emit("request", req, res);
    });
    made.on("clientError", (error, socket) => main.emit("clientError", error, socket));
    made.on("upgrade", (req, socket: Duplex, head) => {
      if (!(socket instanceof Socket)) return void socket.destroy();
      inTurn(socket, () => {
        if (isPage(req)) void upgrade(req, socket, head);
        // one that is passed on ends with the sim
        else if (!isSocket(req) || !options.pass(req, socket, head)) handBack(req, socket, head);
      });
    });
    return made;
  }

  return {
    /** Takes a connection whose first call is a websocket, or to the feed; other calls on it go to the main server. */
    take(socket: Socket): void {
      open.set(socket, 0);
      options.watch(socket);
      socket.once("close", () => open.delete(socket));
      server ??= makeServer();
      server.emit("connection", socket);
    },
    close(graceMs: number): void {
      isClosing = true;
      socketsOf.started?.then((it) => it.close()).catch(() => {});
      for (const [socket, count] of open) if (count === 0) socket.destroy();
      if (open.size === 0) return;
      setTimeout(() => {
        for (const socket of open.keys()) socket.destroy();
      }, graceMs).unref();
    },
  };
}

/** True for a websocket's handshake; its target must be a path. */
const isSocket = ({ method, url = "", headers }: IncomingMessage): boolean =>
  method === "GET" && headers.upgrade?.toLowerCase() === "websocket" && url.startsWith("/");

const isPage = (req: IncomingMessage): boolean => isSocket(req) && pathOf(req.url ?? "") === feedPath;

/** A client that ends its side gets its answer: otherwise node:http ends the connection. The option has no type. */
export const allowHalfOpen = (server: Server): void => void Object.assign(server, { httpAllowHalfOpen: true });

const callOf = (req: IncomingMessage, at: number) =>
  callFrom({
    method: "GET",
    target: req.url ?? feedPath,
    headers: req.headers as Record<string, string | undefined>,
    rawHeaders: req.rawHeaders,
    body: Buffer.alloc(0),
    peer: req.socket.remoteAddress ?? "unknown",
    at,
    started: performance.now(),
    signal: () => new AbortController().signal,
  });

const offer = /^(upgrade|connection|http2-settings)$/i;

function plainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (!offer.test(rawHeaders[i] ?? "")) head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  return Buffer.from(`${head}\r\n`, "latin1");
}

function refuse(socket: Socket, error: SimError): void {
  const { status, headers, body } = errorReply("control", error);
  const bytes = Buffer.from(body ?? "");
  const flat = [
    ...headers,
    ...sameOriginOnly,
    ...["x-phx-source", "emulator", "connection", "close"],
    ...["content-length", bytes.length],
  ];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let i = 0; i < flat.length; i += 2) head += `${flat[i]}: ${flat[i + 1]}\r\n`;
  endWith(socket, Buffer.concat([Buffer.from(`${head}\r\n`), bytes]));
}
