/**
 * Keys whose objects hold what users wrote: their inner shape is data, and the service promises nothing of it.
 */
const freeForm: ReadonlySet<string> = new Set([
  "properties",
  "filters",
  "query",
  "layouts",
  "variables",
  "persisted_filters",
  "persisted_variables",
  "breakdown_colors",
  "config",
  "schema",
  "result",
  "hedgehog_config",
  "session_recording_trigger_groups",
  "available_product_features",
  "featureFlagPayloads",
  "featureFlags",
  "group_type_mapping",
  "payloads",
]);

/** Keys whose objects are maps: their keys are data, all their values have one shape. */
const maps: ReadonlySet<string> = new Set(["flags", "cohorts"]);

export const isFreeForm = (key: string): boolean => freeForm.has(key);
export const isMap = (key: string): boolean => maps.has(key);
