import { z } from "zod";
import { AuthoredBatchExport } from "./batch-export.ts";
import { AuthoredDashboard, AuthoredInsight, AuthoredTemplate } from "./dashboard.ts";
import { AuthoredCohort, AuthoredFlag } from "./feature-flag.ts";
import { AuthoredGroup, AuthoredPerson, GroupTypes } from "./person.ts";
import { AnyJson, Id, JsonRecord, Time, Uuid } from "./values.ts";

const Prompt = z.strictObject({
  name: z.string().describe("The prompt's name."),
  prompt: AnyJson.describe("A text, or messages."),
  version: z.int().optional().describe("By default 1."),
  label: z.string().optional().describe("Such as `production`."),
});

/** What browsers fetch: served as it stands. */
const Documents = z.array(JsonRecord).optional();

export const AuthoredProject = z.strictObject({
  id: Id.optional().describe("The project's number; by default the next free one."),
  uuid: Uuid.optional().describe("By default it follows from the project key."),
  name: z.string().describe("The project's name; keys call it by its name or id."),
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
  dashboard_templates: z.array(AuthoredTemplate).optional().describe("What dashboards are made from."),
  insights: z.array(AuthoredInsight).optional().describe("Its insights."),
  flags: z
    .record(z.string(), AuthoredFlag)
    .optional()
    .describe("Feature flags by key: true, false, a short form, or the service's own JSON."),
  cohorts: z.array(AuthoredCohort).optional().describe("Who belongs together, for flags."),
  persons: z.array(AuthoredPerson).optional().describe("Who is known before the first event."),
  group_types: GroupTypes.optional().describe(
    "Names of the kinds of groups in the order of their indexes; other kinds of `groups` follow.",
  ),
  groups: z.array(AuthoredGroup).optional().describe("Which groups are known before the first event."),
  batch_exports: z.array(AuthoredBatchExport).optional().describe("Its exports with their past runs."),
  remote_config: JsonRecord.optional().describe("Laid over what /array/{key}/config answers."),
  surveys: Documents.describe("Surveys as SDKs get them."),
  early_access_features: Documents.describe("Early access features as SDKs get them."),
  product_tours: Documents.describe("Product tours as SDKs get them."),
  web_experiments: Documents.describe("Web experiments as SDKs get them."),
  prompts: z.array(Prompt).optional().describe("Prompts for language models."),
});
export type AuthoredProject = z.infer<typeof AuthoredProject>;
