import { z } from "zod";
import {
  AnyJson,
  createdAt,
  createdBy,
  empty,
  JsonRecord,
  number,
  off,
  project,
  Tags,
  Time,
  tags,
  UserShape,
} from "../field-kinds.ts";
import { kind } from "../kind.ts";
import { boolean, choice, datetime, dictionary, integer, json, list, text } from "../lenient-fields.ts";
import { tidyTags } from "../tags.ts";

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

const FlagChange = z.object({
  id: z.string(),
  at: z.string(),
  user: z.int(),
  activity: z.enum(["updated", "deleted", "restored"]),
  key: z.string(),
  changes: z.array(z.object({ field: z.string(), before: z.json(), after: z.json() })),
});
export type FlagChange = z.infer<typeof FlagChange>;

const keyPattern = /^[a-zA-Z0-9_-]+$/;

const fromScenario = <S extends z.ZodType, const T extends string>(stored: S, description: T) =>
  ({ stored, author: [z.nullable(stored), description] }) as const;
const switched = <const T extends string>(description: T) =>
  ({
    ...fromScenario(z.boolean(), description),
    // the service takes null for false
    write: boolean()
      .nullable()
      .transform((it) => it ?? false),
  }) as const;
const userOrNull = { stored: z.int().nullable(), show: UserShape.nullable() } as const;

/** Their values in new flags are in blank.ts: a start needs them. Upstream PostHog/posthog posthog/api/feature_flag.py. */
export const flagKind = kind(
  {
    id: number("The flag's number; by default the next free one."),
    project,
    name: { ...fromScenario(z.string(), "The flag's description."), write: text({ blank: true }) },
    key: {
      stored: z.string(),
      write: text({ max: 400 }).refine((key) => keyPattern.test(key), {
        params: { detail: "Only letters, numbers, hyphens (-) & underscores (_) are allowed.", code: "invalid_key" },
      }),
    },
    filters: {
      stored: FlagFilters,
      show: z.record(z.string(), z.json()),
      write: dictionary(),
      author: [FlagFilters, "The service's filters, as exported from production.", "required"],
    },
    deleted: { ...fromScenario(z.boolean(), "By default false."), write: boolean() },
    active: { ...fromScenario(z.boolean(), "False: the flag is not evaluated. By default true."), write: boolean() },
    /** Left out of lists; never active. */
    archived: { stored: z.boolean().optional(), show: z.boolean(), write: boolean() },
    created_by: userOrNull,
    created_at: { ...createdAt, write: datetime() },
    updated_at: { stored: z.string().nullable(), is: "time", author: [Time.nullable(), "By default never."] },
    /** In requests the version that the caller knows; see `original_flag`. */
    version: { ...fromScenario(z.int(), "By default 1."), write: integer() },
    last_modified_by: userOrNull,
    is_simple_flag: { show: z.boolean() },
    rollout_percentage: { show: z.number().nullable() },
    ensure_experience_continuity: switched(
      "True: a person keeps the value from before identification. By default false.",
    ),
    experiment_set: { show: z.array(z.int()) },
    surveys: { show: z.array(z.json()) },
    features: { show: z.array(z.json()) },
    /** Kept as they were written; nothing is rolled back here. */
    rollback_conditions: {
      stored: z.array(z.json()).optional(),
      show: z.array(z.json()),
      write: list(json())
        .nullable()
        .transform((it) => it ?? []),
    },
    performed_rollback: { show: z.boolean() },
    can_edit: { show: z.boolean() },
    tags: { ...tags, write: list(text()).transform(tidyTags) },
    evaluation_tags: { show: z.array(z.string()), author: [Tags.nullable(), "Older name of `evaluation_contexts`."] },
    usage_dashboard: { show: z.int().nullable() },
    analytics_dashboards: { stored: z.array(z.int()).optional(), show: z.array(z.int()), write: list(integer()) },
    has_enriched_analytics: { show: z.boolean() },
    user_access_level: { show: z.string() },
    creation_context: {
      write: choice(["feature_flags", "experiments", "surveys", "early_access_features", "web_experiments"]),
    },
    is_remote_configuration: switched("True: the flag is a payload for all persons, not a decision. By default false."),
    has_encrypted_payloads: switched("By default false."),
    status: { show: z.string() },
    evaluation_runtime: {
      stored: z.enum(["all", "client", "server"]).nullable(),
      show: z.string().nullable(),
      write: choice(["server", "client", "all"]).nullable(),
      author: "Where it is evaluated; by default everywhere.",
    },
    bucketing_identifier: {
      stored: z.string().nullable(),
      write: choice(["distinct_id", "device_id"]).nullable(),
      author: "`device_id`: rollouts hash the device id; by default the distinct id.",
    },
    last_called_at: { show: z.string().nullable() },
    /** For callers that name one of these contexts; none: for everybody. The service's older name: evaluation tags. */
    evaluation_contexts: {
      stored: z.array(z.string()).optional(),
      show: false,
      author: [z.array(z.string()).nullable(), "Only for clients that name one of these; by default for all."],
    },
    /** Changes over the management API, the last ones, oldest first. */
    history: { stored: z.array(FlagChange).optional(), show: false },
    /** The flag as the caller read it: a field that another user has changed since is a conflict. */
    original_flag: { write: json() },
  },
  {
    written: "name key filters deleted active archived created_at version ensure_experience_continuity tags",
    authored:
      "filters id name active deleted version ensure_experience_continuity has_encrypted_payloads is_remote_configuration evaluation_runtime bucketing_identifier evaluation_contexts tags evaluation_tags",
  },
);
export const FeatureFlag = flagKind.Stored;

const anything = { stored: AnyJson, blank: null, write: json() } as const;

/** Static cohorts list persons, dynamic ones have `filters`. Upstream PostHog/posthog posthog/api/cohort.py, CohortSerializer. */
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
