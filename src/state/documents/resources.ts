import type { ReadonlyWorld, StoredResource, Worlds } from "./world.ts";

/** The lists of resources that a project of a scenario may have. Surveys and web experiments are as SDKs get them. */
export const resourceLists = [
  ...(["access_controls", "actions", "alerts", "annotations", "early_access_features", "event_definitions"] as const),
  ...(["event_schemas", "experiments", "groups_metrics", "hog_function_templates", "hog_functions"] as const),
  ...(["insight_variables", "notebooks", "property_definitions", "schema_property_groups", "subscriptions"] as const),
] as const;

/** Kinds of resources with numbers; the others have UUIDs or names. */
export const numberedKinds: ReadonlySet<string> = new Set(["actions", "annotations", "experiments", "subscriptions"]);

/** Fields of resources that hold ids, by collection; in a scenario they may hold names, keys or addresses. */
export const referenceFields = {
  insight: "insights",
  dashboard_item: "insights",
  linked_insight_id: "insights",
  dashboard_export_insights: "insights",
  dashboard: "dashboards",
  dashboard_id: "dashboards",
  linked_flag_id: "flags",
  targeting_flag_id: "flags",
  feature_flag_id: "flags",
  subscribed_users: "users",
} as const;

export const flagKeyFields: Readonly<Record<string, string>> = {
  early_access_features: "flagKey",
  experiments: "feature_flag_key",
};

export const resourceId = (kind: string, owner: number | string, key: number | string): string =>
  `${kind}/${owner}/${key}`;

export const resourceOf = (
  kind: string,
  project: number,
  key: number | string,
  fields: StoredResource["fields"],
): StoredResource => ({ id: resourceId(kind, project, key), kind, project, organization: null, key, fields });

export const organizationResource = (
  kind: string,
  organization: string,
  key: string,
  fields: StoredResource["fields"],
): StoredResource => ({ id: resourceId(kind, organization, key), kind, project: null, organization, key, fields });

export const liveResources = (world: ReadonlyWorld, kind: string, project: number): StoredResource[] =>
  world.resources.filter((it) => it.kind === kind && it.project === project && it.fields.deleted !== true);

const generatedFlags = [
  "targeting_flag_id",
  "internal_targeting_flag_id",
  "internal_response_sampling_flag_id",
] as const;

/**
 * Ids of the flags that surveys created. Lists of flags and local evaluation leave them out.
 * Upstream PostHog/posthog products/surveys/backend/models.py, get_internal_flag_ids.
 */
export const surveyFlagIds = (world: ReadonlyWorld, project: number): ReadonlySet<unknown> =>
  new Set(liveResources(world, "surveys", project).flatMap(({ fields }) => generatedFlags.map((it) => fields[it])));

const experimentFlagsIn = (world: ReadonlyWorld, project: number): ReadonlySet<unknown> =>
  new Set(
    liveResources(world, "experiments", project).map(({ fields: { feature_flag_id: id, feature_flag_key: key } }) =>
      typeof id === "number" ? id : key,
    ),
  );

const experimentFlags = new WeakMap<object, { version: number; sets: Map<number, ReadonlySet<unknown>> }>();

export function experimentFlagsOf(
  worlds: Pick<Worlds, "current" | "versionOf">,
  project: number,
): ReadonlySet<unknown> {
  const version = worlds.versionOf("resources");
  const known = experimentFlags.get(worlds);
  const { sets } = known?.version === version ? known : { sets: new Map<number, ReadonlySet<unknown>>() };
  const found = sets.get(project) ?? experimentFlagsIn(worlds.current, project);
  sets.set(project, found);
  experimentFlags.set(worlds, { version, sets });
  return found;
}

export function liveResource(
  worlds: Pick<Worlds, "get">,
  kind: string,
  owner: number | string,
  key: number | string,
): StoredResource | undefined {
  const document = worlds.get("resources", resourceId(kind, owner, key));
  return document?.fields.deleted === true ? undefined : document;
}
