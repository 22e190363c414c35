import { z } from "zod";
import { AuthoredBatchExport } from "./batch-export.ts";
import { AuthoredDashboard, AuthoredInsight, AuthoredTemplate } from "./dashboard.ts";
import { AuthoredCohort, AuthoredFlag } from "./feature-flag.ts";
import { Id, JsonRecord, Time, Uuid } from "./values.ts";

export const AuthoredProject = z.strictObject({
  id: Id.optional(),
  uuid: Uuid.optional(),
  name: z.string(),
  api_key: z
    .string()
    .regex(/^(?!phx_)[\x21-\x7e]{1,64}$/, "a project key: up to 64 ASCII characters, not phx_…"),
  secret_api_key: z.string().optional(),
  timezone: z.string().optional(),
  is_demo: z.boolean().optional(),
  created_at: Time.optional(),
  settings: JsonRecord.optional(),
  /** Name or id of a dashboard of this project. */
  primary_dashboard: z.union([z.string(), Id], "a dashboard's name or id").optional(),
  dashboards: z.array(AuthoredDashboard).optional(),
  dashboard_templates: z.array(AuthoredTemplate).optional(),
  insights: z.array(AuthoredInsight).optional(),
  flags: z.record(z.string(), AuthoredFlag).optional(),
  cohorts: z.array(AuthoredCohort).optional(),
  batch_exports: z.array(AuthoredBatchExport).optional(),
  remote_config: JsonRecord.optional(),
  surveys: z.array(JsonRecord).optional(),
  early_access_features: z.array(JsonRecord).optional(),
  prompts: z
    .array(
      z.strictObject({
        name: z.string(),
        prompt: z.json(),
        version: z.int().optional(),
        label: z.string().optional(),
      }),
    )
    .optional(),
});
export type AuthoredProject = z.infer<typeof AuthoredProject>;
