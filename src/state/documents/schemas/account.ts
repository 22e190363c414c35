import { z } from "zod";
import { Cohort, FeatureFlag, FlagOverride } from "./feature-flag.ts";
import { StoredResource } from "./resource.ts";

// Users, organizations, projects and keys. Times are wire times: `2025-03-01T09:30:00.123000Z`.

export const User = z.object({
  id: z.int(),
  uuid: z.string(),
  distinct_id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  is_email_verified: z.boolean().nullable(),
  hedgehog_config: z.record(z.string(), z.json()).nullable(),
  role_at_organization: z.string().nullable(),
  is_active: z.boolean(),
  is_staff: z.boolean(),
  date_joined: z.string(),
  /** The organization and project of `@current`. */
  current_organization: z.string().nullable(),
  current_project: z.int().nullable(),
});

export const Organization = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  logo_media_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  /** 0 none, 3 config, 6 install, 9 root */
  plugins_access_level: z.int(),
  /** Each with a `key`, e.g. `access_control`; they enable paid features. */
  available_product_features: z.array(z.looseObject({ key: z.string() })).nullable(),
  is_member_join_email_enabled: z.boolean(),
  customer_id: z.string().nullable(),
  enforce_2fa: z.boolean().nullable(),
  allow_publicly_shared_resources: z.boolean(),
});

export const Membership = z.object({
  id: z.string(),
  organization: z.string(),
  user: z.int(),
  /** 1 member, 8 admin, 15 owner */
  level: z.union([z.literal(1), z.literal(8), z.literal(15)]),
  joined_at: z.string(),
  updated_at: z.string(),
});

/** A person in a static cohort. Times are ms since the epoch. */
const Member = z.object({
  uuid: z.string(),
  distinct_ids: z.array(z.string()),
  created_at: z.number(),
  is_identified: z.boolean(),
  properties: z.record(z.string(), z.json()),
});

/** What a project was made with for one test: a reset brings all of it back. */
const Made = z.object({
  /** The last request before it was made: rejected requests without a project's key count for it from the next one on. */
  after_request: z.int().optional(),
  /** The project whose flags, cohorts, settings and resources it got; its product tours and prompts are shown as its own. */
  like: z.int().nullable(),
  name: z.string(),
  api_key: z.string(),
  secret_api_key: z.string(),
  timezone: z.string(),
  settings: z.record(z.string(), z.json()),
  remote_config: z.record(z.string(), z.json()),
  feature_flags: z.array(FeatureFlag),
  cohorts: z.array(Cohort),
  flag_overrides: z.array(FlagOverride),
  resources: z.array(StoredResource).optional(),
  group_types: z.array(z.string()),
  persons: z.array(Member),
});

export const Project = z.object({
  id: z.int(),
  uuid: z.string(),
  organization: z.string(),
  name: z.string(),
  /** Public project key, `phc_…`. */
  api_key: z.string(),
  /** Secret key for definitions and remote config, `phs_…`. */
  secret_api_key: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  timezone: z.string(),
  is_demo: z.boolean(),
  primary_dashboard: z.int().nullable(),
  /** Further settings as they were last written through the API; read over the service's defaults. */
  settings: z.record(z.string(), z.json()),
  /** Laid over the defaults of /array/{token}/config. */
  remote_config: z.record(z.string(), z.json()),
  /** True if it was made from an unknown key (--adopt-tokens). */
  adopted: z.boolean(),
  /** Set when it was made for one test (POST /__sim/projects). */
  ephemeral: Made.optional(),
});

export const PersonalApiKey = z.object({
  id: z.string(),
  key: z.string(),
  label: z.string(),
  user: z.int(),
  /** `dashboard:read`, `dashboard:write`, …; `*` is all. */
  scopes: z.array(z.string()),
  /** Project ids that the key is limited to; empty: no limit. */
  scoped_teams: z.array(z.int()),
  /** Organization ids that the key is limited to; empty: no limit. */
  scoped_organizations: z.array(z.string()),
  created_at: z.string(),
});
