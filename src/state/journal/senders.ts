import { headerIn } from "../../kernel/http/client-address.ts";
import { showEvent } from "./show.ts";
import type { TrafficLine } from "./traffic.ts";

export interface Sender {
  /** `posthog-js`, `curl`; `browser` for a page without an SDK that says so. */
  readonly name: string;
  readonly version: string | null;
  readonly isSdk: boolean;
}

/** Longer names and versions are cut: what is sent is not trusted. */
const longest = 100;
const cut = (text: string): string => text.slice(0, longest);

/** Names that an SDK gives itself in `$lib`, where its package has another. */
const packages: Readonly<Record<string, string>> = { web: "posthog-js", js: "posthog-js-lite" };

const packageOf = (lib: string): string => (Object.hasOwn(packages, lib) ? (packages[lib] ?? lib) : cut(lib));

const product = /^([\w.@/-]+?)\/([\w.+-]+)/;
const isOfPostHog = (name: string): boolean => /posthog/i.test(name);

function senderIn(text: string | undefined): Sender | undefined {
  const [, name, version] = product.exec(text ?? "") ?? [];
  if (name === undefined || version === undefined) return undefined;
  return { name: cut(name), version: cut(version), isSdk: isOfPostHog(name) };
}

/** posthog-js names its version in the query. */
const versionIn = (target: string): string | undefined => /[?&]ver=([\w.+-]{1,40})/.exec(target)?.[1];

const unknown: Sender = { name: "unknown", version: null, isSdk: false };

function senderInHeaders({ headers, target }: TrafficLine): Sender {
  const agent = headerIn(headers, "user-agent");
  const sdk = senderIn(headerIn(headers, "posthog-sdk-info"));
  if (sdk) return { ...sdk, isSdk: true };
  if (agent?.startsWith("Mozilla/") !== true) return senderIn(agent) ?? unknown;
  const version = versionIn(target);
  if (version !== undefined) return { name: "posthog-js", version, isSdk: true };
  return { name: "browser", version: null, isSdk: false };
}

/** The sender of a request: by its first event, else by its headers. */
export function senderOf(line: TrafficLine): Sender {
  const properties = line.events && line.events.length > 0 ? showEvent(line, 0).properties : {};
  const { $lib: lib, $lib_version: version } = properties;
  if (typeof lib !== "string" || lib.trim() === "") return senderInHeaders(line);
  const known = typeof version === "string" ? cut(version) : versionIn(line.target);
  return { name: packageOf(lib), version: known ?? null, isSdk: true };
}

const decideTarget = /^\/+decide\/*(?:\?|$)/;

/** True if the request asks for flags on the endpoint of old SDKs. */
export const asksDecide = ({ method, target }: Pick<TrafficLine, "method" | "target">): boolean =>
  method === "POST" && decideTarget.test(target);

/** First versions that ask `/flags`, of SDKs that asked `/decide` before. */
const flagsSince: Readonly<Record<string, string>> = {
  "posthog-js": "1.300",
  "posthog-node": "4.18",
  "posthog-python": "6.0",
};

/** What to know of a sender, as a sentence without the final stop; nothing if it is up to date. */
export function hintsFor({ name, version }: Sender, hasAskedDecide: boolean): string[] {
  if (!hasAskedDecide) return [];
  const since = Object.hasOwn(flagsSince, name) ? flagsSince[name] : undefined;
  const who = version === null ? name : `${name} ${version}`;
  const later = since === undefined ? "current versions ask `/flags`" : `from ${since} on it asks \`/flags\``;
  return [`${who} asks \`/decide\`; ${later}`];
}
