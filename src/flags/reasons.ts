/**
 * Why a flag has its value. Of the misses met on the way the highest score is told; ties go to the later
 * condition set. Upstream PostHog rust/feature-flags, flag_match_reason.
 */
export const reasons = {
  super_condition_value: { score: 6, description: "Super condition value" },
  holdout_condition_value: { score: 5, description: "Holdout condition value" },
  condition_match: { score: 4, description: "Matched condition set" },
  out_of_rollout_bound: { score: 3, description: "Out of rollout bound" },
  no_condition_match: { score: 2, description: "No matching condition set" },
  no_group_type: { score: 1, description: "No group type" },
} as const satisfies Record<string, { score: number; description: string }>;

export type ReasonCode = keyof typeof reasons;
export type MissCode = "out_of_rollout_bound" | "no_condition_match" | "no_group_type";

/**
 * Why a flag could not be computed. Its value is then false, `failed` is set and the answer says
 * `errorsWhileComputingFlags`: an honest "unknown" instead of a wrong value. `hash_key_override_error` is
 * upstream's code; the `unsupported_…` ones are the sim's.
 */
export const failures = {
  hash_key_override_error: "The stored hash key for experience continuity is not known",
  unsupported_cohort: "Cohort filters are not evaluated by the simulator",
  unsupported_flag_dependency: "Flag dependencies are not evaluated by the simulator",
  unsupported_property_type: "A filter of this type is not evaluated by the simulator",
  unsupported_operator: "A filter's operator is not evaluated by the simulator",
  unsupported_filter_value: "A filter's value cannot be read by the simulator",
  unsupported_regex: "A regular expression uses syntax that the simulator does not evaluate",
  unsupported_date: "A date is written in a way that the simulator does not read",
  unsupported_version: "A version is written in a way that the simulator does not read",
  unsupported_geoip: "Properties derived from the caller's address are not evaluated by the simulator",
} as const satisfies Record<string, string>;

export type FailureCode = keyof typeof failures;

/** Thrown where a flag cannot be computed; `evaluateFlag` turns it into a failed decision. */
export class FlagFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode) {
    super(failures[code]);
    this.name = "FlagFailure";
    this.code = code;
  }
}
