import type { IncomingMessage } from "node:http";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { ControlError, errorOf } from "./errors.ts";
import { ownRequest } from "./own-request.ts";

export interface Outgoing {
  method: string;
  /** Path from the root, e.g. `/__sim/info`. */
  path: string;
  body?: string;
  signal?: AbortSignal;
}

export interface Incoming {
  status: number;
  body: string | Uint8Array;
}

/** Sends a request to a sim: in process, or over the network. @throws ControlError if there is no answer */
export type Send = (request: Outgoing) => Promise<Incoming>;

/** Makes a control call, `path` below /__sim, and returns its answer. @throws ControlError */
export type ControlCall = <T>(method: string, path: string, body?: unknown, signal?: AbortSignal) => Promise<T>;

/** Fetches the raw answer of a path of the sim. @throws ControlError */
export type ControlFetch = (path: string) => Promise<Uint8Array>;

/** The project of a handle (default: all). */
export interface HandleScope {
  readonly call: ControlCall;
  readonly project?: number | undefined;
}

function parsed({ body, status }: Incoming): Json {
  // jest's jsdom has no TextDecoder
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(status, {
      code: "not_a_sim",
      detail: `the response (HTTP ${status}) is not JSON: ${JSON.stringify(text.slice(0, 60))}`,
    });
  }
}

const failureOf = (answer: Incoming): ControlError => {
  const body = parsed(answer);
  return errorOf(answer.status, isObject(body) ? body : { code: "not_a_sim", detail: String(body) });
};

const isFine = ({ status }: Incoming): boolean => status >= 200 && status < 300;

export const callBy =
  (send: Send): ControlCall =>
  async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const answer = await send({
      method,
      path: `/__sim/${path}`,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (!isFine(answer)) throw failureOf(answer);
    return parsed(answer) as T;
  };

export const fetchBy =
  (send: Send): ControlFetch =>
  async (path) => {
    const answer = await send({ method: "GET", path });
    if (!isFine(answer)) throw failureOf(answer);
    return typeof answer.body === "string" ? Buffer.from(answer.body) : answer.body;
  };

/** Parameters of a control call; undefined ones are left out. */
export type Query = Record<string, string | number | JsonObject | undefined>;

/** `?a=1&b=2`, or "" for none; objects are written as JSON. */
export function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return search.size === 0 ? "" : `?${search}`;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

function headersOf({ body }: Outgoing, token: string | undefined): Record<string, string> {
  return {
    ...(body !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

/** The system's code of a failed request: `ECONNREFUSED`, `ENOTFOUND` … */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.message : causeOf(error.cause);
}

const unanswered = (base: string, cause: unknown): ControlError =>
  new ControlError(0, { code: "no_sim", detail: `the sim at ${base} does not answer: ${causeOf(cause)}` }, { cause });

function bodyOf(message: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => resolve(Buffer.concat(chunks)));
    message.on("error", reject);
  });
}

/** Uses the platform's sockets: test suites replace `fetch` and `http.request` with stubs, and jsdom has no `fetch`. */
function bySocket(base: string, outgoing: Outgoing, headers: Record<string, string>): Promise<Incoming> {
  const { method, signal } = outgoing;
  return new Promise((resolve, reject) => {
    const request = ownRequest(new URL(base + outgoing.path), { method, headers });
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
    request.end(outgoing.body);
  });
}

async function byFetch(
  fetch: Fetch,
  base: string,
  { method, path, body, signal }: Outgoing,
  { "content-length": _, ...headers }: Record<string, string>,
): Promise<Incoming> {
  const init: RequestInit = { method, headers, redirect: "manual" };
  if (body !== undefined) init.body = body;
  if (signal) init.signal = signal;
  const response = await fetch(base + path, init);
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
}

export function sendOverNetwork(
  base: string,
  { token, fetch }: { token?: string | undefined; fetch?: Fetch | undefined },
): Send {
  return async (outgoing) => {
    outgoing.signal?.throwIfAborted();
    const headers = headersOf(outgoing, token);
    try {
      return await (fetch ? byFetch(fetch, base, outgoing, headers) : bySocket(base, outgoing, headers));
    } catch (error) {
      if (outgoing.signal?.aborted) throw outgoing.signal.reason;
      throw unanswered(base, error);
    }
  };
}
