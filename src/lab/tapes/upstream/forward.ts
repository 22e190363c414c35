import { type ClientRequest, type IncomingMessage, request as overHttp, type ServerResponse } from "node:http";
import { request as overTls } from "node:https";
import type { Socket } from "node:net";
import { clearTimeout, performance, setTimeout } from "../../../kernel/base/real-time.ts";
import { pairsOf } from "../format/exchange.ts";
import { headOf, type RawAnswer, type RawExchange } from "../format/raw-exchange.ts";
import { createChunkTimes, createKeeper, type Keeper } from "./passing-body.ts";
import {
  type Bases,
  hasHeader,
  mayHavePages,
  mostRelinked,
  relinked,
  relinkedHeaders,
  toClient,
  toUpstream,
} from "./rewriting.ts";
import { takeWhole } from "./take-whole.ts";
import { type Agents, failureBody, failureOf, type UpstreamFailure } from "./upstreams.ts";

export interface Offered {
  /** As made by `pathOf`. */
  readonly path: string;
  /** The host that was asked for, where the request came through the proxy. */
  readonly host: string | undefined;
  /** Where the client believes the service to be; undefined if it does not reveal it. */
  readonly origin: string | undefined;
}

export interface Passing {
  offer(req: IncomingMessage, res: ServerResponse, offered: Offered, answerHere: () => void): void;
  /** Passes a websocket on. @param head What came after its handshake */
  upgrade(req: IncomingMessage, socket: Socket, head: Buffer, offered: Omit<Offered, "origin">): void;
}

interface ForwardOptions {
  /** The upstream; a path of it goes before the request's. */
  base: URL;
  agents: Agents;
  /** Arrival, ms since the epoch. */
  at: number;
  /** Largest body that is kept, in bytes; larger ones pass without being kept. */
  bodyLimit: number;
  /** The port that requests come to: no upstream may be it. */
  ownPort: number;
  /** As made by `pathOf`. */
  path: string;
  /** Redirects and links to further pages are rewritten with these: they must not lead past us. */
  links: Bases;
}

export interface ForwardedExchange {
  readonly exchange: RawExchange;
  readonly failure?: UpstreamFailure;
}

interface Transit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly options: ForwardOptions;
  readonly started: number;
  readonly sent: Keeper;
  readonly received: Keeper;
  readonly times: ReturnType<typeof createChunkTimes>;
  answer: Omit<RawAnswer, "body" | "total"> | undefined;
  /** Only the first call counts. */
  finish(end?: { aborted?: "client" | "upstream"; failure?: UpstreamFailure }): void;
}

const maxHeaderSize = 64 * 1024;

/** A client that has ended its side gets an answer that begins within this time, ms. */
const mostHalfOpen = 60_000;

/** A target in absolute form names a host of its own: only its path counts here. */
export const pathIn = (target: string): string => {
  if (target.startsWith("/")) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return path.startsWith("/") ? path : `/${path.replace(/^\*$/, "")}`;
};

/** Where a target goes. The text is kept as it was sent: `new URL` would rewrite it. */
const fullPath = (base: URL, target: string): string => base.pathname.replace(/\/$/, "") + pathIn(target);

/**
 * Passes a request on and its answer back, as they are: order, case and duplicates of headers, bodies undecoded and
 * unbuffered, with back-pressure, early hints, trailers and aborts. Redirects are the client's to follow. Only links to
 * the upstream are rewritten, so that further pages are asked for here as well; the exchange has them as they were. Answers 502
 * where the upstream cannot be reached. Resolves when it is over; never rejects.
 */
export function forward(
  req: IncomingMessage,
  res: ServerResponse,
  options: ForwardOptions,
): Promise<ForwardedExchange> {
  return new Promise((resolve) => {
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const started = performance.now();
    const leave = () => void res.destroy();
    const halfClosed = () => {
      if (transit.answer) leave();
      else timer ??= setTimeout(leave, mostHalfOpen).unref();
    };
    const transit: Transit = {
      req,
      res,
      options,
      started,
      sent: createKeeper(options.bodyLimit),
      received: createKeeper(options.bodyLimit),
      times: createChunkTimes(started),
      answer: undefined,
      finish({ aborted, failure } = {}) {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        req.socket.off("end", halfClosed);
        resolve({ exchange: exchangeOf(transit, aborted), failure });
      },
    };
    req.on("error", () => {});
    req.socket.once("end", halfClosed);
    if (req.socket.readableEnded) halfClosed();
    const begin = (parts?: readonly Buffer[]) => {
      try {
        send(transit, true, parts);
      } catch (error) {
        // What Node refuses to send, or a certificate that it cannot read.
        req.resume();
        refuse(transit, failureOf(error, options.base.origin));
      }
    };
    const whole = (parts: readonly Buffer[]) => {
      for (const part of parts) transit.sent.add(part);
      begin(parts);
    };
    const stream = () => {
      req.on("data", transit.sent.add);
      begin();
    };
    takeWhole(req, whole, stream);
  });
}

function exchangeOf(transit: Transit, aborted: "client" | "upstream" | undefined): RawExchange {
  const { req, options, sent, received, answer, started } = transit;
  const partition = req.headers["x-test-id"];
  return {
    at: options.at,
    method: req.method ?? "GET",
    // Without the upstream's base path: replays and route names do not know it.
    url: options.base.origin + pathIn(req.url ?? "/"),
    http: req.httpVersion,
    headers: req.rawHeaders,
    body: sent.body(),
    answer: answer
      ? { body: received.body(), total: performance.now() - started, ...answer, chunks: transit.times.list() }
      : null,
    aborted,
    client: typeof partition === "string" ? partition : undefined,
  };
}

function send(transit: Transit, mayTryAgain: boolean, parts?: readonly Buffer[]): void {
  const { req, res, options } = transit;
  const upstream = openUpstream(req, options);
  const isBodiless = !hasHeader(req.rawHeaders, "content-length") && req.headers["transfer-encoding"] === undefined;
  const leave = () => {
    if (res.writableFinished) return;
    upstream.destroy();
    transit.finish({ aborted: "client" });
  };
  res.once("close", leave);
  upstream.on("information", (info: { statusCode: number; rawHeaders: string[] }) => hint(transit, info));
  upstream.on("response", (answer: IncomingMessage) => passBack(transit, upstream, answer));
  upstream.on("error", (error) => {
    // The answer has already begun: the rest of the request is of no use to the upstream.
    if (transit.answer || res.destroyed) return drain(req, upstream);
    const isStale = upstream.reusedSocket && isBodiless && (error as NodeJS.ErrnoException).code === "ECONNRESET";
    if (isStale && mayTryAgain) {
      res.off("close", leave);
      return send(transit, false, parts);
    }
    drain(req, upstream);
    refuse(transit, failureOf(error, options.base.origin));
  });
  if (isBodiless) {
    upstream.end();
    if (!parts) req.resume();
    return;
  }
  const addTrailers = () => upstream.addTrailers(pairsOf(req.rawTrailers));
  if (parts) {
    endWith(upstream, parts, addTrailers);
    return;
  }
  flushHead(upstream);
  req.on("end", addTrailers);
  req.pipe(upstream);
}

/** Ends a message with its whole body: mostly head and body are one write. */
function endWith(message: ClientRequest | ServerResponse, parts: readonly Buffer[], addTrailers: () => void): void {
  const last = parts.at(-1);
  for (const part of parts) if (part !== last) message.write(part);
  addTrailers();
  if (last) message.end(last.toString("latin1"), "latin1");
  else message.end();
}

export function openUpstream(
  req: IncomingMessage,
  { base, agents, ownPort }: Pick<ForwardOptions, "base" | "agents" | "ownPort">,
  more: readonly string[] = [],
): ClientRequest {
  const method = req.method ?? "GET";
  const upstream = (base.protocol === "https:" ? overTls : overHttp)({
    protocol: base.protocol,
    hostname: base.hostname.replace(/^\[|\]$/g, ""),
    port: base.port,
    method,
    path: fullPath(base, req.url ?? "/"),
    agent: agents.of(base.protocol),
    headers: [...toUpstream(req.rawHeaders, { host: base.host, method }), ...more],
    setHost: false,
    maxHeaderSize,
  });
  upstream.on("socket", (socket) => {
    if (!socket.connecting) return;
    socket.once("connect", () => {
      // A host name may resolve to this sim.
      if (socket.remotePort === ownPort && socket.remoteAddress === socket.localAddress)
        upstream.destroy(Object.assign(new Error("the upstream is this sim"), { code: "LOOP" }));
    });
  });
  return upstream;
}

function drain(req: IncomingMessage, upstream: ClientRequest): void {
  req.unpipe(upstream);
  req.resume();
}

function hint({ req, res }: Transit, info: { statusCode: number; rawHeaders: string[] }): void {
  if (res.headersSent || req.httpVersionMinor < 1) return;
  if (info.statusCode === 102) res.writeProcessing();
  if (info.statusCode !== 103) return;
  const links = pairsOf(info.rawHeaders).flatMap(([name, value]) => (name.toLowerCase() === "link" ? [value] : []));
  try {
    res.writeEarlyHints({ link: links });
  } catch {
    // A hint that Node does not take is no more than a hint.
  }
}

function passBack(transit: Transit, upstream: ClientRequest, answer: IncomingMessage): void {
  const { req, options } = transit;
  const ttfb = performance.now() - transit.started;
  const head: Head = { ...headOf(answer), headers: relinkedHeaders(answer.rawHeaders, options.links) };
  const isHeld = mayHavePages(req.method ?? "GET", options.path, head);
  try {
    if (!isHeld) writeHead(transit, head);
  } catch {
    // Node reads more than it writes, e.g. control characters in a header.
    answer.on("error", () => {});
    upstream.destroy();
    refuse(transit, failureOf({ code: "HPE_INVALID_HEADER_TOKEN" }, transit.options.base.origin));
    return;
  }
  transit.answer = { ...headOf(answer), ttfb };
  answer.on("error", () => {});
  const asStream = () => {
    if (isHeld) hold(transit, answer, head);
    else flushHead(transit.res);
    watch(transit, answer);
    if (!isHeld) answer.pipe(transit.res);
  };
  if (isHeld) asStream();
  else takeWhole(answer, (parts) => giveWhole(transit, answer, parts), asStream);
}

function giveWhole(transit: Transit, answer: IncomingMessage, parts: readonly Buffer[]): void {
  const { res, received } = transit;
  for (const part of parts) received.add(part);
  if (!res.destroyed) endWith(res, parts, () => addTrailers(res, answer));
  transit.finish();
  // The connection is free for the next request once the stream has ended.
  answer.push(null);
  answer.resume();
}

function addTrailers(res: ServerResponse, answer: IncomingMessage): void {
  if (answer.rawTrailers.length > 0 && res.chunkedEncoding) res.addTrailers(pairsOf(answer.rawTrailers));
}

/** Holds an answer back until its end, which may have to be another; one that is large, or cut off, passes as it is. */
function hold(transit: Transit, answer: IncomingMessage, head: Head): void {
  const { res, options } = transit;
  const chunks: Buffer[] = [];
  let size = 0;
  const release = (to: Head = head, body: Buffer = Buffer.concat(chunks)) => {
    if (res.destroyed) return;
    try {
      writeHead(transit, to);
      res.write(body);
    } catch {
      res.destroy();
    }
  };
  const gather = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= mostRelinked) return;
    answer.off("data", gather).off("end", give).off("close", giveUp);
    release();
    answer.pipe(res);
  };
  const give = () => {
    answer.off("close", giveUp);
    if (!answer.complete) return release();
    const changed = relinked(head.headers, Buffer.concat(chunks), options.links);
    release(changed && { ...head, headers: changed.headers }, changed?.body);
    // After the trailers, which `watch` adds.
    process.nextTick(() => res.end());
  };
  const giveUp = () => release();
  answer.on("data", gather).once("end", give).once("close", giveUp);
}

function watch(transit: Transit, answer: IncomingMessage): void {
  const { res, received, times } = transit;
  answer.on("data", received.add).on("data", times.add);
  answer.on("end", () => {
    if (!answer.complete) return;
    addTrailers(res, answer);
    transit.finish();
  });
  answer.on("close", () => {
    if (answer.complete) return;
    // What came is flushed, and then the connection ends as abruptly as the upstream's did.
    res.socket?.destroySoon();
    transit.finish({ aborted: "upstream" });
  });
}

const nothing = Buffer.alloc(0);

/** Sends the head before the body comes. Node's own flushHeaders would turn bytes beyond ASCII into UTF-8. */
const flushHead = (message: ClientRequest | ServerResponse): void => void message.write(nothing);

type Head = Pick<RawAnswer, "status" | "reason" | "headers">;

function writeHead({ req, res }: Transit, { status, reason, headers }: Head): void {
  const takesChunks = req.httpVersionMinor > 0;
  res.sendDate = false;
  // If the upstream sends no Connection header, neither do we: HTTP/1.1 keeps it open.
  if (takesChunks && res.shouldKeepAlive) res.removeHeader("connection");
  const hop = { staysOpen: res.shouldKeepAlive, takesChunks };
  res.writeHead(status, reason, toClient(headers, hop));
}

/** Answers instead of the upstream; where that reset the connection, the client's is reset, too, as by a replay. */
function refuse(transit: Transit, failure: UpstreamFailure): void {
  const { req, res } = transit;
  if (resets.has(failure.code)) {
    // before the client's own end is seen
    transit.finish({ failure, aborted: "upstream" });
    res.socket?.resetAndDestroy();
    return;
  }
  const body = failureBody(failure);
  const { origin } = req.headers;
  const cors =
    origin === undefined
      ? []
      : ["access-control-allow-origin", origin, "access-control-allow-credentials", "true", "vary", "origin"];
  if (!res.headersSent && !res.destroyed) {
    const head = ["content-type", "application/json", "content-length", String(Buffer.byteLength(body))];
    res.writeHead(502, [...head, ...cors, "x-phx-source", "upstream"]);
    res.end(body);
  }
  transit.finish({ failure });
}

/** Codes of connections that the upstream ended instead of an answer. */
const resets: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);
