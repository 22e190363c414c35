import { z } from "zod";

/**
 * The schemas of everything people edit. This file is loaded only when a document has to be checked
 * (a hand-edited data folder, a scenario): zod costs as much as the rest of the start.
 */
const Organization = z.object({ id: z.string(), name: z.string() });

export const FlagFilters = z.looseObject({
  groups: z
    .array(
      z.looseObject({
        properties: z.array(z.looseObject({ key: z.string() })).optional(),
        rollout_percentage: z.number().nullish(),
        variant: z.string().nullish(),
      }),
    )
    .optional(),
  multivariate: z
    .object({
      variants: z.array(z.looseObject({ key: z.string(), rollout_percentage: z.number() })),
    })
    .nullish(),
  payloads: z.record(z.string(), z.unknown()).optional(),
});

export const FeatureFlag = z.object({
  id: z.int(),
  project: z.int(),
  key: z.string(),
  name: z.string(),
  active: z.boolean(),
  deleted: z.boolean(),
  version: z.int(),
  ensure_experience_continuity: z.boolean(),
  has_encrypted_payloads: z.boolean(),
  is_remote_configuration: z.boolean(),
  evaluation_runtime: z.enum(["all", "client", "server"]).nullable(),
  bucketing_identifier: z.string().nullable(),
  filters: FlagFilters,
});

const Project = z.object({
  id: z.int(),
  organization: z.string(),
  name: z.string(),
  /** Public project key, `phc_…`. */
  api_key: z.string(),
  /** Secret key for definitions and remote config, `phs_…`. */
  secret_api_key: z.string(),
  /** Laid over the defaults of /array/{token}/config. */
  remote_config: z.record(z.string(), z.json()),
  /** Was it made from an unknown key (--adopt-tokens)? */
  adopted: z.boolean(),
});

const PersonalApiKey = z.object({ key: z.string(), label: z.string(), scopes: z.array(z.string()) });

/** Served as they stand by the public endpoints; `project` says whose they are. */
const Owned = z.looseObject({ project: z.int() });

const Prompt = z.object({
  project: z.int(),
  name: z.string(),
  prompt: z.json(),
  version: z.int(),
  label: z.string().optional(),
});

export const WorldSchema = z.object({
  version: z.literal(1),
  organizations: z.array(Organization),
  projects: z.array(Project),
  personal_api_keys: z.array(PersonalApiKey),
  feature_flags: z.array(FeatureFlag),
  cohorts: z.array(Owned),
  surveys: z.array(Owned),
  early_access_features: z.array(Owned),
  product_tours: z.array(Owned),
  web_experiments: z.array(Owned),
  prompts: z.array(Prompt),
});
