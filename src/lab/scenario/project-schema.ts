import { z } from "zod";
import { AnyJson, Email, Id, JsonRecord, Time, Uuid } from "../../state/documents/field-kinds.ts";
import { logLevels } from "../../state/documents/run-statuses.ts";
import { backfillKind, exportKind, runKind } from "../../state/documents/schemas/batch-export.ts";
import { dashboardKind, insightKind, templateKind, tileKind } from "../../state/documents/schemas/dashboard.ts";
import { cohortKind, FlagFilters, flagKind } from "../../state/documents/schemas/feature-flag.ts";
import { maxGroupTypes } from "../../state/persons/person.ts";
import { AuthoredTraffic } from "../generate/shapes.ts";
import { resourceSchemas } from "./resource-schema.ts";

const share = z.number().min(0).max(100);

const ShortFlag = z.strictObject({
  rollout: share.optional().describe("Percent of persons who get it; by default 100."),
  variants: z.record(z.string(), share).optional().describe("Percent of each variant; together 100."),
  payloads: JsonRecord.optional().describe("By variant; `true` for a flag without variants."),
  person: JsonRecord.optional().describe("Only for persons with exactly these properties."),
  /** Distinguishes the forms. */
  filters: z.never().optional(),
});
export type ShortFlag = z.infer<typeof ShortFlag>;

const Filters = FlagFilters.extend({
  version: z
    .literal([1, 2], "1 or 2 (rules of other versions are not evaluated)")
    .optional()
    .describe("The version of the rules: 1 (the default) has `groups`, 2 has `rules`."),
  groups: FlagFilters.shape.groups.describe("Condition sets: the first one that matches the person decides."),
  multivariate: FlagFilters.shape.multivariate.describe("The variants with their percentages."),
  payloads: FlagFilters.shape.payloads.describe("By variant; `true` for a flag without variants."),
  return_type: z
    .enum(["boolean", "string", "number", "object"])
    .optional()
    .describe("Version 2: the type of its values."),
  default_value: AnyJson.optional().describe("Version 2: the value where no rule gives one; null: none."),
  rules: z.array(JsonRecord).optional().describe("Version 2: the first rule that decides gives the value."),
});

/** As exported from production; unknown keys are ignored. */
export const ServiceFlag = flagKind.Authored.extend({
  filters: Filters.describe("The service's filters, as exported from production."),
}).loose();
export type ServiceFlag = z.infer<typeof ServiceFlag>;

/** `true`, `false`, the short form, or the service's own document. */
export const AuthoredFlag = z.union([z.boolean(), ServiceFlag, ShortFlag], "a flag: true, false or an object");
export type AuthoredFlag = z.infer<typeof AuthoredFlag>;

export const AuthoredCohort = cohortKind.Authored;
export type AuthoredCohort = z.infer<typeof AuthoredCohort>;

export const AuthoredPerson = z.strictObject({
  distinct_ids: z
    .array(z.string().min(1))
    .min(1)
    .describe("All ids of the person; the uuid follows from the first one."),
  uuid: Uuid.optional().describe("By default the one that an event of the first distinct id would create."),
  properties: JsonRecord.optional().describe("Properties of the person; by default none."),
  is_identified: z
    .boolean()
    .optional()
    .describe("True: the person can no longer be merged into another. By default false."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredPerson = z.infer<typeof AuthoredPerson>;

const AuthoredGroup = z.strictObject({
  type: z.string().min(1).describe("The group type, such as `company`."),
  key: z.string().min(1).describe("The key of the group within its type."),
  properties: JsonRecord.optional().describe("Properties of the group; by default none."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});

const GroupTypes = z.array(z.string().min(1)).max(maxGroupTypes);

const TextTile = tileKind.Authored.extend({ text: z.string().max(4000).describe("Markdown.") });
const InsightTile = tileKind.Authored.extend({
  insight: z.string().describe("Name of an insight of the same project."),
});

const AuthoredTile = z.union([TextTile, InsightTile], "a tile: an object with either `text` or `insight`");
export type AuthoredTile = z.infer<typeof AuthoredTile>;

const Sharing = z.strictObject({
  enabled: z.boolean().describe("True: the dashboard is public for everyone with the link."),
  access_token: z
    .string()
    .regex(/^[\w-]{1,400}$/, "letters, digits, `-` and `_`")
    .optional()
    .describe("The last part of the link; by default it follows from the dashboard."),
  settings: JsonRecord.nullable().optional().describe("The appearance of the shared page."),
  password_required: z.boolean().optional().describe("By default false."),
});

export const AuthoredDashboard = dashboardKind.Authored.extend({
  tiles: z.array(AuthoredTile).optional().describe("Texts and insights, in order."),
  collaborators: z
    .array(Email)
    .optional()
    .describe("E-mail addresses of users who may edit it in spite of `restriction_level`."),
  sharing: Sharing.optional().describe("Its public link; by default it has none."),
});
export type AuthoredDashboard = z.infer<typeof AuthoredDashboard>;

export const AuthoredInsight = insightKind.Authored;
export type AuthoredInsight = z.infer<typeof AuthoredInsight>;

export const AuthoredTemplate = templateKind.Authored;
export type AuthoredTemplate = z.infer<typeof AuthoredTemplate>;

const Log = z.strictObject({
  level: z.enum(logLevels).describe("Its level."),
  message: z.string().describe("Its text."),
  timestamp: Time.optional().describe("By default the creation of its run or its export."),
});
const Logs = z.array(Log);
export type AuthoredLogs = z.infer<typeof Logs>;

export const AuthoredRun = runKind.Authored.extend({ logs: Logs.optional().describe("The run's log.") });
export type AuthoredRun = z.infer<typeof AuthoredRun>;

export type AuthoredBackfill = z.infer<typeof backfillKind.Authored>;

export const AuthoredBatchExport = exportKind.Authored.extend({
  runs: z.array(AuthoredRun).optional().describe("Its past and current runs."),
  backfills: z.array(backfillKind.Authored).optional().describe("Requested exports of past data."),
  logs: Logs.optional().describe("The log of the export itself; runs have their own."),
});
export type AuthoredBatchExport = z.infer<typeof AuthoredBatchExport>;

const Prompt = z.strictObject({
  name: z.string().describe("The prompt's name."),
  prompt: AnyJson.describe("A text, or messages."),
  version: z.int().optional().describe("By default 1."),
  label: z.string().optional().describe("Such as `production`."),
});

/** Documents that SDKs fetch; served unchanged. */
const Documents = z.array(JsonRecord).optional();

/** Its schemas are checked by `phx-sim plan check`; definitions need names, descriptions and types only. */
const PlanContent = z.looseObject({
  events: z
    .record(
      z.string(),
      z.looseObject({
        description: z.string().optional().describe("When the event is sent."),
        properties: JsonRecord.optional().describe("The schema of each property, or its type's word."),
      }),
    )
    .describe("The events by name."),
});

/** Apart from the lists of resources, which have JSON of the service. */
const Project = z.strictObject({
  id: Id.optional().describe("The project's number; by default the next free one."),
  uuid: Uuid.optional().describe("By default it follows from the project key."),
  name: z.string().describe("The project's name; keys refer to its name or id."),
  api_key: z
    .string()
    .regex(/^(?!phx_)[\x21-\x7e]{1,64}$/, "a project key: up to 64 ASCII characters, not phx_…")
    .describe("The public key that SDKs send, `phc_…`."),
  secret_api_key: z
    .string()
    .optional()
    .describe("The secret key for flag definitions and remote config; by default `phs_` for `phc_`."),
  timezone: z.string().optional().describe("Such as `Europe/Berlin`; by default UTC."),
  is_demo: z.boolean().optional().describe("By default false."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  settings: JsonRecord.optional().describe(
    "Further settings of the project as its API shows them; `quota_limited` is a list of used-up resources.",
  ),
  primary_dashboard: z
    .union([z.string(), Id], "a dashboard's name or id")
    .optional()
    .describe("Name or id of a dashboard of this project."),
  dashboards: z.array(AuthoredDashboard).optional().describe("Its dashboards with their tiles."),
  dashboard_templates: z.array(AuthoredTemplate).optional().describe("Templates of dashboards."),
  insights: z.array(AuthoredInsight).optional().describe("Its insights."),
  flags: z
    .record(z.string(), AuthoredFlag)
    .optional()
    .describe("Feature flags by key: true, false, a short form, or the service's own JSON."),
  cohorts: z.array(AuthoredCohort).optional().describe("Cohorts, for flags."),
  persons: z.array(AuthoredPerson).optional().describe("Persons that exist before the first event."),
  group_types: GroupTypes.optional().describe(
    "Names of group types in the order of their indexes; other types in `groups` follow.",
  ),
  groups: z.array(AuthoredGroup).optional().describe("Groups that exist before the first event."),
  batch_exports: z.array(AuthoredBatchExport).optional().describe("Its exports with their past runs."),
  remote_config: JsonRecord.optional().describe("Laid over the reply of /array/{key}/config."),
  surveys: Documents.describe("Surveys as SDKs get them."),
  product_tours: Documents.describe("Product tours as SDKs get them."),
  web_experiments: Documents.describe("Web experiments as SDKs get them."),
  prompts: z.array(Prompt).optional().describe("Prompts for language models."),
  plan: z
    .union([z.string(), PlanContent], "the path of a tracking plan, or a plan: an object with `events`")
    .optional()
    .describe("A tracking plan, or the path of its file: its events and properties get definitions."),
  traffic: z
    .array(AuthoredTraffic)
    .optional()
    .describe("Generated journeys that are captured at the start and after a reset of events."),
});

export const AuthoredProject = Project.extend(resourceSchemas(JsonRecord));
export type AuthoredProject = z.infer<typeof AuthoredProject>;
