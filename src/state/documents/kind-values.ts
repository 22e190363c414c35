import { kindValues, now } from "./new-document.ts";
import type {
  backfillKind as backfillKindShapes,
  exportKind as exportKindShapes,
  runKind as runKindShapes,
} from "./schemas/batch-export.ts";
import type {
  dashboardKind as dashboardKindShapes,
  insightKind as insightKindShapes,
  templateKind as templateKindShapes,
  tileKind as tileKindShapes,
} from "./schemas/dashboard.ts";
import type { cohortKind as cohortKindShapes, flagKind as flagKindShapes } from "./schemas/feature-flag.ts";

// Made from the kinds of ./schemas by test/state/documents/kind-values.test.ts: UPDATE_KINDS=1 writes it.

export const backfillKind = kindValues<typeof backfillKindShapes>(
  "id:same start_at:time end_at:time status:same total_runs:same created_at:same finished_at:time",
  { start_at: null, end_at: null, total_runs: null, finished_at: null },
);

export const exportKind = kindValues<typeof exportKindShapes>(
  "id:same name:same model:same destination:same interval:same paused:same created_at:time last_paused_at:time start_at:time end_at:time hogql_query:same schema:same filters:same deleted:same scripted_runs:same",
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

export const runKind = kindValues<typeof runKindShapes>(
  "id:same status:same records_completed:same latest_error:same data_interval_start:time data_interval_end:time cursor:same created_at:same finished_at:time records_total_count:same bytes_exported:same backfill:same",
  {
    records_completed: null,
    latest_error: null,
    cursor: null,
    finished_at: null,
    records_total_count: null,
    bytes_exported: null,
  },
);

export const dashboardKind = kindValues<typeof dashboardKindShapes>(
  "id:same name:same description:same pinned:same created_at:time created_by:user deleted:same creation_mode:same filters:same variables:same breakdown_colors:same data_color_theme_id:same tags:tags restriction_level:same",
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

export const insightKind = kindValues<typeof insightKindShapes>(
  "id:same short_id:same name:same derived_name:same description:same query:same filters:same deleted:same tags:tags favorited:same saved:same created_at:time created_by:user",
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

export const templateKind = kindValues<typeof templateKindShapes>(
  "id:same template_name:same dashboard_description:same dashboard_filters:same tags:same tiles:same variables:same created_at:time image_url:same",
  { dashboard_description: "", dashboard_filters: {}, tags: [], variables: null, created_at: now, image_url: null },
);

export const tileKind = kindValues<typeof tileKindShapes>(
  "id:same layouts:same color:same filters_overrides:same show_description:same transparent_background:same",
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

export const cohortKind = kindValues<typeof cohortKindShapes>(
  "id:same name:same description:same deleted:same filters:same query:same created_by:user created_at:time is_static:same persons:same",
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

export const flagKind = kindValues<typeof flagKindShapes>(
  "id:same name:same filters:same deleted:same active:same created_at:time updated_at:time version:same ensure_experience_continuity:same tags:tags is_remote_configuration:same has_encrypted_payloads:same evaluation_runtime:same bucketing_identifier:same evaluation_contexts:same",
  { created_at: now, tags: [] },
);
