import { z } from "zod";
import { Email, Id, JsonRecord, Time, Uuid } from "./values.ts";

export const AuthoredUser = z.strictObject({
  email: Email.describe("The user's address; everything else in the scenario calls the user by it."),
  id: Id.optional().describe("The user's number; by default the next free one."),
  uuid: Uuid.optional().describe("By default it follows from the address."),
  distinct_id: z.string().min(1).optional().describe("The user's own distinct id; by default the uuid."),
  first_name: z.string().optional().describe("By default what stands before the @ of the address."),
  last_name: z.string().optional().describe("By default empty."),
  role_at_organization: z.string().nullable().optional().describe("Such as `engineering`; by default null."),
  is_email_verified: z.boolean().nullable().optional().describe("By default true."),
  hedgehog_config: JsonRecord.nullable().optional().describe("How the user's hedgehog looks."),
  is_active: z.boolean().optional().describe("False: the user's keys are refused. By default true."),
  is_staff: z.boolean().optional().describe("By default false."),
  date_joined: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredUser = z.infer<typeof AuthoredUser>;

const levels = z.enum(["member", "admin", "owner"]);

/** All of an organization but its projects. */
export const AuthoredOrganization = z.strictObject({
  name: z.string().min(1).max(64).describe("The organization's name; keys call it by its name or id."),
  id: Uuid.optional().describe("By default it follows from the name."),
  slug: z
    .string()
    .regex(/^[\w-]{1,48}$/, "letters, digits, `-` and `_`, at most 48")
    .optional()
    .describe("By default made of the name."),
  members: z
    .record(Email, levels)
    .optional()
    .describe("Each member's level by e-mail address; by default the first user is the owner."),
  available_product_features: z
    .array(z.string())
    .nullable()
    .optional()
    .describe("What was bought, such as `access_control`; null is a fresh organization, by default all is."),
  logo_media_id: z.string().nullable().optional().describe("Id of the uploaded logo; by default null."),
  plugins_access_level: z
    .literal([0, 3, 6, 9])
    .optional()
    .describe("0 none, 3 configure (the default), 6 install, 9 root."),
  is_member_join_email_enabled: z.boolean().optional().describe("By default true."),
  customer_id: z.string().nullable().optional().describe("The billing customer; by default null."),
  enforce_2fa: z.boolean().nullable().optional().describe("By default null: left to the members."),
  allow_publicly_shared_resources: z
    .boolean()
    .optional()
    .describe("False: shared dashboards are not served. By default true."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredOrganization = z.infer<typeof AuthoredOrganization>;

export const AuthoredPersonalApiKey = z.strictObject({
  key: z.string().min(1).describe("The key as callers send it, `phx_…`."),
  id: z.string().min(1).optional().describe("By default it follows from the key."),
  label: z.string().optional().describe("What its owner calls it; by default the key itself."),
  scopes: z
    .array(z.string())
    .describe("What it may do: `dashboard:read`, `feature_flag:write`, …; write implies read, `*` is all."),
  user: Email.optional().describe("E-mail address of its owner; by default the first user's."),
  projects: z
    .array(z.union([z.string(), Id], "a project's name or id"))
    .optional()
    .describe("Names or ids of the only projects that the key opens; by default there is no limit."),
  organizations: z
    .array(z.string())
    .optional()
    .describe("Names or ids of the only organizations that the key opens; by default there is no limit."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredPersonalApiKey = z.infer<typeof AuthoredPersonalApiKey>;
