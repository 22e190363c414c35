import { z } from "zod";
import type { Organization } from "../../model/world.ts";
import type { Level } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Memberships } from "../memberships.ts";
import { ProjectBasics, type ProjectViews } from "../projects/show.ts";

const InstanceMetadata = z.object({ instance_tag: z.string() });
const level = z.literal([1, 8, 15]).nullable();

/** An organization as its members read it. */
export const OrganizationShape = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    logo_media_id: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    membership_level: level,
    plugins_access_level: z.int(),
    teams: z.array(ProjectBasics),
    projects: z.array(z.object({ id: z.int(), organization_id: z.string(), name: z.string() })),
    available_product_features: z.array(z.looseObject({ key: z.string() })).nullable(),
    is_member_join_email_enabled: z.boolean(),
    /** JSON text in the documented dialect. */
    metadata: z.union([z.string(), InstanceMetadata]),
    customer_id: z.string().nullable(),
    enforce_2fa: z.boolean().nullable(),
    /** Digits in the documented dialect. */
    member_count: z.union([z.string(), z.int()]),
    allow_publicly_shared_resources: z.boolean(),
  })
  .meta({ title: "Organization" });
type ShownOrganization = z.infer<typeof OrganizationShape>;

/** An organization as other documents show it. */
export const OrganizationBasics = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    logo_media_id: z.string().nullable(),
    membership_level: level,
  })
  .meta({ title: "OrganizationBasics" });

const instance = { instance_tag: "none" };

interface Parts {
  memberships: Memberships;
  projectViews: ProjectViews;
}

/** How organizations are shown. Upstream PostHog/posthog posthog/api/organization.py. */
export function openOrganizationViews(desk: ResourceDesk, { memberships, projectViews }: Parts) {
  /** The types that the contract gives to two fields are not the service's. */
  const typed = (members: number) =>
    desk.dialect === "documented"
      ? { metadata: JSON.stringify(instance), member_count: String(members) }
      : { metadata: instance, member_count: members };

  const basics = (it: Organization, membership_level: Level | null): z.infer<typeof OrganizationBasics> => ({
    id: it.id,
    name: it.name,
    slug: it.slug,
    logo_media_id: it.logo_media_id,
    membership_level,
  });

  function detail(it: Organization, membership_level: Level | null): ShownOrganization {
    const projects = memberships.projectsOf(it.id);
    const { metadata, member_count } = typed(memberships.ofOrganization(it.id).length);
    return {
      id: it.id,
      name: it.name,
      slug: it.slug,
      logo_media_id: it.logo_media_id,
      created_at: it.created_at,
      updated_at: it.updated_at,
      membership_level,
      plugins_access_level: it.plugins_access_level,
      teams: projects.map(projectViews.basics),
      projects: projects.map(({ id, name }) => ({ id, organization_id: it.id, name })),
      available_product_features: it.available_product_features,
      is_member_join_email_enabled: it.is_member_join_email_enabled,
      metadata,
      customer_id: it.customer_id,
      enforce_2fa: it.enforce_2fa,
      member_count,
      allow_publicly_shared_resources: it.allow_publicly_shared_resources,
    };
  }
  return { basics, detail };
}

export type OrganizationViews = ReturnType<typeof openOrganizationViews>;
