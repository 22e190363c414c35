import type { Path } from "../base/json-pointer.ts";
import {
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankUser,
  productFeature,
} from "../world/blank.ts";
import { freeSlug } from "../world/slug.ts";
import type { Membership, Organization, PersonalApiKey, User } from "../world/world.ts";
import type { Building } from "./building.ts";
import { derivedLetters } from "./derive.ts";
import type { AuthoredOrganization, AuthoredPersonalApiKey, AuthoredUser } from "./schemas/account.ts";
import { beginning, timeOr } from "./times.ts";

/** Who a scenario without users has. */
export const developer: AuthoredUser = {
  email: "dev@phx-sim.test",
  id: 1,
  first_name: "Dev",
  role_at_organization: "engineering",
};

export function addUser(building: Building, authored: AuthoredUser, at: Path): void {
  const email = authored.email.toLowerCase();
  building.claim("e-mail address", email, [...at, "email"]);
  const user: User = blankUser(
    {
      ...authored,
      id: building.number("users", authored.id, at),
      uuid: building.uuid(`user:${email}`, authored.uuid, [...at, "uuid"]),
      date_joined: timeOr(authored.date_joined, beginning),
    },
    beginning,
  );
  building.world.users.push(user);
  building.users.add(user, { id: email });
}

/** The organization with its members; its projects come after it. */
export function addOrganization(building: Building, authored: AuthoredOrganization, at: Path): Organization {
  const { members, available_product_features: features, slug, ...given } = authored;
  const organization = blankOrganization(
    {
      ...given,
      id: building.uuid(`organization:${given.name}`, given.id, [...at, "id"]),
      slug: slug ?? freeSlugIn(building, given.name),
      created_at: timeOr(given.created_at, beginning),
      ...(features !== undefined && { available_product_features: features?.map(productFeature) ?? null }),
    },
    beginning,
  );
  building.claim("slug", organization.slug, [...at, "slug"]);
  building.world.organizations.push(organization);
  building.organizations.add(organization, organization);
  addMembers(building, organization, members, [...at, "members"]);
  return organization;
}

function freeSlugIn({ world, givenSlugs }: Building, name: string): string {
  const taken = new Set([...givenSlugs, ...world.organizations.map((it) => it.slug)]);
  let tries = 0;
  return freeSlug(name, taken, () => derivedLetters(`slug:${name}#${++tries}`, 4).toLowerCase());
}

const levels = { member: 1, admin: 8, owner: 15 } as const;

function addMembers(
  building: Building,
  organization: Organization,
  members: AuthoredOrganization["members"],
  at: Path,
): void {
  const [first] = building.world.users;
  const rows = Object.entries(members ?? (first ? { [first.email]: "owner" as const } : {}));
  for (const [email, level] of rows) {
    building.claim(`member of ${JSON.stringify(organization.name)}`, email.toLowerCase(), [...at, email]);
    const user = building.users.find(email.toLowerCase(), [...at, email]);
    if (user)
      building.world.memberships.push(memberOf(building, organization, user, levels[level], [...at, email]));
  }
}

const memberOf = (
  building: Building,
  { id: organization }: Organization,
  { id: user, email }: User,
  level: Membership["level"],
  at: Path,
): Membership =>
  blankMembership(
    {
      id: building.uuid(`membership:${organization}/${email.toLowerCase()}`, undefined, at),
      organization,
      user,
      level,
    },
    beginning,
  );

/** `@current` is the first organization that a user is a member of, and its first project. */
export function settleUsers({ world }: Building): void {
  world.users = world.users.map((user) => {
    const membership = world.memberships.find((it) => it.user === user.id);
    const project = world.projects.find((it) => it.organization === membership?.organization);
    return {
      ...user,
      current_organization: membership?.organization ?? null,
      current_project: project?.id ?? null,
    };
  });
}

export function addPersonalApiKey(building: Building, authored: AuthoredPersonalApiKey, at: Path): void {
  const { user, projects = [], organizations = [], ...given } = authored;
  building.claim("personal key", given.key, [...at, "key"]);
  const id = given.id ?? building.uuid(`personal_api_key:${given.key}`, undefined, at);
  building.claim("id in personal_api_keys", id, [...at, "id"]);
  const key: PersonalApiKey = blankPersonalApiKey(
    {
      ...given,
      id,
      user: building.author(user, [...at, "user"]) ?? 0,
      scoped_teams: projects.flatMap((name, i) => {
        return building.projects.find(name, [...at, "projects", i])?.id ?? [];
      }),
      scoped_organizations: organizations.flatMap((name, i) => {
        return building.organizations.find(name, [...at, "organizations", i])?.id ?? [];
      }),
      created_at: timeOr(given.created_at, beginning),
    },
    beginning,
  );
  building.world.personal_api_keys.push(key);
}
