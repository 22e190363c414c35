import type { App } from "../http/app.ts";
import { callFrom, pathOf } from "../http/call.ts";
import type { Reply } from "../http/reply.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Gauge } from "../kernel/gauge.ts";

/** The door without a socket: a web Request in, a web Response out. Usable as an SDK's `fetch` option. */
export async function answerRequest(
  request: Request,
  { app, clock, gauge }: { app: App; clock: Clock; gauge: Gauge },
): Promise<Response> {
  const url = new URL(request.url);
  const target = url.pathname + url.search;
  const counted = !target.startsWith("/__sim");
  if (counted) gauge.begin();
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
      door: "fetch",
      at: clock.now(),
      started: performance.now(),
      signal: () => request.signal,
      scheme: url.protocol === "https:" ? "https" : "http",
    });
    return responseOf(await (tooLarge ? app.refuseTooLarge(call) : app.handle(call)));
  } finally {
    if (counted) gauge.end();
  }
}

/** Statuses that must not carry a body. */
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
