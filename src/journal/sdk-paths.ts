/** What a request of an SDK is for. */
export const contactKinds = ["script", "config", "flags", "recording", "events", "other"] as const;
export type ContactKind = (typeof contactKinds)[number];

/** The service's paths by kind; the first that fits decides. `null`: not a request of an SDK. */
const kinds: readonly (readonly [ContactKind | null, RegExp])[] = [
  ["script", /^\/array\/[^/]+\/array\.js$|^\/static\/|\.js\.map$/],
  ["config", /^\/array\/[^/]+\/config(?:\.js)?$/],
  ["flags", /^\/(?:flags|decide)(?:\/|$)|\/local_evaluation$|\/remote_config$/],
  ["recording", /^\/s$/],
  ["events", /^\/(?:e|batch|capture|track|engage|i\/v\d+\/.+)$/],
  ["other", /^\/api\/(?:surveys|early_access_features|product_tours|web_experiments|push_subscriptions)$/],
  [null, /^\/$|^\/api(?:\/|$)|^\/_(?:readiness|liveness)$|^\/favicon\.ico$|^\/robots\.txt$/],
];

/**
 * The kind of a request, or null: calls of the management API, health checks, and preflights, which the request itself
 * follows, are no contact of an SDK. Unknown paths are.
 */
export function contactKindOf({ method, target }: { method: string; target: string }): ContactKind | null {
  if (method === "OPTIONS") return null;
  const path = target
    .replace(/[?#].*$/s, "")
    .replace(/\/+/g, "/")
    .replace(/(?<=.)\/$/, "");
  for (const [kind, pattern] of kinds) if (pattern.test(path)) return kind;
  return "other";
}
