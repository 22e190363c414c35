import { z } from "zod";
import { Email, Id, JsonRecord, Time, Uuid } from "./values.ts";

export const AuthoredUser = z.strictObject({
  email: Email,
  id: Id.optional(),
  uuid: Uuid.optional(),
  distinct_id: z.string().min(1).optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  role_at_organization: z.string().nullable().optional(),
  is_email_verified: z.boolean().nullable().optional(),
  hedgehog_config: JsonRecord.nullable().optional(),
  is_active: z.boolean().optional(),
  is_staff: z.boolean().optional(),
  date_joined: Time.optional(),
});
export type AuthoredUser = z.infer<typeof AuthoredUser>;

/** All of an organization but its projects. */
export const AuthoredOrganization = z.strictObject({
  name: z.string().min(1).max(64),
  id: Uuid.optional(),
  slug: z
    .string()
    .regex(/^[\w-]{1,48}$/, "letters, digits, `-` and `_`, at most 48")
    .optional(),
  /** Level by e-mail address; by default the first user is the owner. */
  members: z.record(Email, z.enum(["member", "admin", "owner"])).optional(),
  /** Keys such as `access_control`; null: none, as a fresh organization of the cloud has. */
  available_product_features: z.array(z.string()).nullable().optional(),
  logo_media_id: z.string().nullable().optional(),
  plugins_access_level: z.literal([0, 3, 6, 9]).optional(),
  is_member_join_email_enabled: z.boolean().optional(),
  customer_id: z.string().nullable().optional(),
  enforce_2fa: z.boolean().nullable().optional(),
  allow_publicly_shared_resources: z.boolean().optional(),
  created_at: Time.optional(),
});
export type AuthoredOrganization = z.infer<typeof AuthoredOrganization>;

export const AuthoredPersonalApiKey = z.strictObject({
  key: z.string().min(1),
  id: z.string().min(1).optional(),
  label: z.string().optional(),
  /** `dashboard:read`, `dashboard:write`, …; `*` is all. */
  scopes: z.array(z.string()),
  /** E-mail address; by default the first user's. */
  user: Email.optional(),
  /** Names or ids of the only projects that the key opens. */
  projects: z.array(z.union([z.string(), Id], "a project's name or id")).optional(),
  /** Names or ids of the only organizations that the key opens. */
  organizations: z.array(z.string()).optional(),
  created_at: Time.optional(),
});
export type AuthoredPersonalApiKey = z.infer<typeof AuthoredPersonalApiKey>;
