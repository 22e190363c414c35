import type { Call } from "../http/call.ts";
import type { FeatureFlag } from "../model/world.ts";
import type { FlagsRequest } from "./flags-request.ts";

const serverAgents = /^(?:posthog-(?:python|ruby|php|java|go|node|dotnet|elixir)\/|python-requests|curl\/)/i;
const clientAgents = /mozilla|chrome|safari|firefox|opera|^posthog-(?:js|ios|android|react-native|flutter)/i;
const browserHeaders = ["origin", "referer", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-dest"] as const;

/**
 * Where the caller runs: what it says, else by its User-Agent, else by the headers that only browsers
 * send. undefined when nothing tells. Upstream PostHog rust/feature-flags, handler/evaluation runtime.
 */
export function runtimeOf(call: Call, request: FlagsRequest): FlagsRequest["runtime"] {
  if (request.runtime) return request.runtime;
  const agent = call.headers["user-agent"] ?? "";
  if (serverAgents.test(agent)) return "server";
  if (clientAgents.test(agent)) return "client";
  return browserHeaders.some((name) => call.headers[name] !== undefined) ? "client" : undefined;
}

/** Flags that name contexts are for callers that name one of them; who names none gets every flag. */
export const suitsContexts = (
  { evaluation_contexts: wanted }: FeatureFlag,
  contexts: readonly string[],
): boolean =>
  wanted === undefined ||
  wanted.length === 0 ||
  contexts.length === 0 ||
  wanted.some((context) => contexts.includes(context));

/** Flags without a runtime are for everybody; a caller that says `all` gets every flag. */
export function suitsRuntime(flag: FeatureFlag, runtime: FlagsRequest["runtime"]): boolean {
  const wanted = flag.evaluation_runtime;
  return wanted === null || wanted === "all" || runtime === "all" || wanted === runtime;
}
