import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { liveResources } from "../../../state/documents/resources.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, choice, datetime, dictionary, integer, json, list, shownAs, text } from "../../api-frame/fields.ts";
import { showUserOf, UserShape } from "../../api-frame/users.ts";
import { showFeature, showSurvey } from "../../capture/sdk/lists.ts";
import { referenceIn } from "../engine/values.ts";
import { cohortOf } from "./cohort-rules.ts";

const keyPattern = /^[a-zA-Z0-9_-]+$/;

/** Fields that can be written, in the order in which the service checks them. */
const fields = {
  name: text({ blank: true }).optional(),
  key: text({ max: 400 }).refine((key) => keyPattern.test(key), {
    params: { detail: "Only letters, numbers, hyphens (-) & underscores (_) are allowed.", code: "invalid_key" },
  }),
  filters: dictionary().optional(),
  deleted: boolean().optional(),
  active: boolean().optional(),
  archived: boolean().optional(),
  created_at: datetime().optional(),
  /** The version that the caller knows; see `original_flag`. */
  version: integer().optional(),
  ensure_experience_continuity: boolean().nullable().optional(),
  tags: list(text()).optional(),
  rollback_conditions: list(json()).nullable().optional(),
  analytics_dashboards: list(integer()).optional(),
  /** Accepted, not kept. */
  creation_context: choice([
    "feature_flags",
    "experiments",
    "surveys",
    "early_access_features",
    "web_experiments",
  ]).optional(),
  is_remote_configuration: boolean().nullable().optional(),
  has_encrypted_payloads: boolean().nullable().optional(),
  evaluation_runtime: choice(["server", "client", "all"]).nullable().optional(),
  bucketing_identifier: choice(["distinct_id", "device_id"]).nullable().optional(),
  /** The flag as the caller read it: a field that another user has changed since is a conflict. */
  original_flag: json().optional(),
};

export const FlagBody = z.object(fields);
export type FlagBody = z.infer<typeof FlagBody>;

export const FlagPatch = z.object({ ...fields, key: fields.key.optional() });
export type FlagPatch = z.infer<typeof FlagPatch>;

/** Upstream PostHog/posthog posthog/api/feature_flag.py, FeatureFlagSerializer. */
export const FeatureFlagShape = z
  .object({
    id: z.int(),
    name: z.string(),
    key: z.string(),
    filters: z.record(z.string(), z.json()),
    deleted: z.boolean(),
    active: z.boolean(),
    archived: z.boolean(),
    created_by: UserShape.nullable(),
    created_at: z.string(),
    updated_at: z.string().nullable(),
    version: z.int(),
    last_modified_by: UserShape.nullable(),
    is_simple_flag: z.boolean(),
    rollout_percentage: z.number().nullable(),
    ensure_experience_continuity: z.boolean(),
    experiment_set: z.array(z.int()),
    surveys: z.array(z.json()),
    features: z.array(z.json()),
    rollback_conditions: z.array(z.json()),
    performed_rollback: z.boolean(),
    can_edit: z.boolean(),
    tags: z.array(z.string()),
    evaluation_tags: z.array(z.string()),
    usage_dashboard: z.int().nullable(),
    analytics_dashboards: z.array(z.int()),
    has_enriched_analytics: z.boolean(),
    user_access_level: z.string(),
    is_remote_configuration: z.boolean(),
    has_encrypted_payloads: z.boolean(),
    status: z.string(),
    evaluation_runtime: z.string().nullable(),
    bucketing_identifier: z.string().nullable(),
    last_called_at: z.string().nullable(),
  })
  .meta({ title: "FeatureFlag" });

/** The filters with the names of the cohorts that they ask for. */
function showFilters({ worlds }: ResourceDesk, { project, filters }: FeatureFlag): JsonObject {
  const named = (property: NonNullable<NonNullable<typeof filters.groups>[number]["properties"]>[number]) =>
    property.type === "cohort"
      ? { ...property, cohort_name: cohortOf(worlds, project, referenceIn(property.value))?.name ?? null }
      : property;
  const groups = (filters.groups ?? []).map((set) =>
    set.properties ? { ...set, properties: set.properties.map(named) } : set,
  );
  // Documents are JSON: zod's loose objects only forget it.
  return { ...filters, groups } as JsonObject;
}

/** A flag that only has a percentage: SDKs can decide it alone. */
const isSimple = ({ filters }: FeatureFlag): boolean =>
  filters.groups?.length === 1 &&
  (filters.groups[0]?.properties ?? []).length === 0 &&
  (filters.aggregation_group_type_index ?? null) === null;

/** The project's resources of a kind that use the flag. */
const usersOf = ({ worlds }: ResourceDesk, { id, project }: FeatureFlag, kind: string, field: string) =>
  liveResources(worlds.current, kind, project).filter((it) => it.fields[field] === id);

const staleAfter = 30 * 24 * 60 * 60 * 1000;

/** Why a flag gives the same to everyone, by its configuration alone. */
function fullRollout({ filters }: FeatureFlag): string | undefined {
  const sets = filters.groups ?? [];
  const open = sets.filter((it) => it.rollout_percentage === 100 && (it.properties ?? []).length === 0);
  const variants = filters.multivariate?.variants ?? [];
  if (variants.length === 0) {
    const isForAll = sets.length === 0 || open.length > 0;
    return isForAll ? 'This boolean flag will always evaluate to "true"' : undefined;
  }
  const only = open.find((it) => it.variant)?.variant ?? variants.find((it) => it.rollout_percentage === 100)?.key;
  return open.length > 0 && only ? `This flag will always use the variant "${only}"` : undefined;
}

/**
 * Whether a flag can go; calls are not counted here, so that only age and configuration make one stale. Upstream
 * products/feature_flags/backend/flag_status.py.
 */
export function statusOf(flag: FeatureFlag, now: number) {
  const sets = flag.filters.groups ?? [];
  const full = fullRollout(flag);
  const rollout = {
    effectively_full_rollout: full !== undefined,
    has_targeting_conditions: sets.some((it) => (it.properties ?? []).length > 0),
    max_rollout_percentage: sets.length === 0 ? null : Math.max(...sets.map((it) => it.rollout_percentage ?? 100)),
    is_multivariate: (flag.filters.multivariate?.variants ?? []).length > 0,
  };
  const is = (status: string, reason: string) => ({
    status,
    reason,
    reason_states_rollout: status === "stale",
    rollout,
  });
  if (flag.deleted) return is("deleted", "Flag has been deleted");
  if (flag.archived) return is("archived", "Flag has been archived");
  if (!flag.active) return is("active", "Flag is disabled (not evaluated for staleness)");
  const isOld = Date.parse(flag.created_at) < now - staleAfter;
  return isOld && full !== undefined ? is("stale", full) : is("active", "Flag has no usage data yet");
}

export function showFlag(desk: ResourceDesk, flag: FeatureFlag): z.infer<typeof FeatureFlagShape> {
  const simple = isSimple(flag);
  const { current } = desk.worlds;
  return shownAs(FeatureFlagShape, {
    ...flag,
    archived: flag.archived === true,
    filters: showFilters(desk, flag),
    created_by: showUserOf(desk, flag.created_by),
    last_modified_by: showUserOf(desk, flag.last_modified_by),
    is_simple_flag: simple,
    rollout_percentage: (simple ? flag.filters.groups?.[0]?.rollout_percentage : null) ?? null,
    experiment_set: usersOf(desk, flag, "experiments", "feature_flag_id").map(({ key }) => Number(key)),
    surveys: usersOf(desk, flag, "surveys", "linked_flag_id").map((it) => showSurvey(current, it)),
    features: usersOf(desk, flag, "early_access_features", "feature_flag_id").map((it) => showFeature(current, it)),
    rollback_conditions: flag.rollback_conditions ?? [],
    performed_rollback: false,
    can_edit: true,
    evaluation_tags: flag.evaluation_contexts ?? [],
    usage_dashboard: null,
    analytics_dashboards: flag.analytics_dashboards ?? [],
    has_enriched_analytics: false,
    user_access_level: "editor",
    status: statusOf(flag, desk.clock.now()).status.toUpperCase(),
    last_called_at: null,
  });
}
