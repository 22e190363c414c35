import { z } from "zod";
import {
  AnyJson,
  createdAt,
  createdBy,
  empty,
  Id,
  JsonRecord,
  number,
  off,
  project,
  tags,
  UserShape,
  Uuid,
} from "../field-kinds.ts";
import { kind, now } from "../kind.ts";
import { boolean, datetime, dictionary, integer, json, list, numberChoice, text } from "../lenient-fields.ts";

/** Read from the body as it stands, outside of the service's serializer. */
const rawObject = z.unknown().meta({ type: "object" });

const creationMode = z.enum(["default", "template", "duplicate", "unlisted"]);

const choiceOrNull = {
  stored: z.boolean().nullable(),
  blank: null,
  write: boolean().nullable(),
  author: "By default null.",
} as const;

const Text = z.object({
  id: z.int(),
  body: z.string(),
  created_by: z.int().nullable(),
  last_modified_by: z.int().nullable(),
  last_modified_at: z.string(),
});

/** A place on a dashboard: exactly one of `insight` and `text` is set. */
export const tileKind = kind({
  id: number("The tile's number; by default the next free one."),
  insight: { stored: z.int().nullable(), blank: null },
  text: { stored: Text.nullable(), blank: null },
  layouts: { stored: JsonRecord, blank: {}, write: JsonRecord, author: "Its position, by screen size: `sm` and `xs`." },
  color: {
    stored: z.string().nullable(),
    blank: null,
    write: text({ max: 400, blank: true }).nullable(),
    author: "By default null.",
  },
  deleted: { stored: z.boolean(), blank: false, write: boolean(), show: false },
  filters_overrides: { stored: AnyJson, blank: null, write: json(), author: "Filters for this tile only." },
  show_description: choiceOrNull,
  transparent_background: choiceOrNull,
});

const level = z.literal([21, 37]);

/** Dashboards of a project. Upstream PostHog/posthog posthog/api/dashboards/dashboard.py. */
export const dashboardKind = kind(
  {
    id: number("The dashboard's number; by default the next free one."),
    project,
    name: {
      stored: z.string().nullable(),
      blank: null,
      write: text({ max: 400, blank: true }).nullable(),
      author: [z.string().max(400).nullable(), "The dashboard's name; by default null."],
    },
    description: empty,
    pinned: off,
    created_at: createdAt,
    created_by: createdBy,
    last_accessed_at: { stored: z.string().nullable(), blank: null },
    is_shared: { show: z.boolean() },
    deleted: off,
    creation_mode: { stored: creationMode, blank: "default", author: "How it was created." },
    /** Of these three only the documented dialect shows anything; the service never returns them. */
    use_template: { write: text({ blank: true }), show: z.literal("").optional(), detail: true },
    use_dashboard: { write: integer().nullable(), show: z.null().optional(), detail: true },
    delete_insights: { write: boolean(), show: z.literal(false).optional(), detail: true },
    filters: { stored: JsonRecord, blank: {}, detail: true, write: rawObject, author: "Filters for all its tiles." },
    variables: {
      stored: JsonRecord.nullable(),
      blank: {},
      detail: true,
      write: rawObject,
      author: "Values of variables for its tiles.",
    },
    breakdown_colors: {
      stored: z.array(AnyJson),
      blank: [],
      detail: true,
      write: list(json()),
      author: "Chosen colours of breakdowns.",
    },
    data_color_theme_id: {
      stored: z.int().nullable(),
      blank: null,
      detail: true,
      write: integer().nullable(),
      author: [Id.nullable(), "Number of the colour theme; by default null."],
    },
    persisted_filters: { show: JsonRecord.nullable(), detail: true },
    persisted_variables: { show: JsonRecord.nullable(), detail: true },
    tags,
    restriction_level: {
      stored: level,
      blank: 21,
      write: numberChoice([21, 37]),
      author: "21 (the default): everyone in the project may edit; 37: collaborators only.",
    },
    effective_restriction_level: { show: level },
    effective_privilege_level: { show: level },
    user_access_level: { show: z.string().nullable() },
    access_control_version: { show: z.enum(["v1", "v2"]) },
    last_refresh: { stored: z.string().nullable(), blank: null, write: datetime().nullable() },
    team_id: { show: z.int() },
    tiles: { stored: z.array(tileKind.Stored), blank: [], detail: true },
  },
  {
    written:
      "name description pinned deleted use_template use_dashboard delete_insights breakdown_colors data_color_theme_id tags restriction_level last_refresh",
    authored:
      "name id description pinned tags restriction_level created_by created_at creation_mode filters variables breakdown_colors data_color_theme_id deleted",
  },
);

export const templateKind = kind(
  {
    id: { stored: z.string(), author: [Uuid, "By default it follows from the name."] },
    /** null: offered to every project */
    project: { stored: z.int().nullable(), show: false },
    template_name: { stored: z.string(), author: [z.string().min(1), "The template's name.", "required"] },
    dashboard_description: { stored: z.string(), blank: "", author: "Description of the dashboards made from it." },
    dashboard_filters: { stored: JsonRecord, blank: {}, author: "Filters of the dashboards made from it." },
    tags: { stored: z.array(z.string()), blank: [], author: "Tags of the dashboards made from it." },
    tiles: {
      stored: z.array(z.looseObject({ type: z.string() })),
      show: z.array(JsonRecord),
      author: [
        z.array(z.looseObject({ type: z.string().describe("`TEXT` or `INSIGHT`.") })),
        "The service's template tiles.",
        "required",
      ],
    },
    variables: { stored: z.array(AnyJson).nullable(), blank: null, author: "Inputs for a new dashboard." },
    deleted: { show: z.literal(false) },
    created_at: createdAt,
    created_by: { show: z.null() },
    image_url: { stored: z.string().nullable(), blank: null, author: "A picture of it; by default null." },
    team_id: { show: z.int().nullable() },
    scope: { show: z.enum(["global", "team"]) },
  },
  { authored: "template_name id dashboard_description dashboard_filters tags variables tiles image_url" },
);

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

const label = {
  stored: z.string().nullable(),
  blank: null,
  write: text({ max: 400, blank: true }).nullable(),
} as const;

/** Insights of a project. Upstream PostHog/posthog posthog/api/insight.py. */
export const insightKind = kind(
  {
    id: number("The insight's number; by default the next free one."),
    /** 8 letters and digits, as in the app's links */
    short_id: {
      stored: z.string(),
      author: [
        z.string().regex(/^\w{1,12}$/, "letters and digits, at most 12"),
        "The id in links; by default it follows from the number.",
      ],
    },
    project,
    name: { ...label, author: [z.string(), "The insight's name; tiles refer to it.", "required"] },
    derived_name: { ...label, author: "The name that the service derives for it." },
    description: { ...label, author: "By default null." },
    query: { stored: AnyJson, blank: null, write: json().nullable(), author: "The service's query JSON." },
    filters: { stored: JsonRecord, blank: {}, write: dictionary(), author: "Older form of `query`." },
    deleted: { ...off, detail: true },
    dashboards: { show: z.array(z.int()), write: list(json()) },
    dashboard_tiles: {
      show: z.array(z.object({ id: z.int(), dashboard_id: z.int(), deleted: z.boolean().nullable() })),
    },
    tags,
    favorited: off,
    saved: { ...off, author: "True (the default): in the list of insights, not only on dashboards." },
    created_at: createdAt,
    created_by: createdBy,
    updated_at: { show: z.string() },
    last_modified_at: { stored: z.string(), blank: now },
    last_modified_by: { stored: z.int().nullable(), blank: null, show: UserShape.nullable(), detail: true },
    effective_restriction_level: { show: level, detail: true },
    effective_privilege_level: { show: level, detail: true },
    user_access_level: { show: z.string().nullable() },
    order: { show: z.null(), detail: true },
    is_sample: { show: z.literal(false), detail: true },
    refreshing: { show: z.literal(false), detail: true },
  },
  {
    written: "name derived_name filters query deleted dashboards description",
    authored: "name id short_id derived_name description query filters tags favorited saved deleted",
  },
);
