import type { Call } from "./call.ts";
import type { Family } from "./family.ts";
import { empty, json, type Reply } from "./reply.ts";

/** The origin is mirrored, never `*`, because posthog-js ≤ 1.200 sends credentials. The control API gets no headers. */
export function corsHeaders(call: Call, family: Family): string[] {
  const origin = call.headers.origin;
  if (origin === undefined || family === "control") return noHeaders;
  return [
    "access-control-allow-origin",
    origin,
    "access-control-allow-credentials",
    "true",
    "access-control-expose-headers",
    family === "management" ? `${exposed}, ${ignoredHeader}` : exposed,
    "vary",
    "origin",
  ];
}

const noHeaders: string[] = [];

const exposed = "PostHog-Request-Id, ETag, Retry-After";

/** Names the keys of a body that an endpoint does not know. Ours: the service ignores them, too, and reports nothing. */
export const ignoredHeader = "x-phx-ignored";

const preflightMethods: Record<Family, string> = {
  capture: "GET, POST, OPTIONS",
  "capture-v1": "POST, OPTIONS",
  flags: "GET, POST, OPTIONS, HEAD",
  service: "GET, POST, OPTIONS, PUT, PATCH, DELETE",
  management: "DELETE, GET, OPTIONS, PATCH, POST, PUT",
  control: "",
};

/** The headers that the service's application lets a page send. Upstream PostHog/posthog posthog/utils_cors.py. */
const managementHeaders = [
  "accept",
  "authorization",
  "content-type",
  "user-agent",
  "x-csrftoken",
  "x-requested-with",
  "traceparent",
  "request-id",
  "request-context",
  "x-amzn-trace-id",
  "x-cloud-trace-context",
  "Sentry-Trace",
  "Baggage",
  "x-highlight-request",
  "x-datadome-clientid",
].join(", ");

export const isPreflight = (call: Call): boolean =>
  call.method === "OPTIONS" &&
  call.headers.origin !== undefined &&
  call.headers["access-control-request-method"] !== undefined;

/** The answer to a preflight of the management API: no key is needed. Upstream django-cors-headers. */
const managementPreflight = (): Reply => ({
  status: 200,
  headers: [
    "content-length",
    "0",
    "access-control-allow-methods",
    preflightMethods.management,
    "access-control-allow-headers",
    managementHeaders,
    "access-control-max-age",
    "86400",
  ],
  body: null,
});

/** The body of an answer to OPTIONS, by family; the CORS layer of the flags service answers 200. */
const preflightReplies: Readonly<Record<Exclude<Family, "management">, () => Reply>> = {
  capture: () => json({ status: "Ok" }),
  "capture-v1": () => empty(204),
  flags: () => empty(200),
  service: () => empty(204),
  control: () => empty(204),
};

export function preflight(call: Call, family: Family, allow: readonly string[]): Reply {
  if (family === "management") return managementPreflight();
  const reply = preflightReplies[family]();
  const headers = [...reply.headers, "allow", allow.join(", ")];
  if (family !== "control") {
    headers.push("access-control-allow-methods", preflightMethods[family]);
    const asked = call.headers["access-control-request-headers"];
    if (asked) headers.push("access-control-allow-headers", asked);
    headers.push("access-control-max-age", "600");
  }
  return { ...reply, headers };
}
