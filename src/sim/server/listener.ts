import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { clearTimeout, performance, setTimeout } from "../../kernel/base/real-time.ts";
import { isNode } from "../../kernel/base/runtime.ts";
import type { App } from "../../kernel/http/app.ts";
import { type Call, callFrom, pathOf } from "../../kernel/http/call.ts";
import { isControlPath } from "../../kernel/http/family.ts";
import type { Gauge } from "../../kernel/http/gauge.ts";
import { type Reply, text } from "../../kernel/http/reply.ts";
import type { Passing } from "../../lab/tapes/upstream/forward.ts";
import { allowHalfOpen, createInspect, hasOneHost, type PassSocket } from "./inspect.ts";
import type { Admit } from "./inspect-socket.ts";
import { endWith, mishaps, mostLinger, sendLast } from "./last-answer.ts";
import { OnePort, openEntrance, type ProxiedAddress } from "./one-port.ts";
import type { ProxyOptions } from "./proxy/proxy.ts";
import { createUnread, mostSilence, onStall } from "./unread.ts";

export interface Listener {
  readonly port: number;
  readonly host: string;
  /** Stops accepting, closes idle connections, waits at most `graceMs` for running requests, then closes the rest. */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  app: App;
  clock: TimeSource;
  gauge: Gauge;
  host: string;
  port: number;
  bodyTimeout?: number;
  /** The port is a forward proxy as well; false (default): it is none. */
  proxy?: ProxyOptions | false;
  notice?: (text: string) => void;
  /** Passes requests on to upstreams, while there are any. */
  passing?: { readonly current: Passing | undefined };
  admit?: Admit;
  /** The sim's public address, if it differs from the one it listens on. */
  publicUrl?: string | undefined;
}

const bodyTimeout = 60_000;

const brokenReply = text("A server error occurred.", 500);

/** Opens the one port. @throws the system's error, such as EADDRINUSE; TypeError for an invalid rule of the proxy */
export function listen(options: ListenOptions): Promise<Listener> {
  const timeout = options.bodyTimeout ?? bodyTimeout;
  const server = createServer({
    requestTimeout: timeout,
    connectionsCheckingInterval: Math.min(timeout, 5_000),
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  });
  allowHalfOpen(server);
  const late = new WeakSet<object>();
  const flights = createFlights(options.gauge, (arrival) => {
    const why = late.has(arrival.req.socket) ? "body_read_timeout" : "sender_gone";
    // the client is gone
    options.app.abandon(callOf(arrival, Buffer.concat(arrival.chunks)), why).catch(() => {});
  });
  server.on("connection", flights.watch);
  const silence = Math.min(timeout, mostSilence);
  const ends: Ends = { hung: new Set(), isClosing: false, silence, unread: createUnread(silence) };
  const takesSockets = () => options.passing?.current !== undefined;
  /** Passes a websocket of the service on; false: it is answered as any other request. */
  const pass: PassSocket = (req, socket, head) => {
    const path = pathOf(req.url ?? "/");
    const passing = options.passing?.current;
    if (passing === undefined || isControlPath(path)) return false;
    passing.upgrade(req, socket, head, { path, host: req.headers.host });
    return true;
  };
  const feed =
    options.admit &&
    createInspect({
      main: server,
      takeOver: (socket) => entrance.take(socket),
      watch: flights.watch,
      admit: options.admit,
      pass,
      clock: options.clock,
      silence: timeout,
    });
  const { proxy: settings, notice = () => {} } = options;
  const takeSocket = feed?.take;
  const onePort = settings && new OnePort(server, { settings, notice, silence: timeout, takeSocket, takesSockets });
  const entrance = onePort || entranceOf(server, timeout, takeSocket, takesSockets);
  server.on("request", (req, res) => {
    // Node refuses one without as well, and closes the connection while the body arrives.
    if (!hasOneHost(req)) return sendLast(res, 400, [], null);
    const passage = onePort ? onePort.passage(req, res) : undefined;
    if (passage === "elsewhere") return;
    if (passage !== undefined) rewriteToOrigin(req, passage);
    const passing = options.passing?.current;
    const way: Way = { passage, scheme: schemeOf(req, passage, entrance.isSecure(req.socket)) };
    if (passing === undefined) receive(req, res, isNode ? takeParts : readParts, options, flights, ends, way);
    else passOn(req, res, passing, way, () => receive(req, res, readParts, options, flights, ends, way));
  });
  server.on("clientError", (error, socket) => {
    if ((error as NodeJS.ErrnoException).code === requestTimedOut) late.add(socket);
    if (socket instanceof Socket) answerGarbage(error, socket, Math.min(timeout, mostLinger));
    else socket.destroy();
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      const { port } = server.address() as AddressInfo;
      resolve({
        port,
        host: options.host,
        close: async (graceMs = 1000) => {
          ends.isClosing = true;
          feed?.close(graceMs);
          const closing = entrance.close();
          await closeServer(server, ends.hung, graceMs);
          await closing;
        },
      });
    });
  });
}

interface Ends {
  readonly hung: Set<ServerResponse>;
  /** True if each answer is the last of its connection. */
  isClosing: boolean;
  /** Time in which a client must take something of a response, ms. */
  readonly silence: number;
  readonly unread: ReturnType<typeof createUnread>;
}

interface Way {
  readonly passage: ProxiedAddress | undefined;
  readonly scheme: "http" | "https";
}

/** A reverse proxy sends the scheme of its clients in a header. */
const schemeOf = (req: IncomingMessage, passage: ProxiedAddress | undefined, isSecure: boolean): Way["scheme"] =>
  passage?.scheme ?? (isSecure || req.headers["x-forwarded-proto"] === "https" ? "https" : "http");

function entranceOf(
  server: Server,
  silence: number,
  takeSocket: ((socket: Socket) => void) | undefined,
  takesSockets: () => boolean,
) {
  const entrance = openEntrance(
    server,
    silence,
    (socket, speech) => {
      if (speech === "socket" && takeSocket) takeSocket(socket);
      else entrance.take(socket);
    },
    takesSockets,
  );
  return entrance;
}

function rewriteToOrigin(req: IncomingMessage, { host, target }: ProxiedAddress): void {
  req.url = target;
  req.headers.host = host;
}

type Flights = ReturnType<typeof createFlights>;

/** The application's unanswered requests, by connection. One listener per connection, not per request: when the sender disconnects, all its requests end. */
function createFlights(gauge: Gauge, onCutOff: (arrival: Arrival) => void) {
  const bySocket = new WeakMap<Socket, Set<Arrival>>();
  const end = (arrival: Arrival) => {
    if (arrival.others?.delete(arrival)) gauge.end(arrival.ticket);
  };
  const arrivalsOf = (socket: Socket): Set<Arrival> => {
    const known = bySocket.get(socket);
    if (known) return known;
    const open = new Set<Arrival>();
    bySocket.set(socket, open);
    socket.once("close", () => {
      for (const arrival of [...open]) {
        end(arrival);
        if (!arrival.complete) onCutOff(arrival);
      }
    });
    return open;
  };
  return {
    begin(arrival: Arrival): void {
      // Bun's server announces no connections
      arrival.others = arrivalsOf(arrival.req.socket);
      arrival.others.add(arrival);
      arrival.ticket = gauge.begin();
    },
    end,
    watch: (socket: Socket): void => void arrivalsOf(socket),
  };
}

const requestTimedOut = "ERR_HTTP_REQUEST_TIMEOUT";

/** Answers bytes that are not HTTP; a disconnected sender gets no answer. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Socket, linger: number): void {
  if (error.code === "ECONNRESET") return void socket.destroy();
  if (socket.writableEnded) return;
  const status = garbageStatus[error.code ?? ""] ?? "400 Bad Request";
  endWith(socket, `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, linger);
}

const garbageStatus: Readonly<Record<string, string>> = {
  [requestTimedOut]: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

function closeServer(server: Server, hung: ReadonlySet<ServerResponse>, graceMs: number): Promise<void> {
  for (const res of hung) res.destroy();
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs).unref();
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

interface Arrival {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  target: string;
  at: number;
  started: number;
  chunks: Buffer[];
  /** True once the body is complete, or refused. */
  complete: boolean;
  /** Its number in the gauge; 0: not counted there. */
  ticket: number;
  others: Set<Arrival> | undefined;
  way: Way;
  publicUrl: string | undefined;
}

const callOf = ({ req, res, method, target, at, started, ticket, way, publicUrl }: Arrival, body: Buffer): Call =>
  callFrom({
    publicUrl,
    method,
    target,
    headers: req.headers as Record<string, string | undefined>,
    rawHeaders: req.rawHeaders,
    body,
    peer: req.socket.remoteAddress ?? "unknown",
    at,
    started,
    signal: () => signalOf(res),
    ticket,
    scheme: way.scheme,
    proxied: way.passage !== undefined,
  });

/** Passes a request on to an upstream; the control API is answered here. */
function passOn(
  req: IncomingMessage,
  res: ServerResponse,
  passing: Passing,
  { passage, scheme }: Way,
  answerHere: () => void,
): void {
  const path = pathOf(req.url ?? "/");
  const { host } = req.headers;
  const origin = host === undefined ? undefined : `${scheme}://${host}`;
  if (isControlPath(path)) answerHere();
  else passing.offer(req, res, { path, host: passage?.host, origin }, answerHere);
}

/** Calls `part` with the parts of a request's body, then `end`. Returns the function that reads the rest as a stream. */
type Parts = (req: IncomingMessage, part: (chunk: Buffer) => void, end: () => void) => () => void;

const readParts: Parts = (req, part, end) => {
  req.on("data", part).on("end", end);
  return () => {};
};

/**
 * Takes the parts as the HTTP parser pushes them. A stream calls its listeners in later turns, and ends and closes in
 * more of them: for a small body that is an eighth of the cost of the whole request. The request must be new.
 */
const takeParts: Parts = (req, part, end) => {
  const { push } = req;
  req.push = (chunk: Buffer | null) => {
    if (chunk === null) end();
    else part(chunk);
    return true;
  };
  return () => {
    req.push = push;
  };
};

function receive(
  req: IncomingMessage,
  res: ServerResponse,
  parts: Parts,
  { app, clock, publicUrl, bodyTimeout: timeout = bodyTimeout }: ListenOptions,
  flights: Flights,
  ends: Ends,
  way: Way,
): void {
  const method = req.method ?? "GET";
  const target = req.url ?? "/";
  const started = performance.now();
  const arrival: Arrival = {
    req,
    res,
    method,
    target,
    at: clock.now(),
    started,
    chunks: [],
    complete: false,
    ticket: 0,
    others: undefined,
    way,
    publicUrl,
  };
  if (!isControlPath(target)) flights.begin(arrival);
  const limit = app.bodyLimit(method, pathOf(target));
  if (Number(req.headers["content-length"] ?? 0) > limit) {
    refuse(arrival, app, flights, ends, timeout);
    return;
  }
  let size = 0;
  const part = (chunk: Buffer) => {
    if (arrival.complete) return;
    size += chunk.length;
    if (size <= limit) return void arrival.chunks.push(chunk);
    asStream();
    refuse(arrival, app, flights, ends, timeout);
  };
  const end = () => {
    if (!arrival.complete) handle(arrival, app, flights, ends);
  };
  const asStream = parts(req, part, end);
}

function handle(arrival: Arrival, app: App, flights: Flights, ends: Ends): void {
  const { chunks, res, req } = arrival;
  arrival.complete = true;
  const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  // an idle connection keeps its last request
  arrival.chunks = [];
  const answer = (reply: Reply) => {
    if (ends.isClosing) res.shouldKeepAlive = false;
    const over = () => flights.end(arrival);
    if (reply.transport === undefined) return send(res, reply, ends, over);
    mishaps[reply.transport](res, req.socket, reply, ends.hung);
    over();
  };
  app.handle(callOf(arrival, body)).then(answer, () => answer(brokenReply));
}

function refuse(arrival: Arrival, app: App, flights: Flights, ends: Ends, timeout: number): void {
  arrival.complete = true;
  arrival.req.resume();
  const answer = (reply: Reply) => {
    const { status, headers, body } = reply;
    // The decrypting proxy drops an answer whose connection closes while its upload runs: there the connection stays.
    if (arrival.way.passage !== undefined) sendWhole(arrival.res, reply, ends);
    else sendLast(arrival.res, status, headers, body, Math.min(timeout, mostLinger));
    flights.end(arrival);
  };
  app.refuseTooLarge(callOf(arrival, Buffer.alloc(0))).then(answer, () => answer(brokenReply));
}

function signalOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const { socket } = res.req;
  const leave = () => gone.abort(new Error("the caller disconnected"));
  socket.once("end", leave);
  res.once("close", () => {
    socket.off("end", leave);
    if (!res.writableFinished) leave();
  });
  return gone.signal;
}

/** @param over Called once the answer is given to the system; of a stream, once it has ended */
function send(res: ServerResponse, reply: Reply, ends: Ends, over: () => void): void {
  if (reply.stream !== undefined && !res.destroyed) {
    sendStream(res, reply, reply.stream, ends.silence)
      .catch(() => res.destroy())
      .finally(over);
    return;
  }
  if (!res.destroyed) sendWhole(res, reply, ends);
  over();
}

function sendWhole(res: ServerResponse, reply: Reply, { unread }: Ends): void {
  const { body, headers } = reply;
  const known = body === null && (hasLength(headers) || res.req.method === "HEAD");
  const length = body === null ? 0 : Buffer.byteLength(body);
  const noLength = known || reply.status === 204 || reply.status === 304;
  res.writeHead(reply.status, noLength ? headers : [...headers, "content-length", String(length)]);
  if (body === null) res.end();
  // One byte for each character: it is ASCII, and copying is cheaper than encoding.
  else res.end(body, length === body.length ? "latin1" : "utf8");
  unread(res, length);
}

/** Reads as fast as the client receives; one that receives nothing for `silence` ms is disconnected. */
async function sendStream(
  res: ServerResponse,
  { status, headers, body, stalled = "" }: Reply,
  stream: NonNullable<Reply["stream"]>,
  silence: number,
): Promise<void> {
  if (body === null) res.shouldKeepAlive = false;
  res.writeHead(status, headers);
  res.flushHeaders();
  const left = new AbortController();
  const reading = stream[Symbol.asyncIterator]();
  const leave = () => {
    left.abort();
    void reading.return?.();
  };
  const { socket } = res.req;
  const hangUp = () => void res.destroy();
  // Where a stream has no end the client's is its end.
  if (body === null) socket.once("end", hangUp);
  res.once("close", () => socket.off("end", hangUp));
  res.once("close", leave).once("error", leave);
  onStall(res, silence, () => {
    leave();
    res.end(stalled);
    setTimeout(() => res.destroy(), Math.min(silence, mostLinger)).unref();
  });
  for (;;) {
    const { done, value } = await reading.next();
    if (left.signal.aborted) return;
    if (done) return void res.end();
    if (!res.write(value)) await once(res, "drain", left).catch(() => {});
  }
}

const hasLength = (headers: readonly string[]): boolean =>
  headers.includes("content-length") || headers.includes("transfer-encoding");
