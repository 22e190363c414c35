import { hostRuleFor, placeOf, readHostRule, serviceHosts } from "../../kernel/host-rules.ts";

const rules = serviceHosts.map(readHostRule);

/**
 * Paths that only the service's SDKs ask for, where an app's own host passes them on or hosts the service itself. A
 * path may be below another one (`/ingest/e/`).
 */
const ownPaths: readonly RegExp[] = [
  /\/i\/v\d\/(?:e|ai|ai\/batch|general|analytics\/events)\/?$/,
  /\/(?:e|s|batch|capture|engage|track|flags|decide)\/?$/,
  /\/array\/[\w-]+\/config(?:\.js)?$/,
  /\/static\/(?:[\d.]+\/)?(?:array|recorder|posthog-recorder|surveys|toolbar|dead-clicks-autocapture|exception-autocapture|web-vitals|lazy-recorder)[\w.-]*\.js$/,
  /\/api\/(?:feature_flag\/local_evaluation|surveys|product_tours|early_access_features)\/?$/,
  /\/(?:flags\/definitions|api\/web_experiments)\/?$/,
  /\/api\/(?:projects|environments|organizations)\/(?:\d+|@current|[\da-f-]{36})(?:\/|$)/,
  /\/api\/users\/@me\/?$/,
];

/** Is this one of the service's requests: to its hosts, or with a path that its SDKs and API alone have? */
export const isOfService = (url: URL): boolean =>
  hostRuleFor(rules, placeOf(url)) !== undefined || ownPaths.some((path) => path.test(url.pathname));
