import { ids } from "./two-organizations.ts";

/** Bodies that are taken in the world of two-organizations.ts, for calls whose bodies name what is there. */

const recording = {
  api_key: ids.projectKey,
  event: "$snapshot",
  distinct_id: "user-1",
  properties: { $session_id: "session-1", $snapshot_data: [{ type: 2 }] },
};

const batchExport = {
  name: "New",
  destination: { type: "S3", config: { bucket_name: "b", region: "r", prefix: "p" } },
  interval: "hour",
};

const backfill = { start_at: "2026-01-01T00:00:00Z", end_at: "2026-01-01T06:00:00Z" };

const moved = { tile: { id: ids.tile }, to_dashboard: ids.otherDashboard };

const template = {
  template_name: "Made of JSON",
  dashboard_description: "",
  dashboard_filters: {},
  tiles: [{ type: "TEXT", body: "Hello", layouts: {} }],
};

/** By method and the end of the path. */
const rows: readonly (readonly [method: string, end: string, body: object])[] = [
  ["POST", "/dashboards", { name: "New", tags: ["a"], restriction_level: 21 }],
  ["PATCH", "/dashboards/:id", { name: "Renamed", tiles: [{ id: ids.tile, color: "blue" }] }],
  ["PATCH", "/move_tile", moved],
  ["POST", "/move_tile", moved],
  ["POST", "/copy_tile", { fromDashboardId: ids.dashboard, tileId: ids.tile }],
  ["POST", "/reorder_tiles", { tile_order: [ids.tile] }],
  ["POST", "/update_text_tile", { tile_id: ids.tile, body: "Changed" }],
  ["POST", "/delete_tile", { tile_id: ids.tile }],
  ["POST", "/create_from_template_json", { template }],
  ["POST", "/collaborators", { level: 37, user_uuid: ids.member }],
  ["POST", "/organizations", { name: "Third" }],
  ["PATCH", "/organizations/:id", { name: "Renamed" }],
  ["POST", "/projects", { name: "Third" }],
  ["POST", "/environments", { name: "Third" }],
  // The contract: "The example request sends name, destination and interval."
  ["POST", "/batch_exports", batchExport],
  ["PUT", "/batch_exports/:id", batchExport],
  ["PATCH", "/batch_exports/:id", { paused: true }],
  ["POST", "/backfill", backfill],
  ["POST", "/backfills", backfill],
  ["POST", "/update_property", { key: "plan", value: "pro" }],
  ["POST", "/delete_property", { $unset: "email" }],
  ["POST", "/query", { query: { kind: "TrendsQuery", series: [{ kind: "EventsNode", event: "seen" }] } }],
  ["PUT", "access_controls", { access_level: "viewer", resource: "dashboard" }],
  ["POST", "/surveys", { name: "New", type: "popover", questions: [{ type: "open", question: "Why?" }] }],
  ["POST", "/experiments", { name: "New", feature_flag_key: "new-experiment" }],
  ["PUT", "/experiments/:id", { name: "Renamed", feature_flag_key: "variants" }],
  ["PUT", "/early_access_feature/:id", { name: "Renamed", stage: "alpha" }],
  ["POST", "/early_access_feature", { name: "New", stage: "beta" }],
  ["POST", "/s", recording],
  ["POST", "/__sim/events/wait", { match: { event: "seen" }, timeout_ms: 1 }],
  ["POST", "/__sim/events/search", { match: { event: "seen" }, limit: 2 }],
  ["POST", "/__sim/events/surroundings", { match: { event: "seen" } }],
  [
    "POST",
    "/__sim/events/verify",
    { expect: [{ match: { event: "seen" }, count: { min: 0 } }], timeout_ms: 1, settle_ms: 1 },
  ],
];

/** A good body for a call; `path` with parameters as `:name`. */
export const exampleFor = (method: string, path: string): object | undefined =>
  rows.find(([its, end]) => its === method && path.endsWith(end))?.[2];
