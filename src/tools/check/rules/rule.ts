import type { Observations } from "../observations.ts";

export const checkAreas = {
  app: "the app starts and its pages load",
  sdk: "the SDK loads once, is initialized and captures",
  key: "kind of the project key",
  host: "host of the service",
  proxy: "the app's reverse proxy",
  pageviews: "one $pageview for each page",
  identity: "persons have real, lasting ids",
  flags: "feature flags arrive before they are read",
  recordings: "session recordings arrive",
  events: "names, sizes and outcomes of events",
  privacy: "personal data in events",
  server: "events of the app's server",
} as const;

export type CheckArea = keyof typeof checkAreas;

export type CheckSeverity = "error" | "warning" | "info";

export interface CheckEvidence {
  readonly text: string;
  readonly url?: string;
  readonly request?: number;
  readonly event?: number;
}

export interface CheckRule {
  readonly area: CheckArea;
  readonly severity: CheckSeverity;
  /** The mistake, as a sentence without the full stop. */
  readonly sentence: string;
  readonly fix: string;
  /** Codes of findings that explain this one: with one of them it is not reported. */
  readonly unless?: readonly string[];
  /** Nothing: the mistake was not made. */
  find(observations: Observations): readonly CheckEvidence[];
}

/** Mistakes for which events do not arrive. */
export const noDelivery: readonly string[] = [
  "page_failed",
  "sdk_blocked",
  "requests_blocked",
  "sdk_script_failed",
  "sdk_not_initialized",
  "sdk_opted_out",
  "before_send_drops",
  "bot_filter_blocks",
  "key_personal",
  "key_placeholder",
  "key_missing",
  "host_wrong",
  "host_unreachable",
  "host_has_path",
  "proxy_redirects",
  "proxy_prefix",
  "proxy_body",
  "proxy_fails",
];
