import { z } from "zod";
import { Dashboard } from "../../world/schemas/dashboard.ts";
import { AnyJson, Email, Id, JsonRecord, Tags, Time, Uuid } from "./values.ts";

const place = {
  id: Id.optional().describe("The tile's number; by default the next free one."),
  layouts: JsonRecord.optional().describe("Where it stands, by screen size: `sm` and `xs`."),
  color: z.string().nullable().optional().describe("By default null."),
  filters_overrides: AnyJson.optional().describe("Filters for this tile only."),
  show_description: z.boolean().nullable().optional().describe("By default null."),
  transparent_background: z.boolean().nullable().optional().describe("By default null."),
};

const TextTile = z.strictObject({ ...place, text: z.string().max(4000).describe("Markdown.") });
const InsightTile = z.strictObject({
  ...place,
  insight: z.string().describe("Name of an insight of the same project."),
});

const AuthoredTile = z.union([TextTile, InsightTile], "a tile: an object with either `text` or `insight`");
export type AuthoredTile = z.infer<typeof AuthoredTile>;

const Sharing = z.strictObject({
  enabled: z.boolean().describe("Is the dashboard there for everybody with the link?"),
  access_token: z
    .string()
    .regex(/^[\w-]{1,400}$/, "letters, digits, `-` and `_`")
    .optional()
    .describe("The last part of the link; by default it follows from the dashboard."),
  settings: JsonRecord.nullable().optional().describe("How the shared page looks."),
  password_required: z.boolean().optional().describe("By default false."),
});

export const AuthoredDashboard = z.strictObject({
  name: z.string().max(400).nullable().optional().describe("The dashboard's name; by default null."),
  id: Id.optional().describe("The dashboard's number; by default the next free one."),
  description: z.string().optional().describe("By default empty."),
  pinned: z.boolean().optional().describe("By default false."),
  tags: Tags.optional().describe("They are trimmed, put in lower case and sorted."),
  restriction_level: z
    .literal([21, 37])
    .optional()
    .describe("21 (the default): everyone in the project may edit; 37: collaborators only."),
  created_by: Email.nullable().optional().describe("E-mail address; by default the first user's."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  creation_mode: Dashboard.shape.creation_mode.optional().describe("How it was made."),
  filters: JsonRecord.optional().describe("Filters for all its tiles."),
  variables: JsonRecord.nullable().optional().describe("Values of variables for its tiles."),
  breakdown_colors: z.array(AnyJson).optional().describe("Colours that were chosen for breakdowns."),
  data_color_theme_id: Id.nullable().optional().describe("Number of the colour theme; by default null."),
  deleted: z.boolean().optional().describe("By default false."),
  tiles: z.array(AuthoredTile).optional().describe("Texts and insights, in order."),
  collaborators: z.array(Email).optional().describe("E-mail addresses of those who may edit it anyway."),
  sharing: Sharing.optional().describe("Its public link; by default it has none."),
});
export type AuthoredDashboard = z.infer<typeof AuthoredDashboard>;

export const AuthoredInsight = z.strictObject({
  name: z.string().describe("The insight's name; tiles call it by that."),
  id: Id.optional().describe("The insight's number; by default the next free one."),
  short_id: z
    .string()
    .regex(/^\w{1,12}$/, "letters and digits, at most 12")
    .optional()
    .describe("As it stands in links; by default it follows from the number."),
  derived_name: z.string().nullable().optional().describe("The name that the service would find for it."),
  description: z.string().nullable().optional().describe("By default null."),
  query: AnyJson.optional().describe("The service's query JSON."),
  filters: JsonRecord.optional().describe("What insights had before `query`."),
  tags: Tags.optional().describe("They are trimmed, put in lower case and sorted."),
  favorited: z.boolean().optional().describe("By default false."),
  saved: z
    .boolean()
    .optional()
    .describe("True (the default): in the list of insights, not only on dashboards."),
  deleted: z.boolean().optional().describe("By default false."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  created_by: Email.nullable().optional().describe("E-mail address; by default the first user's."),
});
export type AuthoredInsight = z.infer<typeof AuthoredInsight>;

export const AuthoredTemplate = z.strictObject({
  template_name: z.string().min(1).describe("The template's name."),
  id: Uuid.optional().describe("By default it follows from the name."),
  dashboard_description: z.string().optional().describe("Description of the dashboards made from it."),
  dashboard_filters: JsonRecord.optional().describe("Filters of the dashboards made from it."),
  tags: z.array(z.string()).optional().describe("Tags of the dashboards made from it."),
  variables: z.array(AnyJson).nullable().optional().describe("What is asked before one is made."),
  tiles: z
    .array(z.looseObject({ type: z.string().describe("`TEXT` or `INSIGHT`.") }))
    .describe("The service's template tiles."),
  image_url: z.string().nullable().optional().describe("A picture of it; by default null."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredTemplate = z.infer<typeof AuthoredTemplate>;
