import { defaultSecretOf } from "./access.ts";
import type { FeatureFlag, Membership, Organization, PersonalApiKey, StoredProject, User } from "./world.ts";

/**
 * New documents with the service's defaults. `now` is a wire time (time.ts). Given values are spread twice: first for
 * the order of keys in world.json, last to win.
 */

type Given<T, K extends keyof T> = Pick<T, K> & Partial<T>;

export const productFeature = (key: string) => ({
  key,
  name: key,
  description: null,
  unit: null,
  limit: null,
  note: null,
  is_plan_default: true,
});

const licensedFeatures = [
  "organizations_projects",
  "access_control",
  "advanced_permissions",
  "tagging",
  "sharing_password_protected",
  "white_labelling",
  "group_analytics",
  "data_pipelines",
].map(productFeature);

export const blankUser = (given: Given<User, "id" | "uuid" | "email">, now: string): User => ({
  ...given,
  distinct_id: given.uuid,
  first_name: given.email.split("@")[0] ?? "",
  last_name: "",
  is_email_verified: true,
  hedgehog_config: null,
  role_at_organization: null,
  is_active: true,
  is_staff: false,
  date_joined: now,
  current_organization: null,
  current_project: null,
  ...given,
});

export const blankOrganization = (given: Given<Organization, "id" | "name" | "slug">, now: string): Organization => ({
  ...given,
  logo_media_id: null,
  created_at: now,
  updated_at: now,
  plugins_access_level: 3,
  available_product_features: licensedFeatures,
  is_member_join_email_enabled: true,
  customer_id: null,
  enforce_2fa: null,
  allow_publicly_shared_resources: true,
  ...given,
});

export const blankMembership = (
  given: Given<Membership, "id" | "organization" | "user" | "level">,
  now: string,
): Membership => ({ joined_at: now, updated_at: now, ...given });

export const blankProject = (
  given: Given<StoredProject, "id" | "uuid" | "organization" | "name" | "api_key">,
  now: string,
): StoredProject => ({
  ...given,
  secret_api_key: defaultSecretOf(given.api_key),
  created_at: now,
  updated_at: now,
  timezone: "UTC",
  is_demo: false,
  primary_dashboard: null,
  settings: {},
  remote_config: {},
  adopted: false,
  ...given,
});

export const blankPersonalApiKey = (
  given: Given<PersonalApiKey, "id" | "key" | "user" | "scopes">,
  now: string,
): PersonalApiKey => ({
  ...given,
  label: given.key,
  scoped_teams: [],
  scoped_organizations: [],
  created_at: now,
  ...given,
});

export const blankFeatureFlag = (given: Given<FeatureFlag, "id" | "project" | "key">, now: string): FeatureFlag => ({
  ...given,
  name: "",
  active: true,
  deleted: false,
  version: 1,
  ensure_experience_continuity: false,
  has_encrypted_payloads: false,
  is_remote_configuration: false,
  evaluation_runtime: "all",
  bucketing_identifier: null,
  filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  tags: [],
  created_at: now,
  created_by: null,
  updated_at: null,
  last_modified_by: null,
  ...given,
});
