import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { App } from "../http/app.ts";
import { type Call, callFrom, pathOf } from "../http/call.ts";
import { empty, type Reply } from "../http/reply.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Gauge } from "../kernel/gauge.ts";

export interface Listener {
  readonly port: number;
  readonly host: string;
  /** Stops accepting, lets running requests end (at most `graceMs`), then closes what is left. */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  app: App;
  clock: Clock;
  gauge: Gauge;
  host: string;
  port: number;
}

/** A body that stops arriving is given up after this long. */
const bodyTimeout = 60_000;

const isControl = (target: string): boolean => target.startsWith("/__sim");

/**
 * Opens the one port. A plain request goes straight through node:http.
 * @throws the system's error (EADDRINUSE, EADDRNOTAVAIL …) when the port cannot be had.
 */
export function listen(options: ListenOptions): Promise<Listener> {
  const { gauge } = options;
  const server = createServer({ requestTimeout: bodyTimeout, keepAliveTimeout: 65_000 });
  const inFlight = createFlights(gauge);
  server.on("connection", inFlight.watch);
  server.on("request", (req, res) => {
    const counted = !isControl(req.url ?? "");
    if (counted) inFlight.begin(req.socket);
    receive(req, res, options, counted ? inFlight.end : undefined);
  });
  server.on("clientError", answerGarbage);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      const { port } = server.address() as AddressInfo;
      resolve({ port, host: options.host, close: (graceMs = 1000) => closeServer(server, graceMs) });
    });
  });
}

/** Counts requests per connection: one listener a connection, not one a request. */
function createFlights(gauge: Gauge) {
  const flights = new WeakMap<Socket, number>();
  const change = (socket: Socket, by: number) => {
    const open = flights.get(socket) ?? 0;
    if (open + by < 0) return;
    flights.set(socket, open + by);
    if (by > 0) gauge.begin();
    else gauge.end();
  };
  return {
    begin: (socket: Socket) => change(socket, 1),
    end: (socket: Socket) => change(socket, -1),
    /** A sender that goes away takes its unanswered requests with it. */
    watch(socket: Socket): void {
      socket.once("close", () => {
        for (let open = flights.get(socket) ?? 0; open > 0; open--) change(socket, -1);
      });
    },
  };
}

/** Bytes that are not HTTP get a short answer; a sender that went away gets none. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Socket | NodeJS.WritableStream): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void ("destroy" in socket && socket.destroy());
  const timedOut = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const status = timedOut
    ? "408 Request Timeout"
    : tooLarge
      ? "431 Request Header Fields Too Large"
      : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs).unref();
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** A request whose body is still coming in. */
interface Arrival {
  req: IncomingMessage;
  res: ServerResponse;
  method: string;
  target: string;
  at: number;
  started: number;
}

const callOf = ({ req, res, method, target, at, started }: Arrival, body: Buffer): Call =>
  callFrom({
    method,
    target,
    headers: req.headers as Record<string, string | undefined>,
    rawHeaders: req.rawHeaders,
    body,
    peer: req.socket.remoteAddress ?? "unknown",
    at,
    started,
    signal: () => signalOf(res),
  });

/** Reads the body up to the route's limit, has the app answer, writes the answer. */
function receive(
  req: IncomingMessage,
  res: ServerResponse,
  { app, clock }: ListenOptions,
  answered: ((socket: Socket) => void) | undefined,
): void {
  const method = req.method ?? "GET";
  const target = req.url ?? "/";
  const arrival: Arrival = { req, res, method, target, at: clock.now(), started: performance.now() };
  const limit = app.bodyLimit(method, pathOf(target));
  if (Number(req.headers["content-length"] ?? 0) > limit) {
    refuse(arrival, app);
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    if (size > limit) return;
    size += chunk.length;
    if (size > limit) refuse(arrival, app);
    else chunks.push(chunk);
  });
  req.on("end", () => {
    if (size > limit) return;
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
    const answer = (reply: Reply) => {
      send(res, reply);
      answered?.(req.socket);
    };
    app.handle(callOf(arrival, body)).then(answer, () => answer(empty(500)));
  });
}

/** The rest of an upload that is too large is not waited for. */
function refuse(arrival: Arrival, app: App): void {
  const { req, res } = arrival;
  req.resume();
  app.refuseTooLarge(callOf(arrival, Buffer.alloc(0))).then((reply) => {
    res.once("finish", () => req.socket.destroySoon());
    send(res, { ...reply, headers: [...reply.headers, "connection", "close"] });
  });
}

/** Aborts when the sender goes away before it has its answer. */
function signalOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) gone.abort(new Error("the caller went away"));
  });
  return gone.signal;
}

function send(res: ServerResponse, reply: Reply): void {
  if (res.destroyed) return;
  const { body, headers } = reply;
  const known = body === null ? hasLength(headers) : false;
  const length = body === null ? 0 : Buffer.byteLength(body);
  const noLength = known || reply.status === 204 || reply.status === 304;
  res.writeHead(reply.status, noLength ? headers : [...headers, "content-length", String(length)]);
  if (body === null) res.end();
  else res.end(body);
}

const hasLength = (headers: readonly string[]): boolean => headers.includes("content-length");
