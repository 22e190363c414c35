import type { Json } from "../../kernel/base/json.ts";
import { stringOf } from "../../kernel/base/text.ts";

/**
 * When a query is computed, and whether its request waits for that. Upstream PostHog/posthog
 * posthog/hogql_queries/query_runner.py, `ExecutionMode`.
 */
export const executionModes = [
  "force_blocking",
  "force_async",
  "blocking",
  "async",
  "async_except_on_cache_miss",
  "lazy_async",
  "force_cache",
] as const;
export type ExecutionMode = (typeof executionModes)[number];

const isMode = (value: unknown): value is ExecutionMode => executionModes.some((it) => it === value);

/** The mode that `refresh` asks for; without a known one only what is cached is shown. Upstream posthog/utils.py. */
export function modeFrom(refresh: Json | undefined): ExecutionMode {
  if (isMode(refresh)) return refresh;
  const word = stringOf(refresh ?? "false").toLowerCase();
  return ["true", "1", "yes", ""].includes(word) ? "force_blocking" : "force_cache";
}
