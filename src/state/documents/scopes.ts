/** Objects of the scopes that endpoints of the sim require. A test compares them with the endpoints. */
const required = [
  ...["access_control", "batch_export", "cohort", "dashboard", "dashboard_template", "event_definition"],
  ...["experiment", "feature_flag", "insight", "organization", "organization_member", "person", "project"],
  ...["property_definition", "query", "sharing_configuration", "survey", "user"],
  ...["messaging_preference", "transactional_email"],
];

/** Further ones of the service. Upstream: PostHog/posthog, posthog/scopes.py. */
const onlyInService = [
  ...["action", "activity_log", "alert", "annotation", "comment", "dataset", "early_access_feature", "element"],
  ...["endpoint", "error_tracking", "evaluation", "export", "external_data_schema", "external_data_source"],
  ...["file_system", "group", "heatmap", "hog_flow", "hog_function", "insight_variable", "integration"],
  ...["llm_analytics", "llm_prompt", "logs", "notebook", "organization_integration", "plugin"],
  ...["product_tour", "revenue_analytics", "session_recording", "session_recording_playlist", "subscription"],
  ...["task", "uploaded_media", "usage_metric", "warehouse_table", "warehouse_view", "web_analytics", "webhook"],
];

export const knownScopes: readonly string[] = [
  ...[...required, ...onlyInService].flatMap((it) => [`${it}:read`, `${it}:write`]),
  "*",
];
