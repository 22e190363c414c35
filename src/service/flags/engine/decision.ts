import type { Json } from "../../../kernel/base/json.ts";
import { type FailureCode, failures, groupsNotEvaluated, type ReasonCode, reasons } from "./reasons.ts";
import type { RuleType } from "./rule-config.ts";

export interface Decision {
  /** The variant when there is one, else `enabled`. */
  readonly value: boolean | string;
  readonly enabled: boolean;
  readonly variant: string | null;
  /** JSON text. */
  readonly payload: string | null;
  readonly reason: { readonly code: ReasonCode | FailureCode; readonly description: string };
  /** Which condition set decided, from 0. */
  readonly condition_index: number | null;
  readonly failed: boolean;
  /** What a flag with rules of version 2 gives in its own terms; the rest is what older clients get. */
  readonly rule?: RuleOutcome;
}

/** Why rules of version 2 give a value. Upstream PostHog rust/feature-flags, evaluate_v2. */
export type RuleCode = "targeting_match" | "rollout_miss" | "experiment_paused" | "holdout" | "no_rule_match";

export interface RuleOutcome {
  /** Of the flag's return type; null where it has no default. */
  readonly value: Json;
  readonly code: RuleCode;
  readonly description: string;
  /** null where no rule decided. */
  readonly type: RuleType | null;
  readonly id: string | null;
}

/** The flag's payloads by variant key, `true` for a flag without variants. */
export type Payloads = Readonly<Record<string, unknown>>;

/** A payload as clients get it: JSON text. Authors of scenarios may write the plain value instead. */
export function payloadText(payloads: Payloads | undefined, name: string): string | null {
  const payload = payloads && Object.hasOwn(payloads, name) ? payloads[name] : undefined;
  if (payload === undefined || payload === null) return null;
  return typeof payload === "string" ? payload : JSON.stringify(payload);
}

const reasonOf = (code: ReasonCode, index: number | null): Decision["reason"] => ({
  code,
  description:
    code === "condition_match" && index !== null
      ? `${reasons.condition_match.description} ${index + 1}`
      : reasons[code].description,
});

export const on = (
  code: ReasonCode,
  index: number | null,
  variant: string | null,
  payloads: Payloads | undefined,
): Decision => ({
  value: variant ?? true,
  enabled: true,
  variant,
  payload: payloadText(payloads, variant ?? "true"),
  reason: reasonOf(code, index),
  condition_index: index,
  failed: false,
});

const offFor = (
  reason: Decision["reason"],
  index: number | null,
  payload: string | null,
  failed: boolean,
): Decision => ({ value: false, enabled: false, variant: null, payload, reason, condition_index: index, failed });

/** The flag is off. Only super conditions give a payload to a flag that is off. */
export const off = (code: ReasonCode, index: number | null, payload: string | null = null): Decision =>
  offFor(reasonOf(code, index), index, payload, false);

/** No set matched, and sets about groups were passed over because the request names no such group. */
export const offWithoutGroups = (index: number): Decision =>
  offFor({ code: "no_condition_match", description: groupsNotEvaluated }, index, null, false);

export const failed = (code: FailureCode, description: string = failures[code]): Decision =>
  offFor({ code, description }, null, null, true);
