import { z } from "zod";
import type { User } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Memberships } from "../memberships.ts";
import { OrganizationBasics, OrganizationShape, type OrganizationViews } from "../organizations/show.ts";
import { ProjectBasics, type ProjectViews } from "../projects/show.ts";
import { showUser, UserShape } from "../users.ts";

/** A user as that user reads it. */
export const AccountShape = z
  .object({
    ...UserShape.shape,
    date_joined: z.string(),
    pending_email: z.null(),
    is_staff: z.boolean(),
    has_password: z.literal(true),
    is_2fa_enabled: z.literal(false),
    has_social_auth: z.literal(false),
    has_sso_enforcement: z.literal(false),
    is_impersonated: z.literal(false),
    team: ProjectBasics.nullable(),
    organization: OrganizationShape.nullable(),
    organizations: z.array(OrganizationBasics),
  })
  .meta({ title: "Account" });

interface Parts {
  memberships: Memberships;
  projectViews: ProjectViews;
  organizationViews: OrganizationViews;
}

/** How a user's own account is shown. Upstream PostHog/posthog posthog/api/user.py. */
export function openAccountView(desk: ResourceDesk, parts: Parts) {
  const { memberships, projectViews, organizationViews } = parts;
  const { worlds } = desk;

  const level = (organization: string, user: User) => memberships.levelOf(organization, user.id);

  const current = ({ current_organization: id }: User) =>
    id === null ? undefined : worlds.get("organizations", id);

  return (user: User): z.infer<typeof AccountShape> => {
    const organization = current(user);
    const project = user.current_project === null ? undefined : worlds.projectById(user.current_project);
    return {
      ...showUser(desk, user),
      date_joined: user.date_joined,
      pending_email: null,
      is_staff: user.is_staff,
      has_password: true,
      is_2fa_enabled: false,
      has_social_auth: false,
      has_sso_enforcement: false,
      is_impersonated: false,
      team: project ? projectViews.basics(project) : null,
      organization: organization
        ? organizationViews.detail(organization, level(organization.id, user))
        : null,
      organizations: memberships.ofUser(user.id).flatMap((it) => {
        const one = worlds.get("organizations", it.organization);
        return one ? [organizationViews.basics(one, it.level)] : [];
      }),
    };
  };
}
