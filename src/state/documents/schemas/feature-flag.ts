import { z } from "zod";

export const FlagFilters = z.looseObject({
  groups: z
    .array(
      z.looseObject({
        properties: z.array(z.looseObject({ key: z.string() })).optional(),
        rollout_percentage: z.number().nullish(),
        variant: z.string().nullish(),
      }),
    )
    .optional(),
  multivariate: z
    .object({ variants: z.array(z.looseObject({ key: z.string(), rollout_percentage: z.number() })) })
    .nullish(),
  payloads: z.record(z.string(), z.unknown()).optional(),
});

/** An entry of a flag's activity. */
const FlagChange = z.object({
  id: z.string(),
  at: z.string(),
  /** Id of a user. */
  user: z.int(),
  activity: z.enum(["updated", "deleted", "restored"]),
  /** The flag's key after it. */
  key: z.string(),
  changes: z.array(z.object({ field: z.string(), before: z.json(), after: z.json() })),
});
export type FlagChange = z.infer<typeof FlagChange>;

export const FeatureFlag = z.object({
  id: z.int(),
  project: z.int(),
  key: z.string(),
  name: z.string(),
  active: z.boolean(),
  deleted: z.boolean(),
  /** Left out of lists; never active. */
  archived: z.boolean().optional(),
  /** Changes over the management API, the last ones, oldest first. */
  history: z.array(FlagChange).optional(),
  version: z.int(),
  ensure_experience_continuity: z.boolean(),
  /** Kept as they were written; nothing is rolled back here. */
  rollback_conditions: z.array(z.json()).optional(),
  /** Ids of dashboards. */
  analytics_dashboards: z.array(z.int()).optional(),
  has_encrypted_payloads: z.boolean(),
  is_remote_configuration: z.boolean(),
  evaluation_runtime: z.enum(["all", "client", "server"]).nullable(),
  bucketing_identifier: z.string().nullable(),
  /** For callers that name one of these contexts; none: for everybody. The service's older name: evaluation tags. */
  evaluation_contexts: z.array(z.string()).optional(),
  filters: FlagFilters,
  tags: z.array(z.string()),
  created_at: z.string(),
  created_by: z.int().nullable(),
  updated_at: z.string().nullable(),
  last_modified_by: z.int().nullable(),
});

/** Static cohorts list their persons, dynamic ones have conditions in `filters`. */
export const Cohort = z.looseObject({
  id: z.int(),
  project: z.int(),
  name: z.string().nullish(),
  description: z.string().optional(),
  is_static: z.boolean().optional(),
  deleted: z.boolean().optional(),
  filters: z.json().optional(),
  /** What cohorts had before `filters`: any group is enough. */
  groups: z.array(z.json()).optional(),
  query: z.json().optional(),
  /** Uuids of the persons of a static cohort. */
  persons: z.array(z.string()).optional(),
  created_at: z.string().nullish(),
  created_by: z.int().nullish(),
});

/** A value that replaces the decision of a flag until it is removed or the world is reset. */
export const FlagOverride = z.object({
  id: z.string(),
  project: z.int(),
  /** The flag's key; the flag may be unknown. */
  flag: z.string(),
  /** For this distinct id only; null: for all. */
  distinct_id: z.string().nullable(),
  /** A string is a variant. */
  value: z.union([z.boolean(), z.string()]),
  payload: z.json(),
  created_at: z.string(),
});
