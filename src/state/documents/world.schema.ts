import { z } from "zod";
import { userKind } from "./field-kinds.ts";
import { Membership, organizationKind, PersonalApiKey, Project } from "./schemas/account.ts";
import { BatchExportLog, backfillKind, exportKind, runKind } from "./schemas/batch-export.ts";
import {
  DashboardCollaborator,
  dashboardKind,
  insightKind,
  SharingConfiguration,
  templateKind,
} from "./schemas/dashboard.ts";
import { Cohort, FeatureFlag, FlagOverride } from "./schemas/feature-flag.ts";
import { PlaceRow } from "./schemas/place.ts";
import { StoredResource } from "./schemas/resource.ts";

/** Documents of a project that the public endpoints serve unchanged. */
const Owned = z.looseObject({ project: z.int() });

const Prompt = z.object({
  project: z.int(),
  name: z.string(),
  prompt: z.json(),
  version: z.int(),
  label: z.string().optional(),
});

/** Loaded only to check a document (an edited folder, a scenario) or a request: zod costs as much as the rest of the start. */
export const WorldSchema = z.object({
  version: z.literal(3),
  /** The highest assigned number, by kind of document: numbers are never reused. */
  sequences: z.record(z.string(), z.int()),
  users: z.array(userKind.Stored),
  organizations: z.array(organizationKind.Stored),
  memberships: z.array(Membership),
  projects: z.array(Project),
  personal_api_keys: z.array(PersonalApiKey),
  dashboards: z.array(dashboardKind.Stored),
  dashboard_templates: z.array(templateKind.Stored),
  dashboard_collaborators: z.array(DashboardCollaborator),
  sharing_configurations: z.array(SharingConfiguration),
  insights: z.array(insightKind.Stored),
  feature_flags: z.array(FeatureFlag),
  flag_overrides: z.array(FlagOverride),
  cohorts: z.array(Cohort),
  batch_exports: z.array(exportKind.Stored),
  batch_export_runs: z.array(runKind.Stored),
  batch_export_backfills: z.array(backfillKind.Stored),
  batch_export_logs: z.array(BatchExportLog),
  resources: z.array(StoredResource),
  product_tours: z.array(Owned),
  prompts: z.array(Prompt),
  geoip: z.array(PlaceRow),
});
