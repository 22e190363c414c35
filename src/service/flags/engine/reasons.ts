/**
 * Why a flag has its value. Of several misses, the one with the highest score is reported; ties go to the later
 * condition set. Upstream PostHog rust/feature-flags, flag_match_reason.
 */
export const reasons = {
  /** The sim's own: the flag is overridden (overrides.ts). */
  override: { score: 7, description: "Overridden in phx-sim" },
  super_condition_value: { score: 6, description: "Super condition value" },
  holdout_condition_value: { score: 5, description: "Holdout condition value" },
  condition_match: { score: 4, description: "Matched condition set" },
  out_of_rollout_bound: { score: 3, description: "Out of rollout bound" },
  no_condition_match: { score: 2, description: "No matching condition set" },
  no_group_type: { score: 1, description: "No group type" },
  flag_disabled: { score: 0, description: "Feature flag is disabled" },
  missing_dependency: { score: -1, description: "Flag cannot be evaluated due to missing dependency" },
} as const satisfies Record<string, { score: number; description: string }>;

/** The description if nothing matched and sets about groups were skipped because there is no group. */
export const groupsNotEvaluated =
  "No matching condition set (group conditions were not evaluated because no group type was provided)";

export type ReasonCode = keyof typeof reasons;
export type MissCode = "out_of_rollout_bound" | "no_condition_match" | "no_group_type";

/**
 * Why a flag could not be computed. Its value is then false, `failed` is set and the answer says
 * `errorsWhileComputingFlags`: "unknown" instead of a wrong value. The `unsupported_…` ones are
 * the sim's, the others upstream's (rust/feature-flags, api/errors).
 */
export const failures = {
  hash_key_override_error: "Failed to fetch hash key override for experience continuity",
  database_error: "The database could not be asked",
  dependency_cycle_flag: "Flag dependency cycle detected",
  dependency_cycle_cohort: "Cohort dependency cycle detected",
  dependency_not_found_cohort: "Cohort dependency not found",
  cohort_filters_parsing_error: "Failed to parse cohort filters",
  flag_data_parsing_error: "Its rules cannot be read",
  flag_evaluation_error: "A filter of its rules cannot be compared",
  unsupported_config_version: "The version of its rules is not evaluated by the simulator",
  unsupported_property_type: "A filter of this type is not evaluated by the simulator",
  unsupported_operator: "A filter's operator is not evaluated by the simulator",
  unsupported_filter_value: "A filter's value cannot be read by the simulator",
  unsupported_regex: "A regular expression is not evaluated by the simulator: its syntax, or too slow",
  unsupported_geoip: "Properties derived from the caller's address are not evaluated by the simulator",
} as const satisfies Record<string, string>;

export type FailureCode = keyof typeof failures;

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(failures, code);

/** Thrown where a flag cannot be computed; `evaluateFlag` turns it into a failed decision. */
export class FlagFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, description: string = failures[code]) {
    super(description);
    this.name = "FlagFailure";
    this.code = code;
  }
}
