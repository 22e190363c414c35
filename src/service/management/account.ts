import { z } from "zod";
import { isUuid } from "../../kernel/base/text.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { UserShape } from "../../state/documents/field-kinds.ts";
import { choice, dictionary, text } from "../../state/documents/lenient-fields.ts";
import type { Organization, StoredProject, User } from "../../state/documents/world.ts";
import { type Caller, denied, found, numberIn } from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { invalid, shownAs } from "../api-frame/fields.ts";
import { inAccount, managementRow } from "../api-frame/row.ts";
import { type Memberships, showUser } from "../api-frame/users.ts";
import { OrganizationBasics, OrganizationShape, type OrganizationViews } from "./organizations.ts";
import { ProjectBasics, type ProjectViews } from "./project-views.ts";

const roles = ["engineering", "data", "product", "founder", "leadership", "marketing", "sales", "other"] as const;

const email = text({ max: 254 }).refine((it) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(it), {
  params: { detail: "Enter a valid email address." },
});

const AccountChanges = z.object({
  first_name: text({ max: 150 }).optional(),
  last_name: text({ max: 150, blank: true }).optional(),
  email: email.optional(),
  set_current_organization: text().optional(),
  set_current_team: text().optional(),
  hedgehog_config: dictionary().nullable().optional(),
  role_at_organization: choice(roles).optional(),
});
type AccountChanges = z.infer<typeof AccountChanges>;

const AccountShape = z
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

interface ViewParts {
  memberships: Memberships;
  projectViews: ProjectViews;
  organizationViews: OrganizationViews;
}

export function openAccountView(desk: ResourceDesk, parts: ViewParts) {
  const { memberships, projectViews, organizationViews } = parts;
  const { worlds } = desk;

  const level = (organization: string, user: User) => memberships.levelOf(organization, user.id);

  const current = ({ current_organization: id }: User) => (id === null ? undefined : worlds.get("organizations", id));

  return (user: User): z.infer<typeof AccountShape> => {
    const organization = current(user);
    const project = user.current_project === null ? undefined : worlds.projectById(user.current_project);
    return shownAs(AccountShape, {
      ...user,
      ...showUser(desk, user),
      team: project ? projectViews.basics(project) : null,
      organization: organization ? organizationViews.detail(organization, level(organization.id, user)) : null,
      organizations: memberships.ofUser(user.id).flatMap((it) => {
        const one = worlds.get("organizations", it.organization);
        return one ? [organizationViews.basics(one, it.level)] : [];
      }),
    });
  };
}

const doesNotExist = (id: string, attr: string) =>
  invalid(`Object with id=${id} does not exist.`, attr, "does_not_exist");

function openAccountChange({ worlds }: ResourceDesk, memberships: Memberships) {
  const isMember = (organization: string, user: User): boolean => memberships.levelOf(organization, user.id) !== null;

  function wantedOrganization(user: User, id: string | undefined): Organization | undefined {
    if (id === undefined) return undefined;
    const organization = worlds.get("organizations", id.toLowerCase());
    if (organization && isMember(organization.id, user)) return organization;
    throw doesNotExist(id, "set_current_organization");
  }

  function wantedProject(user: User, id: string | undefined): StoredProject | undefined {
    if (id === undefined) return undefined;
    const number = numberIn(id);
    const project = number === undefined ? undefined : worlds.projectById(number);
    if (project && isMember(project.organization, user)) return project;
    throw doesNotExist(id, "set_current_team");
  }

  /** Where `@current` leads from now on. */
  function moved(user: User, organizationId: string | undefined, projectId: string | undefined): Partial<User> {
    const organization = wantedOrganization(user, organizationId);
    const project = wantedProject(user, projectId);
    if (!organization) {
      return project ? { current_organization: project.organization, current_project: project.id } : {};
    }
    if (project && project.organization !== organization.id) {
      const detail = "Team must belong to the same organization in set_current_organization.";
      throw invalid(detail, "set_current_team");
    }
    const next = project ?? memberships.projectsOf(organization.id)[0];
    return { current_organization: organization.id, current_project: next?.id ?? null };
  }

  function checkEmail(user: User, address: string | undefined): void {
    const wanted = address?.toLowerCase();
    const isTaken = worlds.current.users.some((it) => it.id !== user.id && it.email.toLowerCase() === wanted);
    if (isTaken) throw invalid("There is already an account with this email address.", "email", "unique");
  }

  /** @throws SimError invalid_input, unique, does_not_exist */
  return (user: User, body: AccountChanges): User => {
    const { set_current_organization, set_current_team, ...profile } = body;
    checkEmail(user, body.email);
    const place = moved(user, set_current_organization, set_current_team);
    return worlds.change((draft) => draft.put("users", { ...user, ...profile, ...place }));
  };
}

interface AccountParts {
  memberships: Memberships;
  view: ReturnType<typeof openAccountView>;
}

/** The caller's own account. Upstream PostHog/posthog posthog/api/user.py. */
export function accountEndpoints(desk: ResourceDesk, { memberships, view }: AccountParts): Endpoint[] {
  const change = openAccountChange(desk, memberships);

  /** Who the path means. @throws SimError permission_denied, not_found */
  function userNamed(id: string, { user }: Caller): User {
    if (id === "@me") return user;
    if (!user.is_staff) {
      throw denied("As a non-staff user you're only allowed to access the `@me` user instance.");
    }
    const uuid = isUuid(id) ? id.toLowerCase() : undefined;
    return found(desk.worlds.current.users.find((it) => it.uuid === uuid && it.is_active));
  }

  return [
    ...managementRow(desk, {
      method: "GET",
      path: "/api/users/:uuid",
      summary: "The caller's account, as `@me`",
      access: inAccount("user:read"),
      reply: AccountShape,
      handle: ({ caller, param }) => view(userNamed(param("uuid"), caller)),
    }),
    ...managementRow(desk, {
      method: ["PATCH", "PUT"],
      path: "/api/users/:uuid",
      summary: "Changes the caller's account, also what `@current` means",
      access: inAccount("user:write"),
      body: AccountChanges,
      reply: AccountShape,
      handle({ caller, param, body }) {
        const user = userNamed(param("uuid"), caller);
        return view(change(user, body()));
      },
    }),
  ];
}
