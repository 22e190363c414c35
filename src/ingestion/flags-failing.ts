import { failed } from "../flags/decision.ts";
import type { Result } from "../flags/ruleset.ts";

/**
 * The results as a service gives them that cannot compute some flags: every second one by key, or the named
 * ones. Overridden flags are no exception.
 */
export function withFailures(results: readonly Result[], which: "partial" | readonly string[]): Result[] {
  const keys = results.map(({ compiled }) => compiled.flag.key);
  const failing = new Set(which === "partial" ? [...keys].sort().filter((_, i) => i % 2 === 0) : which);
  // A decision of its own for each: shapes remember how they wrote one.
  return results.map((result) =>
    failing.has(result.compiled.flag.key) ? { ...result, decision: failed("database_error") } : result,
  );
}
