import { isInNetwork, parseAddress, parseNetwork } from "../base/network.ts";

/** The hosts of the real service: the website, both clouds, their assets and what else is below that name. */
export const serviceHosts: readonly string[] = ["posthog.com", "*.posthog.com"];

export interface HostRule {
  /** Lower case; "" stands for every host. */
  readonly host: string;
  /** True: any name below `host`, not `host` itself. */
  readonly below: boolean;
  /** "" is any port. */
  readonly port: string;
  /** `/ingest`, without a slash at its end; "" is every path. */
  readonly prefix: string;
}

export interface RequestTarget {
  readonly host: string;
  readonly port: string;
  /** Absent where only the connection is known. */
  readonly path?: string | undefined;
}

const shape = /^(?:https?:\/\/)?(\*\.|\*(?=$|[:/]))?(\[[\da-f:.]+\]|[^*:/?#\s[\]]*)(?::(\d{1,5}))?(\/[^?#\s]*)?$/i;

/** One spelling for a host: lower case, without the brackets of an IPv6 address or the dot of the root. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

/** The host of a Host header: `[::1]` of `[::1]:7490`. */
export const withoutPort = (host: string): string => host.replace(/:\d+$/, "");

/**
 * Reads `e.example.com`, `*.example.com` (every name below it), `example.com:8443`, `app.example.com/ingest` (that
 * path and all below it), `/ingest` (of any host), `*` (every host), or a URL of which the host, an explicit port
 * and the path count.
 * @throws TypeError when it is none of these
 */
export function readHostRule(text: string): HostRule {
  const [matched, star, host = "", port = "", path = ""] = shape.exec(text.trim()) ?? [];
  const isNothing = host === "" && star !== "*" && path === "";
  if (matched === undefined || isNothing || (star === "*." && host === "") || (host === "" && port !== "")) {
    throw new TypeError(
      `${JSON.stringify(text)} is not a host: write e.example.com, *.example.com, example.com:8443, example.com/ingest or /ingest`,
    );
  }
  return { host: plainHost(host), below: star === "*.", port, prefix: path.replace(/\/+$/, "") };
}

function fitsHost({ host, below }: HostRule, given: string): boolean {
  if (host === "") return true;
  return below ? given.endsWith(`.${host}`) : given === host;
}

/** True if the path is the prefix, or below it. Where no path is known only rules without one match. */
const fitsPrefix = ({ prefix }: HostRule, path: string | undefined): boolean =>
  prefix === "" || (path !== undefined && (path === prefix || /^[/?#]/.test(after(path, prefix))));

const after = (path: string, prefix: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : "");

export const hostRuleFor = (rules: readonly HostRule[], place: RequestTarget): HostRule | undefined =>
  rules.find(
    (rule) =>
      fitsHost(rule, plainHost(place.host)) &&
      (rule.port === "" || rule.port === place.port) &&
      fitsPrefix(rule, place.path),
  );

const ports: Readonly<Record<string, string>> = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443" };

export const placeOf = (url: URL): RequestTarget => ({
  host: plainHost(url.hostname),
  port: url.port || (ports[url.protocol] ?? ""),
  path: url.pathname,
});

const loopback = parseNetwork("127.0.0.0/8");

export const isLoopbackOrigin = (origin: string): boolean =>
  URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);

/** True if a host name means this machine. Names are not looked up. */
export function isLoopbackHost(given: string): boolean {
  const host = plainHost(given);
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const address = parseAddress(host);
  if (address === undefined || loopback === undefined) return false;
  const isUnspecified = address.every((byte) => byte === 0);
  const isV6Own = address.length === 16 && address.every((byte, i) => byte === (i === 15 ? 1 : 0));
  return isUnspecified || isV6Own || isInNetwork(address, loopback);
}
