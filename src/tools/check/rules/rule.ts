import type { Observations } from "../observations.ts";
import type { CheckFinding } from "../shapes.ts";

export type CheckEvidence = CheckFinding["evidence"][number];

export interface CheckRule extends Pick<CheckFinding, "area" | "severity" | "sentence" | "fix"> {
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
