/**
 * Tables of the document "Analytics Service API" that the sim is held against: §§ Endpoints, Resources and
 * their fields, Errors, and Endpoints: Flag decision. Copied word for word; contract.test.ts compares them
 * with the document where it is at hand.
 */

export interface ContractEndpoint {
  readonly method: string;
  readonly path: string;
  /** A scope, or that the document leaves it open. */
  readonly scope: string;
  /** The status, and what the body is. */
  readonly response: string;
}

const endpoint = (method: string, path: string, scope: string, response: string): ContractEndpoint => ({
  method,
  path,
  scope,
  response,
});

export const open = "see Gaps in endpoints";

const dashboards = "/api/projects/:project_id/dashboards";
const organizations = "/api/organizations";
const batchExports = "/api/organizations/:organization_id/batch_exports";

export const managementEndpoints: readonly ContractEndpoint[] = [
  endpoint("GET", dashboards, "dashboard:read", "200, paginated envelope of Dashboard (list shape)"),
  endpoint("POST", dashboards, "dashboard:write", "201, Dashboard (detail shape)"),
  endpoint("GET", `${dashboards}/:id`, "dashboard:read", "200, Dashboard (detail shape)"),
  endpoint("PATCH", `${dashboards}/:id`, "dashboard:write", "200, Dashboard (detail shape)"),
  endpoint(
    "DELETE",
    `${dashboards}/:id`,
    "dashboard:write",
    "405, no body; use PATCH with deleted true instead",
  ),
  endpoint("PATCH", `${dashboards}/:id/move_tile`, open, "200, no body"),
  endpoint("POST", `${dashboards}/create_from_template_json`, open, "200, no body"),
  endpoint(
    "GET",
    `${dashboards}/:dashboard_id/collaborators`,
    "dashboard:read",
    "200, a collaborator object in the shape above",
  ),
  endpoint(
    "POST",
    `${dashboards}/:dashboard_id/collaborators`,
    "dashboard:write",
    "201, Dashboard collaborator",
  ),
  endpoint(
    "DELETE",
    `${dashboards}/:dashboard_id/collaborators/:user__uuid`,
    "dashboard:write",
    "204, no body",
  ),
  endpoint(
    "GET",
    `${dashboards}/:dashboard_id/sharing`,
    "sharing_configuration:read",
    "200, Dashboard sharing configuration",
  ),
  endpoint("GET", organizations, "organization:read", "200, paginated envelope of Organization"),
  endpoint("POST", organizations, "organization:write", "201, Organization"),
  endpoint("GET", `${organizations}/:id`, "organization:read", "200, Organization"),
  endpoint("PATCH", `${organizations}/:id`, "organization:write", "200, Organization"),
  endpoint("DELETE", `${organizations}/:id`, "organization:write", "204, no body"),
  endpoint("GET", batchExports, "batch_export:read", "200, paginated envelope of Batch export"),
  endpoint("POST", batchExports, "batch_export:write", "201, Batch export"),
  endpoint("GET", `${batchExports}/:id`, "batch_export:read", "200, Batch export"),
  endpoint("PATCH", `${batchExports}/:id`, "batch_export:write", "200, Batch export"),
  endpoint("DELETE", `${batchExports}/:id`, "batch_export:write", "204, no body"),
  endpoint("POST", `${batchExports}/:id/backfill`, "batch_export:write", "200, no body"),
  endpoint("GET", `${batchExports}/:id/logs`, open, open),
];

/** § Endpoints, Flag decision and Event capture: told in sentences there. */
export const ingestionEndpoints = ["POST /decide", "POST /capture/", "POST /batch/"] as const;

interface ContractField {
  readonly name: string;
  /** As the document says it. */
  readonly type: string;
}

const fields = (rows: readonly (readonly [name: string, type: string])[]): readonly ContractField[] =>
  rows.map(([name, type]) => ({ name, type }));

/** One table, by its place in the document. */
export interface FieldTable {
  readonly heading: string;
  /** From 0: which of the tables below the heading. */
  readonly table: number;
  readonly fields: readonly ContractField[];
}

export const user: FieldTable = {
  heading: "User (embedded object)",
  table: 0,
  fields: fields([
    ["id", "integer"],
    ["uuid", "string (UUID)"],
    ["distinct_id", "string"],
    ["first_name", "string"],
    ["last_name", "string"],
    ["email", "string (e-mail format)"],
    ["is_email_verified", "boolean"],
    ["hedgehog_config", "object (free-form key/value map)"],
    ["role_at_organization", "string"],
  ]),
};

export const dashboard: FieldTable = {
  heading: "Dashboard",
  table: 0,
  fields: fields([
    ["id", "integer"],
    ["name", "string"],
    ["description", "string"],
    ["pinned", "boolean"],
    ["created_at", "string, date-time"],
    ["created_by", "User object"],
    ["is_shared", "boolean"],
    ["deleted", "boolean"],
    ["creation_mode", "string"],
    ["tags", "array"],
    ["restriction_level", "integer"],
    ["effective_restriction_level", "integer"],
    ["effective_privilege_level", "integer"],
    ["user_access_level", "string"],
    ["access_control_version", "string"],
  ]),
};

/** In create, retrieve and update responses, absent from list items. */
export const dashboardDetail: FieldTable = {
  heading: "Dashboard",
  table: 1,
  fields: fields([
    ["use_template", "string"],
    ["use_dashboard", "integer"],
    ["delete_insights", "boolean"],
    ["filters", "object (free-form map)"],
    ["variables", "object (free-form map)"],
    ["tiles", "array of objects (free-form maps)"],
  ]),
};

export const collaborator: FieldTable = {
  heading: "Dashboard collaborator",
  table: 0,
  fields: fields([
    ["id", "string (UUID)"],
    ["dashboard_id", "integer"],
    ["user", "User object"],
    ["level", "integer"],
    ["added_at", "string, date-time"],
    ["updated_at", "string, date-time"],
    ["user_uuid", "string (UUID)"],
  ]),
};

export const sharing: FieldTable = {
  heading: "Dashboard sharing configuration",
  table: 0,
  fields: fields([
    ["created_at", "string, date-time"],
    ["enabled", "boolean"],
    ["access_token", "string (a secret token; never reproduced here, written as <ACCESS_TOKEN>)"],
  ]),
};

export const organization: FieldTable = {
  heading: "Organization",
  table: 0,
  fields: fields([
    ["id", "string (UUID)"],
    ["name", "string"],
    ["slug", "string"],
    ["logo_media_id", "string (UUID)"],
    ["created_at", "string, date-time"],
    ["updated_at", "string, date-time"],
    ["membership_level", "integer"],
    ["plugins_access_level", "integer"],
    ["teams", "array of objects"],
    ["projects", "array of objects"],
    ["available_product_features", "array"],
    ["is_member_join_email_enabled", "boolean"],
    ["metadata", "string"],
    ["customer_id", "string"],
    ["enforce_2fa", "boolean"],
    ["member_count", "string"],
  ]),
};

export const batchExport: FieldTable = {
  heading: "Batch export",
  table: 0,
  fields: fields([
    ["id", "string (UUID)"],
    ["team_id", "integer"],
    ["name", "string"],
    ["model", "string, one of `events`, `persons`"],
    ["destination", "object with `type` (string) and `config`"],
    ["interval", "string"],
    ["paused", "boolean"],
    ["created_at", "string, date-time"],
    ["last_updated_at", "string, date-time"],
    ["last_paused_at", "string, date-time"],
    ["start_at", "string, date-time"],
    ["end_at", "string, date-time"],
    ["latest_runs", "array of Batch export run"],
    ["hogql_query", "string"],
    ["schema", "nullable"],
    ["filters", "nullable"],
  ]),
};

export const batchExportRun: FieldTable = {
  heading: "Batch export run",
  table: 0,
  fields: fields([
    ["id", "string (UUID)"],
    ["status", "string"],
    ["records_completed", "integer"],
    ["latest_error", "string"],
    ["data_interval_start", "string, date-time"],
    ["data_interval_end", "string, date-time"],
    ["cursor", "string"],
    ["created_at", "string, date-time"],
    ["finished_at", "string, date-time"],
    ["last_updated_at", "string, date-time"],
    ["records_total_count", "integer"],
    ["batch_export", "string (UUID) of the owning batch export"],
  ]),
};

/** Without its heading's request table. */
export const decideAnswer: FieldTable = {
  heading: "Flag decision (public, at `{ingest_url}`)",
  table: 1,
  fields: fields([
    ["config", "object with `enable_collect_everything` (boolean)"],
    ["toolbarParams", "object"],
    ["errorsWhileComputingFlags", "boolean"],
    ["isAuthenticated", "boolean"],
    ["supportedCompression", "array of strings"],
    ["featureFlags", "object mapping flag key to boolean or string"],
    ["featureFlagPayloads", "object mapping flag key to string"],
  ]),
};

export const fieldTables: readonly FieldTable[] = [
  user,
  dashboard,
  dashboardDetail,
  collaborator,
  sharing,
  organization,
  batchExport,
  batchExportRun,
  decideAnswer,
];

/** § Errors: case, status, body. */
export const errors: readonly (readonly [what: string, status: string, body: string])[] = [
  ["DELETE of a dashboard", "405", "none"],
  ["Capture or batch event with no name", "200", "event is dropped, not ingested"],
  ["Capture or batch event with no distinct_id", "200", "event is dropped, not ingested"],
  ["Capture or batch event with an empty distinct_id value", "200", "event is dropped, not ingested"],
  [
    "Invalid payload or invalid project API key on ingestion",
    "a failure response",
    "status and body: not shown",
  ],
];
