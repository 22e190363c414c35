import { type Family, unknownFamily } from "./family.ts";
import type { Rejection, Reply, TransportFault } from "./reply.ts";

type Transport = "socket" | "fetch";

/** The facts of a call, kept if a later step fails. The journal declares further ones (state/journal/traffic.ts). */
export interface CallRecord {
  project?: number | null;
  rejected?: Rejection;
  fault?: string;
  scripted?: true;
  /** What answered, if neither the emulator nor a script did. */
  source?: string;
  partition?: string;
}

export interface Call {
  readonly method: string;
  /** Path without query: repeated slashes collapsed, no trailing slash (except "/"), still percent-encoded. */
  readonly path: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** name, value, name, value … as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly peer: string;
  readonly transport: Transport;
  /** It came through our own proxy: for the host that it names, not for us. */
  readonly proxied: boolean;
  /** Scheme, host and port of links to here, without a trailing slash: the public address, or what the sender used. */
  readonly origin: string;
  /** Arrival, ms since the epoch. */
  readonly at: number;
  /** When the transport received it, on the monotonic clock (performance.now()). */
  readonly started: number;
  /** When an upstream's answer to it was over; undefined: it is answered here. */
  readonly ended: number | undefined;
  /** Ends when the sender goes away; long polls listen to it. */
  readonly signal: AbortSignal;
  /** Its number in the gauge of requests in flight; 0: not counted there. */
  readonly ticket: number;
  params: Readonly<Record<string, string>>;
  family: Family;
  /** What is to go wrong; filled in by the layers. */
  fault: CallFault | undefined;
  readonly record: CallRecord;
}

/** What is to go wrong with one call. Handlers declare further fields, which they read (service/capture/packet.ts). */
export interface CallFault {
  readonly delay: number;
  /** Given instead of the handler's answer: the handler does not run, and nothing is kept. Must not reject. */
  readonly answer?: Reply | Promise<Reply>;
  readonly rejection?: Rejection;
  readonly change?: (reply: Reply) => Reply;
  /** What the transport does with the handler's answer; what was sent is kept nevertheless. */
  readonly transport?: TransportFault;
}

export interface CallParts {
  method: string;
  target: string;
  headers: Readonly<Record<string, string | undefined>>;
  rawHeaders: readonly string[];
  body: Buffer;
  peer: string;
  transport?: Transport;
  at: number;
  started: number;
  ended?: number;
  /** Makes the abort signal on first use: most calls never ask. */
  signal: () => AbortSignal;
  scheme?: "http" | "https";
  /** The sim's public address, if it has one; what came through the proxy gets links to where it was sent. */
  publicUrl?: string | undefined;
  ticket?: number;
  proxied?: boolean;
}

const noParams: Readonly<Record<string, string>> = Object.freeze({});
const emptyQuery = Object.freeze(new URLSearchParams());

/** Collapses `//`, drops one trailing slash and the query. Parsed by hand: `new URL("//batch/")` reads a host. */
export function pathOf(target: string): string {
  const mark = target.indexOf("?");
  let path = mark === -1 ? target : target.slice(0, mark);
  if (path.includes("//")) path = path.replace(/\/{2,}/g, "/");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

class LazyCall implements Call {
  readonly path: string;
  params = noParams;
  family: Family;
  fault: CallFault | undefined = undefined;
  readonly record: CallRecord = {};
  readonly #parts: CallParts;
  #query: URLSearchParams | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.path = pathOf(parts.target);
    this.family = unknownFamily(this.path);
  }

  get method(): string {
    return this.#parts.method;
  }
  get target(): string {
    return this.#parts.target;
  }
  get headers() {
    return this.#parts.headers;
  }
  get rawHeaders() {
    return this.#parts.rawHeaders;
  }
  get body(): Buffer {
    return this.#parts.body;
  }
  get peer(): string {
    return this.#parts.peer;
  }
  get transport(): Transport {
    return this.#parts.transport ?? "socket";
  }
  get at(): number {
    return this.#parts.at;
  }
  get started(): number {
    return this.#parts.started;
  }
  get ended(): number | undefined {
    return this.#parts.ended;
  }
  get signal(): AbortSignal {
    return this.#parts.signal();
  }
  get ticket(): number {
    return this.#parts.ticket ?? 0;
  }
  get proxied(): boolean {
    return this.#parts.proxied ?? false;
  }
  get origin(): string {
    const { publicUrl, scheme = "http" } = this.#parts;
    return publicUrl !== undefined && !this.proxied ? publicUrl : `${scheme}://${this.headers.host ?? "localhost"}`;
  }
  get query(): URLSearchParams {
    if (this.#query) return this.#query;
    const mark = this.target.indexOf("?");
    this.#query = mark === -1 ? emptyQuery : new URLSearchParams(this.target.slice(mark + 1));
    return this.#query;
  }
}

export const callFrom = (parts: CallParts): Call => new LazyCall(parts);

const bearerPattern = /^Bearer\s+(\S+)\s*$/i;

export const bearerOf = (call: Call): string | undefined => bearerPattern.exec(call.headers.authorization ?? "")?.[1];

export const queryToken = (call: Call): string | undefined =>
  call.query.get("token") || call.query.get("api_key") || undefined;
