import { z } from "zod";
import { AnyJson, createdAt, createdBy, empty, JsonRecord, number, off, project } from "../field-kinds.ts";
import { kind } from "../kind.ts";
import { json, list, text } from "../lenient-fields.ts";

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

const anything = { stored: AnyJson, blank: null, write: json() } as const;

/**
 * Static cohorts list their persons, dynamic ones have conditions in `filters`.
 * Upstream PostHog/posthog posthog/api/cohort.py, CohortSerializer.
 */
export const cohortKind = kind(
  {
    id: number("The number that flags refer to; by default the next free one."),
    project,
    name: {
      stored: z.string().nullable(),
      blank: null,
      write: text({ max: 400, blank: true }).nullable(),
      author: [z.string(), "The cohort's name.", "required"],
    },
    description: { ...empty, write: text({ max: 1000, blank: true }) },
    /** What cohorts had before `filters`: any group is enough. */
    groups: { stored: z.array(AnyJson), blank: [], write: json() },
    deleted: off,
    filters: { ...anything, author: [JsonRecord, "The service's filters; they are evaluated for each person."] },
    query: { ...anything, author: "The service's query JSON; it is stored, but not evaluated." },
    is_calculating: { show: z.boolean() },
    created_by: createdBy,
    created_at: { ...createdAt, stored: z.string().nullable() },
    last_calculation: { show: z.string().nullable() },
    errors_calculating: { show: z.int() },
    /** How many persons a static cohort lists; null: the sim does not compute it. */
    count: { show: z.int().nullable() },
    is_static: { ...off, author: "True: `persons` are its members. By default false." },
    cohort_type: { show: z.string().nullable() },
    experiment_set: { show: z.array(z.int()) },
    /** Uuids of the persons of a static cohort. */
    persons: {
      stored: z.array(z.string()).optional(),
      show: false,
      author: [z.array(z.string()), "Members of a static cohort: uuids, or distinct ids of persons of this project."],
    },
    /** Uuids of persons; those that the project does not have are left out. */
    _create_static_person_ids: { write: list(text()) },
  },
  { authored: "name id description is_static deleted filters query persons created_at created_by" },
);
/** Those of older versions and of scenarios lack some fields. */
export const Cohort = z.looseObject({ ...cohortKind.Stored.partial().shape, id: z.int(), project: z.int() });

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
