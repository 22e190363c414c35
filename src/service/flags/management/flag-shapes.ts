import type { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { liveResources } from "../../../state/documents/resources.ts";
import { flagKind } from "../../../state/documents/schemas/feature-flag.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { shownAs } from "../../api-frame/fields.ts";
import { showUserOf } from "../../api-frame/users.ts";
import { showFeature, showSurvey } from "../../capture/sdk/lists.ts";
import { referenceIn } from "../engine/values.ts";
import { cohortOf } from "./cohort-rules.ts";

export const FlagPatch = flagKind.Writable;
export type FlagPatch = z.infer<typeof FlagPatch>;

export const FlagBody = FlagPatch.extend({ key: FlagPatch.shape.key.unwrap() });
export type FlagBody = z.infer<typeof FlagBody>;

export const FeatureFlagShape = flagKind.Shown.meta({ title: "FeatureFlag" });

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

const usersOf = ({ worlds }: ResourceDesk, { id, project }: FeatureFlag, kind: string, field: string) =>
  liveResources(worlds.current, kind, project).filter((it) => it.fields[field] === id);

const staleAfter = 30 * 24 * 60 * 60 * 1000;

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
