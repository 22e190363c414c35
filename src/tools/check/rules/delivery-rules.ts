import { distance } from "../../../kernel/base/nearest.ts";
import { isUnmatched } from "../../../state/journal/unmatched.ts";
import type { Observations, SdkRequest } from "../observations.ts";
import { callsOf, distinct, hasFailed, loadedSdks, rejectionText, requestEvidence } from "./facts.ts";
import { type KeyKind, keyKindOf, shownKey } from "./keys.ts";
import { type CheckEvidence, type CheckRule, noDelivery } from "./rule.ts";

/** The keys of these kinds that the browser sent or the SDK was initialized with. */
function keysOf(o: Observations, ...wanted: readonly KeyKind[]): CheckEvidence[] {
  const isWanted = (key: string): boolean => !o.ownKeys.includes(key) && wanted.includes(keyKindOf(key));
  const sent = o.requests.flatMap((request) =>
    request.keys.filter(isWanted).map((key) => ({ ...requestEvidence(request, o), text: shownKey(key) })),
  );
  const set = loadedSdks(o).flatMap(({ config: { token } }) =>
    token !== null && isWanted(token) ? [{ text: shownKey(token) }] : [],
  );
  return distinct([...sent, ...set]);
}

const rejectedFor = (o: Observations, detail: RegExp): CheckEvidence[] =>
  o.rejected
    .filter(({ rejected }) => detail.test(`${rejected?.reason} ${rejected?.detail}`))
    .map((it) => ({ text: rejectionText(it), request: it.n }));

const farthest = 2;

/** True if a host's domain looks like PostHog's, mistyped. */
function looksMistyped(host: string): boolean {
  const domain = host.replace(/:\d+$/, "").split(".").slice(-2).join(".");
  return distance(domain, "posthog.com") <= farthest || /^(?:us|eu)(?:-assets)?\.i\./.test(host);
}

const requestsIn = (o: Observations, takes: (request: SdkRequest) => boolean): CheckEvidence[] =>
  distinct(o.requests.filter(takes).map((it) => requestEvidence(it, o)));

const isByProxy = ({ place, byUs }: SdkRequest): boolean => place === "proxy" && !byUs;

const prefixesOf = ({ requests }: Observations): string[] => [
  ...new Set(requests.filter(isByProxy).flatMap(({ prefix }) => (prefix === "" ? [] : [prefix]))),
];

/** Reasons of rejections for a body that a proxy damaged. */
const damaged =
  /^(?:missing_payload|empty_body|undecodable_payload|unparsable_payload|request_parsing_error|parse_error|empty_batch|missing_token|missing_api_key)$/;

/** Whether what is sent reaches the service: the key, the host, the proxy. */
export const deliveryRules = {
  nothing_observed: {
    area: "app",
    severity: "error",
    sentence: "no page was opened and no request arrived, so nothing was checked",
    fix: "name the address of the app, or start a program that sends to the environment's host",
    unless: [...noDelivery, "app_failed"],
    find: (o) =>
      o.visits.length + o.requests.length + o.events.length + o.rejected.length === 0
        ? [{ text: o.app.command === null ? "no command" : o.app.command }]
        : [],
  },
  key_personal: {
    area: "key",
    severity: "error",
    sentence: "a secret key is used in place of the project key; in a browser everybody can read it",
    fix: "use the project key (phc_…), and revoke the secret key",
    find: (o) =>
      distinct([
        ...keysOf(o, "personal", "secret"),
        ...o.visits.flatMap((visit) =>
          callsOf(visit, "init").flatMap(({ argument }) =>
            /^ph[abd-z]_/.test(argument ?? "") ? [{ text: shownKey(argument ?? ""), url: visit.url }] : [],
          ),
        ),
        ...rejectedFor(o, /personal_api_key|personal API key/i),
      ]),
  },
  key_placeholder: {
    area: "key",
    severity: "error",
    sentence: "the project key is a placeholder, or not a key",
    fix: "set the project key (phc_… and 43 characters) of the project's settings; check the name of the variable that it comes from",
    find: (o) => keysOf(o, "placeholder"),
  },
  key_missing: {
    area: "key",
    severity: "error",
    sentence: "the project key is empty: the SDK does nothing",
    fix: "set the variable that the key comes from; bundlers pass on names with their prefix only (NEXT_PUBLIC_, VITE_ …)",
    find: (o) =>
      distinct([
        ...o.visits.flatMap((visit) =>
          callsOf(visit, "init")
            .filter(({ argument, loaded }) => !loaded && (argument ?? "").trim() === "")
            .map(() => ({ text: "posthog.init was called without a key", url: visit.url })),
        ),
        ...rejectedFor(o, /\bempty\b.*(?:token|key)|(?:token|key).*\bempty\b/i),
      ]),
  },
  host_wrong: {
    area: "host",
    severity: "error",
    sentence: "api_host is not a host of PostHog's, and looks like one",
    fix: "use https://us.i.posthog.com or https://eu.i.posthog.com, or your own proxy",
    find: (o) => requestsIn(o, ({ place, host }) => place === "elsewhere" && looksMistyped(host)),
  },
  host_unreachable: {
    area: "host",
    severity: "error",
    sentence: "nothing answers at the host that the SDK sends to",
    fix: "correct api_host, or start what is to answer there",
    find: (o) => requestsIn(o, (it) => isByProxy(it) && /CONNECTION|NAME_NOT|ADDRESS/.test(it.failure ?? "")),
  },
  host_has_path: {
    area: "host",
    severity: "error",
    sentence: "api_host has a path: the SDK adds its own, and the service has no such address",
    fix: "use the host alone, such as https://us.i.posthog.com",
    find: (o) => requestsIn(o, ({ place, prefix }) => (place === "service" || place === "sim") && prefix !== ""),
  },
  host_unknown: {
    area: "host",
    severity: "info",
    sentence: "the SDK sends to a host that is neither PostHog's nor the app's: the sim answered in its place",
    fix: "nothing, if it is your proxy",
    unless: ["host_wrong"],
    find: (o) => distinct(o.requests.filter(({ place }) => place === "elsewhere").map(({ host }) => ({ text: host }))),
  },
  ui_host_missing: {
    area: "host",
    severity: "info",
    sentence: "behind a proxy without ui_host, the toolbar and links to PostHog do not work",
    fix: 'set ui_host to "https://us.posthog.com" or "https://eu.posthog.com"',
    find: (o) =>
      o.requests.some(({ place }) => place === "proxy" || place === "elsewhere") &&
      loadedSdks(o).some(({ config }) => config.uiHost === null)
        ? [{ text: "ui_host is not set" }]
        : [],
  },
  proxy_redirects: {
    area: "proxy",
    severity: "error",
    sentence: "the proxy redirects requests of the SDK: their bodies do not arrive, or at another address",
    fix: "exclude the proxy's path from redirects: of locales, of trailing slashes, of a login (in Next.js skipTrailingSlashRedirect and the middleware's matcher)",
    find: (o) => requestsIn(o, (it) => isByProxy(it) && it.location !== null),
  },
  proxy_prefix: {
    area: "proxy",
    severity: "error",
    sentence: "the proxy passes its own path on to the service, which has no such address",
    fix: "remove the prefix from the path before the request is passed on",
    find: (o) =>
      o.rejected
        .filter((it) => isUnmatched(it) && prefixesOf(o).some((prefix) => it.target.startsWith(`${prefix}/`)))
        .map(({ n, method, target }) => ({ text: `${method} ${target} arrived at the service`, request: n })),
  },
  proxy_body: {
    area: "proxy",
    severity: "error",
    sentence: "the proxy changes the body of requests: the service cannot read it",
    fix: "pass the bytes on as they are: no body parser, no text conversion before the proxy, and the Content-Type and Content-Encoding of the request",
    unless: ["proxy_redirects"],
    find: (o) =>
      o.requests.some(isByProxy)
        ? o.rejected
            .filter((it) => !isUnmatched(it) && damaged.test(it.rejected?.reason ?? ""))
            .map((it) => ({ text: rejectionText(it), request: it.n }))
        : [],
  },
  proxy_fails: {
    area: "proxy",
    severity: "error",
    sentence: "requests of the SDK to the app's server are not answered by the service",
    fix: "pass every path below the proxy's prefix on: /e, /i, /flags, /s, /array and /static (the last two to the assets host)",
    unless: ["proxy_redirects", "proxy_prefix", "proxy_body", "host_unreachable"],
    find: (o) => requestsIn(o, (it) => isByProxy(it) && hasFailed(it)),
  },
} as const satisfies Record<string, CheckRule>;
