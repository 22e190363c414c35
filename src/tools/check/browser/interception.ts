import { gunzipSync } from "node:zlib";
import { isObject, type Json, type JsonObject, textOf } from "../../../kernel/base/json.ts";
import { maskKeys } from "../../../kernel/base/secrets.ts";
import { hostRuleFor, isLoopbackHost, placeOf, readHostRule, serviceHosts } from "../../../kernel/http/host-rules.ts";
import { disguisedHeader, forward, looksLikeSdk } from "../../../lab/egress/browser-traffic.ts";
import type { SdkRequest, SdkRequestKind, SdkRequestPlace } from "../observations.ts";
import { isBadKey } from "../rules/keys.ts";

interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Buffer | null;
}

/** Where the service's own path begins, and what it is for. */
const kinds: readonly (readonly [SdkRequestKind, RegExp])[] = [
  ["script", /\/array\/[^/]+\/array\.js$|\/static\/[\w.-]+(?:\/[\w.-]+)?\.js$/],
  ["config", /\/array\/[^/]+\/config(?:\.js)?$/],
  ["flags", /\/(?:flags|decide)\/?$/],
  ["recording", /\/s\/?$/],
  ["events", /\/(?:e|batch|capture|track|engage|i\/v0\/e|i\/v1\/(?:analytics|ai)\/events)\/?$/],
  ["other", /\/(?:api\/(?:surveys|early_access_features|product_tours|web_experiments)|i\/v\d\/\w+)\/?$/],
];

/** The kind of a request and what is before the service's own path; undefined: not the path of an SDK. */
export function sdkPathOf(pathname: string): { kind: SdkRequestKind; prefix: string } | undefined {
  for (const [kind, path] of kinds) {
    const at = path.exec(pathname)?.index;
    if (at !== undefined) return { kind, prefix: pathname.slice(0, at) };
  }
  return undefined;
}

const mostDecoded = 8 * 1024 * 1024;

/** The text of a body: gzip, base64 in a form, or as it is; "" if it cannot be read. */
export function bodyText(body: Buffer | null): string {
  if (body === null) return "";
  try {
    const plain = body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body, { maxOutputLength: mostDecoded }) : body;
    const text = plain.toString("utf8");
    const data = /^data=([^&]*)/.exec(text)?.[1];
    return data === undefined
      ? text
      : Buffer.from(decodeURIComponent(data.replaceAll("+", " ")), "base64").toString("utf8");
  } catch {
    return "";
  }
}

const keyFields = /"(?:token|api_key)"\s*:\s*"((?:[^"\\]|\\.){0,200})"/g;

/** The keys of a request: of its path, its query and its body. */
export function keysIn({ url, body }: OutgoingRequest): string[] {
  const path = /\/array\/([^/]+)\//.exec(url.pathname)?.[1];
  const keys = [
    ...(path === undefined ? [] : [decodeURIComponent(path)]),
    ...["token", "api_key"].flatMap((name) => url.searchParams.getAll(name)),
    ...Array.from(bodyText(body).matchAll(keyFields), ([, key = ""]) => key),
  ];
  return [...new Set(keys)];
}

const rules = serviceHosts.map(readHostRule);

export const isServiceHost = (url: URL): boolean => hostRuleFor(rules, placeOf(url)) !== undefined;

export interface PageRouting {
  readonly sim: string;
  /** Origins of the app. */
  readonly origins: ReadonlySet<string>;
  /** Prefixes of proxies that earlier requests had, by origin. */
  readonly proxies: Map<string, Set<string>>;
  readonly projectId: number;
  /** True if requests to the app's own proxy go there: its server sends to the sim. */
  readonly isRerouted: boolean;
  visit(): number;
}

const shownUrl = (href: string): string => maskKeys(href).slice(0, 500);

/** A request of the SDK, or undefined. Remembers the prefix of a proxy. */
function sdkRequestOf(
  request: OutgoingRequest,
  routing: PageRouting,
): { kind: SdkRequestKind; prefix: string; place: SdkRequestPlace; host: string; url: string } | undefined {
  const { url, method } = request;
  const path = sdkPathOf(url.pathname);
  const known = (place: SdkRequestPlace) => ({
    kind: path?.kind ?? "other",
    prefix: path?.prefix ?? "",
    place,
    host: url.host,
    url: shownUrl(url.href),
  });
  if (isServiceHost(url)) return known("service");
  if (url.origin === new URL(routing.sim).origin) return known("sim");
  if (path === undefined) return undefined;
  const prefixes = routing.proxies.get(url.origin) ?? new Set();
  const isKnown = path.prefix !== "" && prefixes.has(path.prefix);
  if (!isKnown && !looksLikeSdk({ method, url, body: () => bodyText(request.body) })) return undefined;
  routing.proxies.set(url.origin, prefixes.add(path.prefix));
  const isLocal = routing.origins.has(url.origin) || isLoopbackHost(url.hostname);
  return known(isLocal ? "proxy" : "elsewhere");
}

/** Sends a command to the page, or to a child of it. */
type SendCommand = (method: string, params?: JsonObject, session?: string) => Promise<JsonObject>;

type Draft = { -readonly [Name in keyof SdkRequest]: SdkRequest[Name] };

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** For commands about what may be gone. */
export const quietly = (done: Promise<unknown>): Promise<void> => done.then(() => {}).catch(() => {});

/** The bytes of a paused request; null without a body. */
function bodyOf(request: JsonObject): Buffer | null {
  const entries = Array.isArray(request.postDataEntries) ? request.postDataEntries : [];
  const parts = entries.flatMap((it) =>
    isObject(it) && typeof it.bytes === "string" ? [Buffer.from(it.bytes, "base64")] : [],
  );
  if (parts.length > 0) return Buffer.concat(parts);
  return typeof request.postData === "string" ? Buffer.from(request.postData, "utf8") : null;
}

const headersOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, it]) => [name.toLowerCase(), disguisedHeader(String(it))]),
  );

/** Pairs for the protocol; cookies are a line each. */
const headerPairs = (headers: Readonly<Record<string, string>>): JsonObject[] =>
  Object.entries(headers).flatMap(([name, value]) => value.split("\n").map((it) => ({ name, value: it })));

/** The path at the sim: without the prefix of a proxy. A wrong path of the service's host stays wrong. */
const pathAtSim = ({ place, prefix }: Draft, { pathname }: URL): string =>
  place === "proxy" || place === "elsewhere" ? pathname.slice(prefix.length) : pathname;

/** The requests of the SDK in a page: the sim answers those that would leave this machine. */
export class SdkTraffic {
  readonly requests: Draft[] = [];
  /** By the browser's id; redirects of a request have the same. */
  readonly #hops = new Map<string, Draft[]>();
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #send: SendCommand;
  readonly #routing: PageRouting;
  readonly #onChange: () => void;

  constructor(send: SendCommand, routing: PageRouting, onChange: () => void) {
    this.#send = send;
    this.#routing = routing;
    this.#onChange = onChange;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Decides about a request that the browser is about to send (`Fetch.requestPaused`). */
  onPaused(params: JsonObject, session: string): void {
    const request = objectOf(params.request);
    const url = URL.canParse(textOf(request.url)) ? new URL(textOf(request.url)) : undefined;
    const isHttp = url !== undefined && /^https?:$/.test(url.protocol);
    const outgoing = isHttp ? { method: textOf(request.method), url, body: bodyOf(request) } : undefined;
    const draft = outgoing && this.#draftOf(outgoing);
    if (outgoing === undefined || draft === undefined) {
      this.#proceed(params, session);
      return;
    }
    this.#onChange();
    const isPreflight = outgoing.method === "OPTIONS";
    if (!isPreflight) this.#keep(textOf(params.networkId), draft);
    const headers = { ...headersOf(request.headers), ...(isPreflight ? {} : this.#projectHeader(draft)) };
    if (draft.byUs) this.#run(this.#answer(params, outgoing, draft, headers, session));
    else this.#proceed(params, session, { headers: headerPairs(headers) });
  }

  /** The answer of the app's server, or a redirect. */
  onResponse(id: string, response: JsonObject, isRedirect: boolean): void {
    const url = shownUrl(textOf(response.url));
    const draft = this.#hops.get(id)?.find((it) => it.url === url);
    if (!draft || draft.byUs) return;
    const headers = headersOf(response.headers);
    draft.status = Number(response.status);
    draft.contentType = headers["content-type"] ?? null;
    draft.location = isRedirect ? (headers.location ?? null) : null;
  }

  onFailed(id: string, error: string): void {
    const draft = this.#hops.get(id)?.at(-1);
    if (draft) draft.failure ??= error;
  }

  async finish(): Promise<void> {
    await Promise.all(this.#running);
    this.#ending.abort();
  }

  #keep(id: string, draft: Draft): void {
    this.requests.push(draft);
    this.#hops.set(id, [...(this.#hops.get(id) ?? []), draft]);
  }

  #run(answering: Promise<void>): void {
    const done = answering.finally(() => {
      this.#running.delete(done);
      this.#onChange();
    });
    this.#running.add(done);
  }

  #draftOf(request: OutgoingRequest): Draft | undefined {
    const found = sdkRequestOf(request, this.#routing);
    if (!found) return undefined;
    const byUs = found.place !== "proxy" || !this.#routing.isRerouted;
    const unknown = { status: null, contentType: null, location: null, failure: null };
    const { method } = request;
    return { visit: this.#routing.visit(), method, ...found, byUs, keys: keysIn(request), ...unknown };
  }

  /** The header that gives a request to our project; a bad key must stay bad. */
  #projectHeader({ keys }: Draft): Record<string, string> {
    return keys.some(isBadKey) ? {} : { "x-phx-project": String(this.#routing.projectId) };
  }

  #proceed({ requestId = null }: JsonObject, session: string, more: JsonObject = {}): void {
    void quietly(this.#send("Fetch.continueRequest", { requestId, ...more }, session));
  }

  async #answer(
    { requestId = null }: JsonObject,
    { method, url, body }: OutgoingRequest,
    draft: Draft,
    headers: Record<string, string>,
    session: string,
  ): Promise<void> {
    try {
      const reply = await forward({
        url: new URL(`${pathAtSim(draft, url)}${url.search}`, this.#routing.sim),
        method,
        headers,
        body,
        signal: this.#ending.signal,
      });
      draft.status = reply.status;
      draft.contentType = reply.headers["content-type"] ?? null;
      const answer = {
        requestId,
        responseCode: reply.status,
        responseHeaders: headerPairs(reply.headers),
        body: reply.body.toString("base64"),
      };
      // The page may be gone.
      await quietly(this.#send("Fetch.fulfillRequest", answer, session));
    } catch (error) {
      draft.failure = error instanceof Error ? error.message : String(error);
      await quietly(this.#send("Fetch.failRequest", { requestId, errorReason: "ConnectionRefused" }, session));
    }
  }
}
