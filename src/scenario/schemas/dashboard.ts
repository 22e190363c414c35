import { z } from "zod";
import { Dashboard } from "../../model/schemas/dashboard.ts";
import { Email, Id, JsonRecord, Tags, Time, Uuid } from "./values.ts";

const place = {
  id: Id.optional(),
  layouts: JsonRecord.optional(),
  color: z.string().nullable().optional(),
  filters_overrides: z.json().optional(),
  show_description: z.boolean().nullable().optional(),
  transparent_background: z.boolean().nullable().optional(),
};

const AuthoredTile = z.union(
  [
    /** Markdown. */
    z.strictObject({ ...place, text: z.string().max(4000) }),
    /** Name of an insight of the same project. */
    z.strictObject({ ...place, insight: z.string() }),
  ],
  "a tile is an object with either `text` or `insight`",
);
export type AuthoredTile = z.infer<typeof AuthoredTile>;

export const AuthoredDashboard = z.strictObject({
  name: z.string().max(400).nullable().optional(),
  id: Id.optional(),
  description: z.string().optional(),
  pinned: z.boolean().optional(),
  tags: Tags.optional(),
  /** 21: everyone in the project may edit; 37: collaborators only. */
  restriction_level: z.literal([21, 37]).optional(),
  /** E-mail address; by default the first user's. */
  created_by: Email.nullable().optional(),
  created_at: Time.optional(),
  creation_mode: Dashboard.shape.creation_mode.optional(),
  filters: JsonRecord.optional(),
  variables: JsonRecord.nullable().optional(),
  breakdown_colors: z.array(z.json()).optional(),
  data_color_theme_id: Id.nullable().optional(),
  deleted: z.boolean().optional(),
  tiles: z.array(AuthoredTile).optional(),
  /** E-mail addresses. */
  collaborators: z.array(Email).optional(),
  sharing: z
    .strictObject({
      enabled: z.boolean(),
      access_token: z
        .string()
        .regex(/^[\w-]{1,400}$/, "letters, digits, `-` and `_`")
        .optional(),
      settings: JsonRecord.nullable().optional(),
      password_required: z.boolean().optional(),
    })
    .optional(),
});
export type AuthoredDashboard = z.infer<typeof AuthoredDashboard>;

export const AuthoredInsight = z.strictObject({
  name: z.string(),
  id: Id.optional(),
  short_id: z
    .string()
    .regex(/^\w{1,12}$/, "letters and digits, at most 12")
    .optional(),
  derived_name: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  query: z.json().optional(),
  filters: JsonRecord.optional(),
  tags: Tags.optional(),
  favorited: z.boolean().optional(),
  /** Default true: in the list of insights, not only on its dashboards. */
  saved: z.boolean().optional(),
  deleted: z.boolean().optional(),
  created_at: Time.optional(),
  created_by: Email.nullable().optional(),
});
export type AuthoredInsight = z.infer<typeof AuthoredInsight>;

export const AuthoredTemplate = z.strictObject({
  template_name: z.string().min(1),
  id: Uuid.optional(),
  dashboard_description: z.string().optional(),
  dashboard_filters: JsonRecord.optional(),
  tags: z.array(z.string()).optional(),
  variables: z.array(z.json()).nullable().optional(),
  tiles: z.array(z.looseObject({ type: z.string() })),
  image_url: z.string().nullable().optional(),
  created_at: Time.optional(),
});
export type AuthoredTemplate = z.infer<typeof AuthoredTemplate>;
