import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { counted } from "../../kernel/base/text.ts";
import type { HostRule } from "../../kernel/http/host-rules.ts";
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

/** Follows no redirects, asks for an uncompressed answer. @throws Error of the socket, with its `code`; AbortError */
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
      answer
        .toArray()
        .then(
          (chunks) =>
            resolve({ status: answer.statusCode ?? 502, headers: answerHeaders(answer), body: Buffer.concat(chunks) }),
          reject,
        );
    });
    request.end(body ?? undefined);
  });
}

interface PageGlobals {
  Navigator?: { prototype: object };
  NavigatorUAData?: { prototype: object };
}

/**
 * Runs in the page, before its scripts: posthog-js captures nothing in a browser that seems automated. It reads
 * `navigator.webdriver`, the user agent and the brands. The function must not refer to anything outside of itself.
 */
export function disguise(): void {
  const { Navigator, NavigatorUAData } = globalThis as PageGlobals;
  const plain = (text: unknown) => String(text).replaceAll("HeadlessChrome", "Chrome");
  const replace = (host: { prototype: object } | undefined, name: string, make: (value: unknown) => unknown) => {
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

export const disguisedHeader = (value: string): string => value.replaceAll("HeadlessChrome", "Chrome");

/** Where a page sends what it sends while it is left; plain data, which a page's script can have. */
interface LeavingRoute {
  readonly origin: string;
  /** Added to the query: it names the project. */
  readonly mark: string;
  readonly rules: readonly HostRule[];
  /** The hosts that the browser finds on this machine: their requests stay as they are. */
  readonly found: readonly HostRule[];
  /** What a filter list blocks, as sources of regular expressions. */
  readonly blocked: readonly string[];
}

interface SendingGlobals {
  location: { href: string };
  sessionStorage?: { getItem(name: string): string | null; setItem(name: string, value: string): void };
  fetch: typeof fetch;
  Blob: typeof Blob;
  Request: typeof Request;
  Navigator?: { prototype: { sendBeacon?(url: string | URL, data?: unknown): boolean } };
  addEventListener(name: string, listener: (event: { blockedURI?: string }) => void, capture: boolean): void;
}

/**
 * In the page: where the sim takes a request; the request's own address if it is found there; undefined: it is not
 * PostHog's.
 */
function addressAtSim({ origin, mark, rules, found }: LeavingRoute, url: URL): string | undefined {
  const ports: Record<string, string> = { "http:": "80", "https:": "443" };
  const port = url.port || ports[url.protocol];
  const host = url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  const fits = (it: HostRule) =>
    port !== undefined &&
    (it.host === "" || (it.below ? host.endsWith(`.${it.host}`) : host === it.host)) &&
    (it.port === "" || it.port === port) &&
    (it.prefix === "" || url.pathname === it.prefix || url.pathname.startsWith(`${it.prefix}/`));
  if (found.some(fits)) return url.href;
  const rule = rules.find(fits);
  if (!rule) return undefined;
  const path = url.pathname.slice(rule.prefix.length) || "/";
  return `${origin}${path}${url.search}${url.search === "" ? "?" : "&"}${mark}`;
}

type KeptBeacon = [url: string, type: string, bytes: number[]];

/** In the page: beacons that wait for the next page of the tab. */
function openBeacons(page: SendingGlobals) {
  const key = "phx-sim beacons";
  const kept = (): KeptBeacon[] => {
    try {
      return JSON.parse(page.sessionStorage?.getItem(key) ?? "[]");
    } catch {
      return [];
    }
  };
  const write = (all: KeptBeacon[]): boolean => {
    try {
      page.sessionStorage?.setItem(key, JSON.stringify(all));
      return true;
    } catch {
      return false;
    }
  };
  return {
    keep: (beacon: KeptBeacon): boolean => write([...kept(), beacon]),
    sendAll(): void {
      const left = kept();
      if (left.length > 0 && write([]))
        for (const [url, type, bytes] of left) {
          const headers: Record<string, string> = type === "" ? {} : { "content-type": type };
          page.fetch(url, { method: "POST", body: new Uint8Array(bytes), headers }).catch(() => {});
        }
    },
  };
}

/**
 * In the page: keeps what is given to a Blob or a Request, because a page that is left can neither read a Blob's bytes
 * nor send a Request once more.
 */
function rememberParts(page: SendingGlobals) {
  const contents = new WeakMap<object, readonly unknown[]>();
  page.Blob = new Proxy(page.Blob, {
    construct(target, args, newTarget) {
      const blob = Reflect.construct(target, args, newTarget);
      if (Array.isArray(args[0])) contents.set(blob, args[0]);
      return blob;
    },
  });
  const inits = new WeakMap<object, RequestInit>();
  page.Request = new Proxy(page.Request, {
    construct(target, args, newTarget) {
      const request = Reflect.construct(target, args, newTarget);
      const [input, init] = args as Partial<ConstructorParameters<typeof Request>>;
      inits.set(request, { ...(typeof input === "object" ? inits.get(input) : undefined), ...init });
      return request;
    },
  });
  const bytesOf = (data: unknown): number[] | undefined => {
    if (data === undefined || data === null) return [];
    if (data instanceof ArrayBuffer) return [...new Uint8Array(data)];
    if (ArrayBuffer.isView(data)) return [...new Uint8Array(data.buffer, data.byteOffset, data.byteLength)];
    if (typeof data !== "object" || data instanceof URLSearchParams) return [...new TextEncoder().encode(String(data))];
    const parts = contents.get(data)?.map(bytesOf);
    return parts?.every((it) => it !== undefined) ? parts.flat() : undefined;
  };
  return { bytesOf, bodyOf: (request: Request) => inits.get(request)?.body ?? null };
}

/** Runs in the page as well; none of them may refer to anything outside of itself. */
const inPage = { addressAtSim, openBeacons, rememberParts };

/**
 * Runs in the page, before its scripts. Playwright does not route what a page sends while it is left: beacons and
 * `fetch` with `keepalive` for PostHog go to the sim's own address. Where the page's policy forbids that address, the
 * next page of the tab sends the beacons. JSON goes as text: Playwright holds the preflight of a page that is left.
 * The function must not refer to anything but its parameters.
 */
function sendToSim(to: LeavingRoute, { addressAtSim, openBeacons, rememberParts }: typeof inPage): void {
  const page = globalThis as unknown as SendingGlobals;
  const { fetch } = page;
  const navigator = page.Navigator?.prototype;
  const beacon = navigator?.sendBeacon;
  if (!navigator || !beacon) return;
  const json = "application/json";
  const urlOf = (text: string): URL | undefined => {
    try {
      return new URL(text, page.location.href);
    } catch {
      return undefined;
    }
  };
  const isBlocked = (url: URL) => to.blocked.some((it) => new RegExp(it, "i").test(url.href));
  let isForbidden = false;
  page.addEventListener(
    "securitypolicyviolation",
    ({ blockedURI }) => {
      if (blockedURI?.startsWith(to.origin)) isForbidden = true;
    },
    true,
  );
  const { bytesOf, bodyOf } = rememberParts(page);
  const beacons = openBeacons(page);
  beacons.sendAll();

  navigator.sendBeacon = function sendBeacon(this: unknown, text, data) {
    const url = urlOf(String(text));
    const target = url && addressAtSim(to, url);
    if (!url || target === undefined) return Reflect.apply(beacon, this, [text, data]);
    if (isBlocked(url)) {
      // a request that is routed, and blocked there
      fetch(url, { method: "POST", body: data as string, mode: "no-cors" }).catch(() => {});
      return true;
    }
    const bytes = isForbidden && target !== url.href ? bytesOf(data) : undefined;
    const type = typeof data === "string" ? "text/plain;charset=UTF-8" : ((data as Partial<Blob>)?.type ?? "");
    if (bytes) return beacons.keep([url.href, type, bytes]);
    const isJson = data instanceof page.Blob && data.type.startsWith(json);
    return Reflect.apply(beacon, this, [target, isJson ? data.slice(0, data.size, "text/plain") : data]);
  };
  page.fetch = function fetch_(this: unknown, input: string | URL | Request, init?: RequestInit) {
    const given = typeof input === "object" && "url" in input ? input : undefined;
    const url = (init?.keepalive ?? given?.keepalive) ? urlOf(given?.url ?? String(input)) : undefined;
    const target = url && !isBlocked(url) ? addressAtSim(to, url) : undefined;
    const isOwn = url?.href !== target;
    if (target === undefined || (isOwn && isForbidden)) return Reflect.apply(fetch, this, [input, init]);
    const headers = new Headers(init?.headers ?? given?.headers);
    if (headers.get("content-type")?.startsWith(json)) headers.set("content-type", "text/plain");
    const { method, mode, credentials } = given ?? {};
    const sent = Reflect.apply(fetch, this, [
      isOwn ? target : input,
      { ...(given && isOwn && { method, mode, credentials, body: bodyOf(given), keepalive: true }), ...init, headers },
    ]);
    return sent.catch((error: unknown) => {
      if (!isForbidden || !isOwn || given) throw error;
      return Reflect.apply(fetch, this, [input, init]);
    });
  } as typeof fetch;
}

export const leavingScript = (to: LeavingRoute): string =>
  `(${sendToSim})(${JSON.stringify(to)}, {${Object.entries(inPage).map(([name, part]) => `${name}: ${part}`)}})`;

interface BrowserRequest {
  readonly method: string;
  readonly url: URL;
  readonly agent?: string | undefined;
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

/** True for the `User-Agent` of PostHog's SDKs for servers: `posthog-node/5.70.0`. */
export const isAgentOfSdk = (agent: string | undefined): boolean => /^posthog-\w+/.test(agent ?? "");

/** SDKs send the body's compression or their version; else the body has the project's key. */
const isFromSdk = ({ url, agent, body }: BrowserRequest): boolean =>
  isAgentOfSdk(agent) ||
  ["compression", "ver"].some((name) => url.searchParams.has(name)) ||
  hasPublicKey(url.search) ||
  hasPublicKey(body());

const namesToken = ({ url }: BrowserRequest): boolean =>
  ["token", "api_key"].some((name) => url.searchParams.has(name));

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

export const looksLikeSdk = (request: BrowserRequest): boolean =>
  sdkRequests.some(
    ({ methods, path, also }) =>
      methods.includes(request.method) && path.test(request.url.pathname) && (also?.(request) ?? true),
  );

/** A request that looks like PostHog's and bypassed the sim. */
export interface Escape {
  readonly method: string;
  readonly url: string;
  /** The page that sent it; "" if unknown. */
  readonly page: string;
  readonly cause?: EscapeCause;
}

const causes = {
  route:
    "answered by another route of the page or the context: a route of the page comes before the sim's; narrow its pattern, or call route.fallback() in it",
  early:
    "sent before a test began, where no project exists yet; it was blocked: open the page in the test or in beforeEach",
} as const;

export type EscapeCause = keyof typeof causes;

const lineOf = ({ method, url, page }: Escape): string => `  ${method} ${url}${page === "" ? "" : ` (from ${page})`}`;

function causeLines(escapes: readonly Escape[]): string[] {
  const groups = groupedBy(
    escapes.filter(({ cause }) => cause !== undefined),
    ({ cause, url }) => `${cause} ${new URL(url).host}`,
  );
  return [...groups.values()].flatMap(([first, ...more]) =>
    first?.cause === undefined
      ? []
      : [`${counted(more.length + 1, "request")} for ${new URL(first.url).host}: ${causes[first.cause]}.`],
  );
}

const adviceOn = (escapes: readonly Escape[]): string[] =>
  escapes.length === 0
    ? []
    : [`Reroute them with { hosts: ["${suggestion(escapes)}"] }, or allow them with { allowEscapes: true }.`];

/** The entry for `hosts` that covers the first of them: host and the prefix of the proxy. */
function suggestion([first]: readonly Escape[]): string {
  if (first === undefined) return "";
  const { host, pathname } = new URL(first.url);
  const [, prefix = ""] = /^(\/[^/]+)\/./.exec(pathname) ?? [];
  const isOwn = /^\/(?:array|static|api|i)$/.test(prefix);
  return `${host}${isOwn ? "" : prefix}`;
}

export function escapeCauses(escapes: readonly Escape[]): string[] {
  if (escapes.length === 0) return [];
  const lines = countedLines(escapes.map((it) => lineOf(it).trim()));
  const unknown = escapes.filter(({ cause }) => cause === undefined);
  const more = lines.length > escapesNamed ? ` and ${counted(lines.length - escapesNamed, "more request")}` : "";
  return [
    `bypassed the sim: ${lines.slice(0, escapesNamed).join(", ")}${more}`,
    ...[...causeLines(escapes), ...adviceOn(unknown)],
  ];
}

/** Escapes that a cause of missing events names. */
const escapesNamed = 2;

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
        ...causeLines(escapes),
        ...adviceOn(escapes.filter(({ cause }) => cause === undefined)),
      ].join("\n"),
    );
    this.name = "EscapeError";
    this.escapes = escapes;
  }
}

/** An error without frames: a page is the cause, not a line of the test. @throws EscapeError if there are any */
export function verifyEscapes(escapes: readonly Escape[]): void {
  if (escapes.length === 0) return;
  const error = new EscapeError([...escapes]);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
