import { type IncomingMessage, request as requestHttp } from "node:http";
import type { Answered, Asked, Send } from "./call.ts";
import { ControlError } from "./errors.ts";

/** As `fetch` of the platform, or one that goes through something. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

function headersOf({ body }: Asked, token: string | undefined): Record<string, string> {
  return {
    ...(body !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

/** What the system says of a failed request: `ECONNREFUSED`, `ENOTFOUND` … */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.message : causeOf(error.cause);
}

const unanswered = (base: string, cause: unknown): ControlError =>
  new ControlError(
    0,
    { code: "no_sim", detail: `the sim at ${base} does not answer: ${causeOf(cause)}` },
    { cause },
  );

function bodyOf(message: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => resolve(Buffer.concat(chunks)));
    message.on("error", reject);
  });
}

/** By the platform's sockets: test suites replace `fetch` with a stub of their own, and jsdom has none. */
async function bySocket(base: string, asked: Asked, headers: Record<string, string>): Promise<Answered> {
  // the sim in this process has a client as well, and needs no TLS
  const open = base.startsWith("https:") ? (await import("node:https")).request : requestHttp;
  const { method, signal } = asked;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const request = open(base + asked.path, { method, headers });
    const abort = () => {
      request.destroy();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    request.on("close", () => signal?.removeEventListener("abort", abort));
    request.on("error", reject);
    request.on("response", (message) => {
      bodyOf(message).then((body) => resolve({ status: message.statusCode ?? 0, body }), reject);
    });
    request.end(asked.body);
  });
}

async function byFetch(
  fetch: Fetch,
  base: string,
  { method, path, body, signal }: Asked,
  { "content-length": _, ...headers }: Record<string, string>,
): Promise<Answered> {
  const init: RequestInit = { method, headers, redirect: "manual" };
  if (body !== undefined) init.body = body;
  if (signal) init.signal = signal;
  const response = await fetch(base + path, init);
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
}

/** Sends requests to a sim elsewhere. @param base Scheme, host and port */
export function sendOverNetwork(
  base: string,
  { token, fetch }: { token?: string | undefined; fetch?: Fetch | undefined },
): Send {
  return async (asked) => {
    asked.signal?.throwIfAborted();
    const headers = headersOf(asked, token);
    try {
      return await (fetch ? byFetch(fetch, base, asked, headers) : bySocket(base, asked, headers));
    } catch (error) {
      if (asked.signal?.aborted) throw asked.signal.reason;
      throw unanswered(base, error);
    }
  };
}
