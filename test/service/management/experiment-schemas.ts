import { z } from "zod";

/** What the vendor's MCP client requires of the service's answers: written from its behaviour, not from the sim's shapes. */

const Flag = z.object({
  id: z.number(),
  key: z.string(),
  name: z.string(),
  filters: z.unknown(),
  active: z.boolean(),
  tags: z.array(z.string()).optional(),
});

const Criteria = z.object({
  filterTestAccounts: z.boolean().optional(),
  exposure_config: z.looseObject({ kind: z.enum(["ExperimentEventExposureConfig", "ActionsNode"]) }).optional(),
  multiple_variant_handling: z.enum(["exclude", "first_seen"]).optional(),
});

const Variant = z.object({ key: z.string(), name: z.string().nullish(), rollout_percentage: z.number().nullish() });

const count = z.number().nullish();

/** Optional without null, where the strictest of its versions has no null. */
export const ExperimentOfClients = z.object({
  id: z.number(),
  name: z.string(),
  type: z.enum(["web", "product"]).nullish(),
  description: z.string().nullish(),
  feature_flag_key: z.string(),
  feature_flag: Flag.optional(),
  exposure_cohort: count,
  exposure_criteria: Criteria.optional(),
  metrics: z.array(z.unknown()).optional(),
  metrics_secondary: z.array(z.unknown()).optional(),
  saved_metrics: z.array(z.unknown()).optional(),
  saved_metrics_ids: z.array(z.unknown()).nullable(),
  parameters: z
    .object({
      feature_flag_variants: z.array(Variant),
      minimum_detectable_effect: count,
      recommended_running_time: count,
      recommended_sample_size: count,
    })
    .nullish(),
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
  archived: z.boolean(),
  deleted: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  holdout_id: count,
  conclusion: z.enum(["won", "lost", "inconclusive", "stopped_early", "invalid"]).nullish(),
  conclusion_comment: z.string().nullish(),
  primary_metrics_ordered_uuids: z.array(z.string()).nullish(),
  secondary_metrics_ordered_uuids: z.array(z.string()).nullish(),
});
