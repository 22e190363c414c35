import { isLoopbackHost, plainHost } from "./host-rules.ts";
import { isInNetwork, parseAddress, parseNetwork } from "./network.ts";

/** The services behind one `host` setting. */
export interface Upstreams {
  /** `us`, `eu`, or the address of one that has everything. */
  readonly name: string;
  /** Every origin that requests can go to: there are no others. */
  readonly origins: readonly string[];
  /** Where a path goes. `path` as made by `pathOf`; `host`: whom the sender meant, where a proxy knows that. */
  baseOf(path: string, host?: string): URL;
}

/** Why something is no upstream, and what to do about it. */
export class UpstreamError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "UpstreamError";
    this.hint = hint;
  }
}

type Part = "ingestion" | "app" | "assets";

/** The hosts of the cloud, by what they are for. */
const cloud = (region: string): Readonly<Record<Part, URL>> => ({
  ingestion: new URL(`https://${region}.i.posthog.com`),
  app: new URL(`https://${region}.posthog.com`),
  assets: new URL(`https://${region}-assets.i.posthog.com`),
});

/**
 * Which part of the cloud has a path; the first row that fits. posthog-js itself asks the assets host for scripts and
 * the ingestion host for the rest; what SDKs ask for below /api is served by the ingestion host, too.
 */
const rows: readonly (readonly [RegExp, Part])[] = [
  [/^\/static\//, "assets"],
  [/^\/array\/.*\.js$/, "assets"],
  [/^\/api\/(surveys|early_access_features|web_experiments|product_tours|feature_flag)(\/|$)/, "ingestion"],
  [/^\/(api|shared|shared_dashboard|embedded)(\/|$)/, "app"],
];

const partOf = (path: string): Part => rows.find(([pattern]) => pattern.test(path))?.[1] ?? "ingestion";

const regions = ["us", "eu"] as const;

function cloudUpstreams(region: (typeof regions)[number]): Upstreams {
  const hosts = cloud(region);
  return {
    name: region,
    origins: Object.values(hosts).map(({ origin }) => origin),
    baseOf: (path, host) => Object.values(hosts).find((it) => it.host === host) ?? hosts[partOf(path)],
  };
}

/** Where machines of a cloud provider find their own credentials. */
const linkLocal = ["169.254.0.0/16", "fe80::/10"].flatMap((text) => parseNetwork(text) ?? []);

function isLinkLocal(host: string): boolean {
  const address = parseAddress(plainHost(host));
  return address !== undefined && linkLocal.some((network) => isInNetwork(address, network));
}

const examples = "give us, eu, or an address such as https://posthog.example.com";

function readAddress(text: string): URL {
  const shown = JSON.stringify(text.slice(0, 200));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new UpstreamError(`${shown} is not an upstream`, examples);
  if (url.username !== "" || url.password !== "")
    throw new UpstreamError("an upstream's address must not hold a name or a password", examples);
  if (url.search !== "" || url.hash !== "")
    throw new UpstreamError(`${shown} is not an upstream: it has a query or a fragment`, examples);
  if (isLinkLocal(url.hostname))
    throw new UpstreamError(`${shown} is a link-local address, and no upstream`, examples);
  return url;
}

/**
 * Reads `us`, `eu`, or the http(s) address of a self-hosted service; one with a path has everything below it.
 * @throws UpstreamError
 */
export function readUpstreams(text: string): Upstreams {
  const region = regions.find((it) => it === text.trim().toLowerCase());
  if (region) return cloudUpstreams(region);
  const url = readAddress(text.trim());
  return { name: url.href.replace(/\/$/, ""), origins: [url.origin], baseOf: () => url };
}

const isLocal = (url: URL): boolean => isLoopbackHost(url.hostname);

/** Is every request to it a request to this machine? */
export const isLocalUpstream = ({ origins }: Upstreams): boolean =>
  origins.every((origin) => isLocal(new URL(origin)));

/** Requests must not go round in circles. @throws UpstreamError when the upstream is the sim itself */
export function refuseOwnPort({ origins }: Upstreams, own: { host: string; port: number }): void {
  const isOwn = (url: URL): boolean =>
    Number(url.port || (url.protocol === "https:" ? 443 : 80)) === own.port &&
    (isLocal(url) || plainHost(url.hostname) === plainHost(own.host));
  const found = origins.find((origin) => isOwn(new URL(origin)));
  if (found !== undefined)
    throw new UpstreamError(`${found} is this sim's own address: it cannot be its upstream`, examples);
}
