import { kindValues, now } from "./new-document.ts";
import type * as batchExport from "./schemas/batch-export.ts";
import type * as dashboard from "./schemas/dashboard.ts";
import type * as featureFlag from "./schemas/feature-flag.ts";

// Made from the kinds of ./schemas by test/state/documents/kind-values.test.ts: UPDATE_KINDS=1 writes it.

export const backfillKind = kindValues<typeof batchExport.backfillKind>(
  "id start_at:time end_at:time status total_runs created_at finished_at:time",
  { start_at: null, end_at: null, total_runs: null, finished_at: null },
);

export const exportKind = kindValues<typeof batchExport.exportKind>(
  "id name model destination interval paused created_at:time last_paused_at:time start_at:time end_at:time hogql_query schema filters deleted scripted_runs",
  {
    model: "events",
    paused: false,
    created_at: now,
    last_updated_at: now,
    last_paused_at: null,
    start_at: null,
    end_at: null,
    hogql_query: null,
    schema: null,
    filters: null,
    deleted: false,
  },
);

export const runKind = kindValues<typeof batchExport.runKind>(
  "id status records_completed latest_error data_interval_start:time data_interval_end:time cursor created_at finished_at:time records_total_count bytes_exported backfill",
  {
    records_completed: null,
    latest_error: null,
    cursor: null,
    finished_at: null,
    records_total_count: null,
    bytes_exported: null,
  },
);

export const dashboardKind = kindValues<typeof dashboard.dashboardKind>(
  "id name description pinned created_at:time created_by:user deleted creation_mode filters variables breakdown_colors data_color_theme_id tags:tags restriction_level",
  {
    name: null,
    description: "",
    pinned: false,
    created_at: now,
    created_by: null,
    last_accessed_at: null,
    deleted: false,
    creation_mode: "default",
    filters: {},
    variables: {},
    breakdown_colors: [],
    data_color_theme_id: null,
    tags: [],
    restriction_level: 21,
    last_refresh: null,
    tiles: [],
  },
);

export const insightKind = kindValues<typeof dashboard.insightKind>(
  "id short_id name derived_name description query filters deleted tags:tags favorited saved created_at:time created_by:user",
  {
    name: null,
    derived_name: null,
    description: null,
    query: null,
    filters: {},
    deleted: false,
    tags: [],
    favorited: false,
    saved: false,
    created_at: now,
    created_by: null,
    last_modified_at: now,
    last_modified_by: null,
  },
);

export const templateKind = kindValues<typeof dashboard.templateKind>(
  "id template_name dashboard_description dashboard_filters tags tiles variables created_at:time image_url",
  { dashboard_description: "", dashboard_filters: {}, tags: [], variables: null, created_at: now, image_url: null },
);

export const tileKind = kindValues<typeof dashboard.tileKind>(
  "id layouts color filters_overrides show_description transparent_background",
  {
    insight: null,
    text: null,
    layouts: {},
    color: null,
    deleted: false,
    filters_overrides: null,
    show_description: null,
    transparent_background: null,
  },
);

export const cohortKind = kindValues<typeof featureFlag.cohortKind>(
  "id name description deleted filters query created_by:user created_at:time is_static persons",
  {
    name: null,
    description: "",
    groups: [],
    deleted: false,
    filters: null,
    query: null,
    created_by: null,
    created_at: now,
    is_static: false,
  },
);

export const flagKind = kindValues<typeof featureFlag.flagKind>(
  "id name filters deleted active created_at:time updated_at:time version ensure_experience_continuity tags:tags is_remote_configuration has_encrypted_payloads evaluation_runtime bucketing_identifier evaluation_contexts",
  { created_at: now, tags: [] },
);
