import { gunzipSync } from "node:zlib";
import { maskKeys } from "../../../kernel/base/secrets.ts";
import { hostRuleFor, isLoopbackHost, placeOf, readHostRule, serviceHosts } from "../../../kernel/http/host-rules.ts";
import { looksLikeSdk } from "../../../lab/egress/browser-traffic.ts";
import type { SdkRequestKind, SdkRequestPlace } from "../observations.ts";

export interface OutgoingRequest {
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

export interface Routing {
  readonly sim: string;
  /** Origins of the app. */
  readonly origins: ReadonlySet<string>;
  /** Prefixes of proxies that earlier requests had, by origin. */
  readonly proxies: Map<string, Set<string>>;
}

export const shownUrl = (href: string): string => maskKeys(href).slice(0, 500);

/** A request of the SDK, or undefined. Remembers the prefix of a proxy. */
export function sdkRequestOf(
  request: OutgoingRequest,
  routing: Routing,
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
