import { z } from "zod";
import { createdAt, Uuid } from "../field-kinds.ts";
import { kind } from "../kind.ts";
import { boolean, text, uuid } from "../lenient-fields.ts";
import { Cohort, FeatureFlag, FlagOverride } from "./feature-flag.ts";
import { StoredResource } from "./resource.ts";

// Users, organizations, projects and keys. Times are wire times: `2025-03-01T09:30:00.123000Z`.

const level = z.literal([1, 8, 15]).nullable();

export const organizationKind = kind(
  {
    id: { stored: z.string(), author: [Uuid, "By default it follows from the name."] },
    name: {
      stored: z.string(),
      write: text({ max: 64 }),
      author: [z.string().min(1).max(64), "The organization's name; keys refer to its name or id.", "required"],
    },
    slug: {
      stored: z.string(),
      author: [
        z.string().regex(/^[\w-]{1,48}$/, "letters, digits, `-` and `_`, at most 48"),
        "By default derived from the name.",
      ],
    },
    logo_media_id: {
      stored: z.string().nullable(),
      write: uuid().nullable(),
      author: "Id of the uploaded logo; by default null.",
    },
    created_at: createdAt,
    updated_at: { stored: z.string() },
    membership_level: { show: level },
    plugins_access_level: {
      stored: z.int(),
      author: [z.literal([0, 3, 6, 9]), "0 none, 3 configure (the default), 6 install, 9 root."],
    },
    teams: { show: z.array(z.unknown()) },
    projects: { show: z.array(z.object({ id: z.int(), organization_id: z.string(), name: z.string() })) },
    /** Each with a `key`, e.g. `access_control`; they enable paid features. */
    available_product_features: {
      stored: z.array(z.looseObject({ key: z.string() })).nullable(),
      author: [
        z.array(z.string()).nullable(),
        "Bought features, such as `access_control`; null: a fresh organization. By default all.",
      ],
    },
    is_member_join_email_enabled: { stored: z.boolean(), write: boolean(), author: "By default true." },
    /** JSON text in the documented dialect. */
    metadata: { show: z.union([z.string(), z.object({ instance_tag: z.string() })]) },
    customer_id: { stored: z.string().nullable(), author: "The billing customer; by default null." },
    enforce_2fa: {
      stored: z.boolean().nullable(),
      write: boolean().nullable(),
      author: "By default null: members decide.",
    },
    /** Digits in the documented dialect. */
    member_count: { show: z.union([z.string(), z.int()]) },
    allow_publicly_shared_resources: {
      stored: z.boolean(),
      write: boolean(),
      author: "False: shared dashboards are not served. By default true.",
    },
  },
  {
    authored:
      "name id slug available_product_features logo_media_id plugins_access_level is_member_join_email_enabled customer_id enforce_2fa allow_publicly_shared_resources",
  },
);

export const Membership = z.object({
  id: z.string(),
  organization: z.string(),
  user: z.int(),
  /** 1 member, 8 admin, 15 owner */
  level: z.union([z.literal(1), z.literal(8), z.literal(15)]),
  joined_at: z.string(),
  updated_at: z.string(),
});

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
  api_key: z.string(),
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
