import type { TimeSource } from "../../kernel/base/clock.ts";
import { performance } from "../../kernel/base/real-time.ts";
import type { App } from "../../kernel/http/app.ts";
import { callFrom, pathOf } from "../../kernel/http/call.ts";
import { isControlPath } from "../../kernel/http/family.ts";
import type { Gauge } from "../../kernel/http/gauge.ts";
import type { Reply, TransportFault } from "../../kernel/http/reply.ts";

interface FetchContext {
  app: App;
  clock: TimeSource;
  gauge: Gauge;
  closing: AbortSignal;
}

/** Usable as an SDK's `fetch` option. @throws as fetch: the signal's reason; TypeError for a lost connection */
export async function answerRequest(request: Request, context: FetchContext): Promise<Response> {
  const reply = await replyTo(request, context);
  request.signal.throwIfAborted();
  if (reply.transport !== undefined) return mishaps[reply.transport](reply, request.signal, context.closing);
  if (reply.stream !== undefined) return streamingResponse(reply, reply.stream, request.signal);
  return responseOf(reply);
}

async function replyTo(request: Request, { app, clock, gauge }: FetchContext): Promise<Reply> {
  const url = new URL(request.url);
  const target = url.pathname + url.search;
  const ticket = isControlPath(target) ? 0 : gauge.begin();
  try {
    const received = Buffer.from(await request.arrayBuffer());
    const tooLarge = received.length > app.bodyLimit(request.method, pathOf(target));
    const headers: Record<string, string> = { host: url.host };
    const rawHeaders = ["host", url.host];
    for (const [name, value] of request.headers) {
      headers[name] = value;
      rawHeaders.push(name, value);
    }
    const call = callFrom({
      method: request.method,
      target,
      headers,
      rawHeaders,
      body: tooLarge ? Buffer.alloc(0) : received,
      peer: "127.0.0.1",
      transport: "fetch",
      at: clock.now(),
      started: performance.now(),
      signal: () => request.signal,
      scheme: url.protocol === "https:" ? "https" : "http",
      ticket,
    });
    return await (tooLarge ? app.refuseTooLarge(call) : app.handle(call));
  } finally {
    if (ticket > 0) gauge.end(ticket);
  }
}

const lost = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) });

const reset = async (): Promise<never> => {
  throw lost("fetch failed");
};

function hang(_: Reply, signal: AbortSignal, closing: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.aborted ? signal.reason : lost("fetch failed"));
    for (const it of [signal, closing]) {
      if (it.aborted) end();
      else it.addEventListener("abort", end, { once: true });
    }
  });
}

async function truncate(reply: Reply): Promise<Response> {
  if (reply.body === null || reply.body.length === 0) return reset();
  const bytes = Buffer.from(reply.body);
  const { status, headers } = responseOf(reply);
  headers.set("content-length", String(bytes.length));
  return new Response(brokenBody(bytes.subarray(0, bytes.length >> 1)), { status, headers });
}

/** The head and the body, then an error. */
async function cut(reply: Reply): Promise<Response> {
  const { status, headers } = responseOf(reply);
  return new Response(brokenBody(Buffer.from(reply.body ?? "")), { status, headers });
}

function brokenBody(bytes: Buffer): ReadableStream {
  let isSent = bytes.length === 0;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(lost("terminated"));
      else controller.enqueue(new Uint8Array(bytes));
      isSent = true;
    },
  });
}

const mishaps: Readonly<
  Record<TransportFault, (reply: Reply, signal: AbortSignal, closing: AbortSignal) => Promise<Response>>
> = { reset, hang, truncate, cut };

/** A body that continues until its reader cancels, the caller aborts, or the stream ends. */
function streamingResponse(reply: Reply, stream: NonNullable<Reply["stream"]>, signal: AbortSignal): Response {
  const iterator = stream[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const leave = () => void iterator.return?.();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener("abort", () => {
        controller.error(signal.reason);
        leave();
      });
    },
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (signal.aborted) return;
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
    cancel: leave,
  });
  const { status, headers } = responseOf({ ...reply, body: null });
  return new Response(body, { status, headers });
}

const bodiless = new Set([204, 304]);

function responseOf(reply: Reply): Response {
  const headers = new Headers();
  for (let i = 0; i < reply.headers.length; i += 2) {
    headers.append(reply.headers[i] ?? "", reply.headers[i + 1] ?? "");
  }
  const body = bodiless.has(reply.status) || reply.body === null ? null : reply.body;
  return new Response(typeof body === "string" || body === null ? body : new Uint8Array(body), {
    status: reply.status,
    headers,
  });
}
