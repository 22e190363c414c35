import { z } from "zod";

/** A text tile of a dashboard. */
const Text = z.object({
  id: z.int(),
  body: z.string(),
  created_by: z.int().nullable(),
  last_modified_by: z.int().nullable(),
  last_modified_at: z.string(),
});

/** A place on a dashboard: exactly one of `insight` and `text` is set. */
export const Tile = z.object({
  id: z.int(),
  /** Id of the insight. */
  insight: z.int().nullable(),
  text: Text.nullable(),
  layouts: z.record(z.string(), z.json()),
  color: z.string().nullable(),
  deleted: z.boolean(),
  filters_overrides: z.json(),
  show_description: z.boolean().nullable(),
  transparent_background: z.boolean().nullable(),
});

export const Dashboard = z.object({
  id: z.int(),
  project: z.int(),
  name: z.string().nullable(),
  description: z.string(),
  pinned: z.boolean(),
  created_at: z.string(),
  created_by: z.int().nullable(),
  deleted: z.boolean(),
  creation_mode: z.enum(["default", "template", "duplicate", "unlisted"]),
  /** Lower case, sorted, without repetition. */
  tags: z.array(z.string()),
  /** 21 everyone in the project can edit, 37 only collaborators */
  restriction_level: z.union([z.literal(21), z.literal(37)]),
  filters: z.record(z.string(), z.json()),
  variables: z.record(z.string(), z.json()).nullable(),
  breakdown_colors: z.array(z.json()),
  data_color_theme_id: z.int().nullable(),
  last_accessed_at: z.string().nullable(),
  last_refresh: z.string().nullable(),
  tiles: z.array(Tile),
});

export const DashboardTemplate = z.object({
  id: z.string(),
  /** null: offered to every project */
  project: z.int().nullable(),
  template_name: z.string(),
  dashboard_description: z.string(),
  dashboard_filters: z.record(z.string(), z.json()),
  tags: z.array(z.string()),
  variables: z.array(z.json()).nullable(),
  tiles: z.array(z.looseObject({ type: z.string() })),
  image_url: z.string().nullable(),
  created_at: z.string(),
});

export const DashboardCollaborator = z.object({
  id: z.string(),
  dashboard: z.int(),
  user: z.int(),
  level: z.literal(37),
  added_at: z.string(),
  updated_at: z.string(),
});

export const SharingConfiguration = z.object({
  id: z.string(),
  dashboard: z.int(),
  created_at: z.string(),
  enabled: z.boolean(),
  access_token: z.string(),
  settings: z.record(z.string(), z.json()).nullable(),
  password_required: z.boolean(),
  /** Replaced tokens that still open the page for a while. */
  former_tokens: z.array(z.object({ access_token: z.string(), expires_at: z.string() })),
});

export const Insight = z.object({
  id: z.int(),
  /** 8 letters and digits, as in the app's links */
  short_id: z.string(),
  project: z.int(),
  name: z.string().nullable(),
  derived_name: z.string().nullable(),
  description: z.string().nullable(),
  query: z.json(),
  filters: z.record(z.string(), z.json()),
  tags: z.array(z.string()),
  favorited: z.boolean(),
  saved: z.boolean(),
  deleted: z.boolean(),
  created_at: z.string(),
  created_by: z.int().nullable(),
  last_modified_at: z.string(),
  last_modified_by: z.int().nullable(),
});
