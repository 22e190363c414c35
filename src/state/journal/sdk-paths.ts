import { isBrowsersOwn } from "../../kernel/http/browser-requests.ts";

export const contactKinds = ["script", "config", "flags", "recording", "events", "other"] as const;
export type ContactKind = (typeof contactKinds)[number];

/** The service's paths by kind; the first that fits decides. `null`: not a request of an SDK. */
const kinds: readonly (readonly [ContactKind | null, RegExp])[] = [
  ["script", /^\/array\/[^/]+\/array\.js$|^\/static\//],
  ["config", /^\/array\/[^/]+\/config(?:\.js)?$/],
  ["flags", /^\/(?:flags|decide)(?:\/|$)|\/local_evaluation$|\/remote_config$/],
  ["recording", /^\/s$/],
  ["events", /^\/(?:e|batch|capture|track|engage|i\/v\d+\/.+)$/],
  ["other", /^\/api\/(?:surveys|early_access_features|product_tours|web_experiments|push_subscriptions)$/],
  [null, /^\/$|^\/api(?:\/|$)|^\/_(?:readiness|liveness)$/],
];

/**
 * The kind of a request, or null: calls of the management API, health checks, preflights, which the request itself
 * follows, and what browsers request by themselves are no contact of an SDK. Unknown paths are.
 */
export function contactKindOf({ method, target }: { method: string; target: string }): ContactKind | null {
  if (method === "OPTIONS") return null;
  const path = target
    .replace(/[?#].*$/s, "")
    .replace(/\/+/g, "/")
    .replace(/(?<=.)\/$/, "");
  if (isBrowsersOwn({ method, path })) return null;
  for (const [kind, pattern] of kinds) if (pattern.test(path)) return kind;
  return "other";
}

/** True if the request may carry events: to a capture path, or with a body to a path that does not exist. */
export function mayCarryEvents({ method, target }: { method: string; target: string }): boolean {
  const kind = contactKindOf({ method, target });
  return kind === "events" || kind === "recording" || (kind === "other" && method === "POST");
}
