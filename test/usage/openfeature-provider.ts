import { ErrorCode, type JsonValue, type Provider, type ResolutionDetails } from "@openfeature/server-sdk";
import type { PostHog } from "posthog-node";

/**
 * An OpenFeature provider over posthog-node. Stands in for `@posthog/openfeature-node-provider`, which cannot be
 * installed where these tests were written; it makes the same calls of the SDK.
 */
export function posthogProvider(posthog: PostHog): Provider {
  async function resolve<T>(
    key: string,
    usual: T,
    distinctId: string | undefined,
    read: (flag: { enabled: boolean; variant: string | undefined; payload: JsonValue | undefined }) => T,
  ): Promise<ResolutionDetails<T>> {
    if (!distinctId) return { value: usual, errorCode: ErrorCode.TARGETING_KEY_MISSING };
    const flag = await posthog.getFeatureFlagResult(key, distinctId);
    if (!flag) return { value: usual, errorCode: ErrorCode.FLAG_NOT_FOUND };
    const { enabled, variant, payload } = flag;
    const value = read({ enabled, variant, payload });
    return { value, reason: "TARGETING_MATCH", ...(variant !== undefined && { variant }) };
  }
  return {
    metadata: { name: "posthog" },
    runsOn: "server",
    resolveBooleanEvaluation: (key, usual, { targetingKey }) =>
      resolve(key, usual, targetingKey, ({ enabled }) => enabled),
    resolveStringEvaluation: (key, usual, { targetingKey }) =>
      resolve(key, usual, targetingKey, ({ variant }) => variant ?? usual),
    resolveNumberEvaluation: (key, usual, { targetingKey }) =>
      resolve(key, usual, targetingKey, ({ payload }) => (typeof payload === "number" ? payload : usual)),
    // The caller says of which type the payload is.
    resolveObjectEvaluation: <T extends JsonValue>(
      key: string,
      usual: T,
      context: { targetingKey?: string },
    ) => resolve(key, usual, context.targetingKey, ({ payload }) => (payload ?? usual) as T),
  };
}
