import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { countedLines } from "./blocked-call.ts";

export interface Forwarded {
  readonly status: number;
  /** Lower-case names; cookies a line each. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface ToForward {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
}

/** Headers of the original connection. */
const ownHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

const passedOn = (headers: Iterable<[string, string]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !ownHeaders.has(name) && !name.startsWith(":")));

function answerHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join("\n") : (value ?? ""),
  ]);
  return passedOn(entries);
}

/**
 * Sends a request byte for byte, follows no redirects, and requests an uncompressed answer.
 * @throws Error of the socket, with its `code`; AbortError
 */
export function forward({ url, method, headers, body, signal }: ToForward): Promise<Forwarded> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const length = body === null ? {} : { "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method,
      headers: { ...passedOn(Object.entries(headers)), ...length, "accept-encoding": "identity" },
      signal,
    });
    request.on("error", reject);
    request.on("response", (answer) => {
      answer.toArray().then(
        (chunks) =>
          resolve({
            status: answer.statusCode ?? 502,
            headers: answerHeaders(answer),
            body: Buffer.concat(chunks),
          }),
        reject,
      );
    });
    request.end(body ?? undefined);
  });
}

/** Globals of a page; workers and old browsers lack some. */
interface PageGlobals {
  Navigator?: { prototype: object };
  NavigatorUAData?: { prototype: object };
}

/**
 * Runs in the page, before its scripts. posthog-js captures nothing in a browser that seems automated: it reads
 * `navigator.webdriver`, the user agent and the brands. The function must not refer to anything outside of itself.
 */
export function disguise(): void {
  const { Navigator, NavigatorUAData } = globalThis as PageGlobals;
  const plain = (text: unknown) => String(text).replaceAll("HeadlessChrome", "Chrome");
  const replace = (
    host: { prototype: object } | undefined,
    name: string,
    make: (value: unknown) => unknown,
  ) => {
    const before = host && Object.getOwnPropertyDescriptor(host.prototype, name);
    if (!host || !before?.get) return;
    const { get } = before;
    Object.defineProperty(host.prototype, name, {
      ...before,
      get(this: unknown) {
        return make(Reflect.apply(get, this, []));
      },
    });
  };
  const plainBrand = (it: { brand: string }) => ({ ...it, brand: plain(it.brand) });
  replace(Navigator, "webdriver", () => false);
  replace(Navigator, "userAgent", plain);
  replace(Navigator, "appVersion", plain);
  replace(NavigatorUAData, "brands", (brands) => (Array.isArray(brands) ? brands.map(plainBrand) : brands));
}

/** The same for headers: the user agent and the brands. */
export const disguisedHeader = (value: string): string => value.replaceAll("HeadlessChrome", "Chrome");

/** The parts of a request that are checked. */
interface BrowserRequest {
  readonly method: string;
  readonly url: URL;
  /** Read only if needed: bodies can be large. */
  body(): string;
}

interface SdkRequest {
  readonly methods: readonly string[];
  /** The end of the path: a reverse proxy may add a prefix. */
  readonly path: RegExp;
  /** A further condition, if apps may have such a path as well. */
  readonly also?: (request: BrowserRequest) => boolean;
}

const hasPublicKey = (text: string): boolean => /\bphc_\w{4,}/.test(text);

/** SDKs send the body's compression or their version; else the body has the project's key. */
const isFromSdk = ({ url, body }: BrowserRequest): boolean =>
  ["compression", "ver"].some((name) => url.searchParams.has(name)) ||
  hasPublicKey(url.search) ||
  hasPublicKey(body());

const namesToken = ({ url }: BrowserRequest): boolean =>
  ["token", "api_key"].some((name) => url.searchParams.has(name));

/** The requests of PostHog's browser SDKs. */
const sdkRequests: readonly SdkRequest[] = [
  {
    methods: ["POST", "GET"],
    path: /\/(?:e|s|batch|capture|track|engage|decide|flags|i\/v0\/e|i\/v0\/ai\/batch|i\/v1\/(?:analytics|ai)\/events)\/?$/,
    also: isFromSdk,
  },
  { methods: ["GET"], path: /\/array\/[^/]+\/(?:config(?:\.js)?|array\.js)$/ },
  { methods: ["GET"], path: /\/static\/array(?:\.full)?(?:\.[\w-]+)?\.js$/ },
  {
    methods: ["GET"],
    path: /\/api\/(?:surveys|early_access_features|product_tours|web_experiments)\/?$/,
    also: namesToken,
  },
];

/** True if a request looks like one of PostHog's browser SDKs, for any host. */
export const looksLikeSdk = (request: BrowserRequest): boolean =>
  sdkRequests.some(
    ({ methods, path, also }) =>
      methods.includes(request.method) && path.test(request.url.pathname) && (also?.(request) ?? true),
  );

/** A request that looks like PostHog's and bypassed the sim. */
export interface Escape {
  readonly method: string;
  /** Keys masked, except the public one. */
  readonly url: string;
  /** The page that sent it; "" if unknown. */
  readonly page: string;
}

const lineOf = ({ method, url, page }: Escape): string =>
  `  ${method} ${url}${page === "" ? "" : ` (from ${page})`}`;

/** The entry for `hosts` that covers the first of them: host and the prefix of the proxy. */
function suggestion([first]: readonly Escape[]): string {
  if (first === undefined) return "";
  const { host, pathname } = new URL(first.url);
  const [, prefix = ""] = /^(\/[^/]+)\/./.exec(pathname) ?? [];
  const isOwn = /^\/(?:array|static|api|i)$/.test(prefix);
  return `${host}${isOwn ? "" : prefix}`;
}

/** Requests to PostHog bypassed the sim. */
export class EscapeError extends Error {
  readonly escapes: readonly Escape[];

  constructor(escapes: readonly Escape[]) {
    const head =
      escapes.length === 1
        ? "1 request looks like PostHog's, but bypassed the sim:"
        : `${escapes.length} requests look like PostHog's, but bypassed the sim:`;
    super(
      [
        head,
        ...countedLines(escapes.map(lineOf)),
        `Reroute them with { hosts: ["${suggestion(escapes)}"] }, or allow them with { allowEscapes: true }.`,
      ].join("\n"),
    );
    this.name = "EscapeError";
    this.escapes = escapes;
  }
}

/**
 * Throws an error without frames: a page is the cause, not a line of the test.
 * @throws EscapeError if there are any
 */
export function verifyEscapes(escapes: readonly Escape[]): void {
  if (escapes.length === 0) return;
  const error = new EscapeError([...escapes]);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
