import { SimError } from "../../kernel/base/errors.ts";

/** Upstream PostHog/posthog posthog/exceptions.py, `ClickHouseQueryTimeOut`. */
export const queryTooSlow = (): SimError =>
  new SimError(
    "query_timeout",
    "Query has hit the max execution time before completing. See our docs for how to improve your query performance. You may need to materialize.",
  );

/** Upstream PostHog/posthog posthog/exceptions.py, `ClickHouseQueryMemoryLimitExceeded`. */
export const queryTooLarge = (): SimError =>
  new SimError(
    "clickhouse_memory_limit_exceeded",
    "This query ran out of memory before it could finish, usually because it's scanning too much data. Try a shorter date range or narrower filters, or see our docs for more ways to speed it up: https://posthog.com/docs/product-analytics/troubleshooting#how-do-i-speed-up-my-insights-and-queries",
  );

export const refuse = (detail: string, attr = "query"): SimError => new SimError("invalid_input", detail, { attr });

/** A part of a query that the service has and the sim does not compute. */
export const unsupported = (what: string): SimError => refuse(`${what} is not supported.`);
