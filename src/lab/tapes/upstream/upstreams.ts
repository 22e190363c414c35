import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { rootCertificates } from "node:tls";
import { closedCode, closedLookup, credentialPlace } from "../../../kernel/http/closed-hosts.ts";
import { isLoopbackHost, plainHost } from "../../../kernel/http/host-rules.ts";
import { TapeOrderError } from "../ports.ts";

export interface Upstreams {
  /** `us`, `eu`, or the address of one that has everything. */
  readonly name: string;
  /** Every origin that requests can go to: there are no others. */
  readonly origins: readonly string[];
  /** Where a path goes. `path` as made by `pathOf`; `host`: the host the sender asked for, if a proxy knows it. */
  baseOf(path: string, host?: string): URL;
}

type Part = "ingestion" | "app" | "assets";

const cloud = (region: string): Readonly<Record<Part, URL>> => ({
  ingestion: new URL(`https://${region}.i.posthog.com`),
  app: new URL(`https://${region}.posthog.com`),
  assets: new URL(`https://${region}-assets.i.posthog.com`),
});

/** The first that fits. posthog-js asks the assets host for scripts; the ingestion host serves /api to SDKs, too. */
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

const examples = "give us, eu, or an address such as https://posthog.example.com";

function readAddress(text: string): URL {
  const shown = JSON.stringify(text.slice(0, 200));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new TapeOrderError("upstream", `${shown} is not an upstream`, examples);
  if (url.username !== "" || url.password !== "")
    throw new TapeOrderError("upstream", "an upstream's address must not hold a name or a password", examples);
  if (url.search !== "" || url.hash !== "")
    throw new TapeOrderError("upstream", `${shown} is not an upstream: it has a query or a fragment`, examples);
  const place = credentialPlace(url.hostname);
  if (place !== undefined) throw new TapeOrderError("upstream", `${shown} is ${place}, and no upstream`, examples);
  return url;
}

/** Reads `us`, `eu`, or an address; one with a path has everything below it. @throws TapeOrderError */
export function readUpstreams(text: string): Upstreams {
  const region = regions.find((it) => it === text.trim().toLowerCase());
  if (region) return cloudUpstreams(region);
  const url = readAddress(text.trim());
  return { name: url.href.replace(/\/$/, ""), origins: [url.origin], baseOf: () => url };
}

const isLocal = (url: URL): boolean => isLoopbackHost(url.hostname);

/** Why upstreams must not be reached: `option`, or `ci`, which allows upstreams on this machine. */
export type Offline = "no" | "option" | "ci";

/** Reads an upstream that is to be reached. @throws TapeOrderError */
export function openUpstreams(text: string, offline: Offline): Upstreams {
  const upstreams = readUpstreams(text);
  const isLocalOnly = upstreams.origins.every((origin) => isLocal(new URL(origin)));
  if (offline === "no" || (offline === "ci" && isLocalOnly)) return upstreams;
  throw new TapeOrderError(
    "offline",
    `the upstream ${upstreams.name} must not be reached: ${offline === "ci" ? "CI is set" : "offline is on"}`,
    "allow it with --offline=false (in TypeScript: offline: false)",
  );
}

/** Prevents requests that go round in circles. @throws TapeOrderError when the upstream is the sim itself */
export function refuseOwnPort({ origins }: Upstreams, own: { host: string; port: number }): void {
  const isOwn = (url: URL): boolean =>
    Number(url.port || (url.protocol === "https:" ? 443 : 80)) === own.port &&
    (isLocal(url) || plainHost(url.hostname) === plainHost(own.host));
  const found = origins.find((origin) => isOwn(new URL(origin)));
  if (found !== undefined)
    throw new TapeOrderError("upstream", `${found} is this sim's own address: it cannot be its upstream`, examples);
}

/** Idle connections are given up before the service's own balancers do so, ms: so that no request is written to a closed one. */
const idleMs = 4000;

/**
 * @param ca Certificates (PEM) that are trusted in addition to the usual ones. Certificates are always checked.
 * @param connections Most connections to one host
 */
export function createAgents(ca?: string, connections?: number) {
  const options = {
    keepAlive: true,
    timeout: idleMs,
    lookup: closedLookup(),
    ...(connections && { maxSockets: connections }),
  };
  const plain = new HttpAgent(options);
  const tls = new HttpsAgent({
    ...options,
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  });
  return {
    of: (protocol: string) => (protocol === "https:" ? tls : plain),
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}

export type Agents = ReturnType<typeof createAgents>;

export interface UpstreamFailure {
  readonly code: string;
  readonly detail: string;
}

const reasons: Readonly<Record<string, string>> = {
  [closedCode]: "its name leads to a link-local address or a cloud's metadata, where nothing is sent",
  ECONNREFUSED: "nothing listens there: check that it is running, and the port",
  ENOTFOUND: "its name is unknown: check the spelling and the network",
  EAI_AGAIN: "names cannot be looked up: check the network",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "it cannot be reached from here",
  ENETUNREACH: "it cannot be reached from here",
  EPROTO: "it does not speak TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS: the address may have to begin with http://",
  LOOP: "it is this sim itself",
};

const isCertificate = (code: string): boolean => /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_/.test(code);

const reasonOf = (code: string): string =>
  reasons[code] ??
  (isCertificate(code)
    ? "its certificate cannot be trusted: give the certificate authority's with upstreamCa, or NODE_EXTRA_CA_CERTS"
    : /^HPE_/.test(code)
      ? "what it sends is not HTTP"
      : "the connection failed");

/** Describes an error of a connection to an upstream. @param origin The upstream's */
export function failureOf(error: unknown, origin: string): UpstreamFailure {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const code = String((inner as NodeJS.ErrnoException | undefined)?.code ?? "unknown");
  return { code, detail: `${origin} gave no response: ${reasonOf(code)} (${code})` };
}

export const failureBody = ({ detail }: UpstreamFailure): string =>
  JSON.stringify({ type: "server_error", code: "upstream_unreachable", detail, attr: null });
