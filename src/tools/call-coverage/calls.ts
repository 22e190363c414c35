type CallKind = "event" | "flag" | "identity" | "exception";

interface SdkCall {
  readonly kind: CallKind;
  /** The event that it sends, if its arguments do not name one. */
  readonly event?: string;
  /** It reads a payload, which not every SDK reports. */
  readonly isPayload?: boolean;
}

const sdkCalls: Readonly<Record<string, SdkCall>> = {
  capture: { kind: "event" },
  captureImmediate: { kind: "event" },
  isFeatureEnabled: { kind: "flag" },
  getFeatureFlag: { kind: "flag" },
  getFeatureFlagResult: { kind: "flag" },
  getFeatureFlagPayload: { kind: "flag", isPayload: true },
  useFeatureFlagEnabled: { kind: "flag" },
  useFeatureFlagVariantKey: { kind: "flag" },
  useFeatureFlagPayload: { kind: "flag", isPayload: true },
  identify: { kind: "identity", event: "$identify" },
  alias: { kind: "identity", event: "$create_alias" },
  group: { kind: "identity", event: "$groupidentify" },
  groupIdentify: { kind: "identity", event: "$groupidentify" },
  captureException: { kind: "exception", event: "$exception" },
};

export const sdkCallOf = (method: string): SdkCall | undefined =>
  Object.hasOwn(sdkCalls, method) ? sdkCalls[method] : undefined;

/** The names that are looked for, for messages. */
export const callNames = Object.keys(sdkCalls);

export interface CallSite {
  readonly kind: CallKind;
  readonly method: string;
  readonly isPayload: boolean;
  /** Name of the event, key of the flag; null if it is computed. */
  readonly name: string | null;
  readonly line: number;
  readonly column: number;
}

/** A place that cannot be read: a syntax error, or markup whose calls are not known. */
export interface SourceProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface SourceCalls {
  readonly sites: readonly CallSite[];
  readonly problems: readonly SourceProblem[];
}

const clientName = /posthog|^ph$/i;
const likelyName = /^(client|analytics|tracker|telemetry|hog|sdk|instance)$/i;

/** True if a name is that of a client of PostHog. @param isMentioned The file has the word PostHog */
export const isClientName = (name: string, isMentioned: boolean): boolean =>
  clientName.test(name) || (isMentioned && likelyName.test(name));

export const mentionsPosthog = (text: string): boolean => /posthog/i.test(text);

/** A call site for each name; one with a computed name if there is none. */
export function sitesOf(
  method: string,
  { kind, event, isPayload = false }: SdkCall,
  names: readonly string[],
  at: { readonly line: number; readonly column: number },
): CallSite[] {
  const known = event === undefined ? names : [event];
  return (known.length > 0 ? known : [null]).map((name) => ({ kind, method, isPayload, name, ...at }));
}
