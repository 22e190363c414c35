import type { Path } from "../base/json.ts";
import {
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankUser,
  productFeature,
} from "../world/blank.ts";
import { freeSlug } from "../world/slug.ts";
import type { Organization } from "../world/world.ts";
import type { AuthoredOrganization, AuthoredPersonalApiKey, AuthoredUser } from "./schema.ts";
import { beginning, derivedLetters, timeOr, type WorldBuilder } from "./world-builder.ts";

/** The user of a scenario without users. */
export const developer: AuthoredUser = {
  email: "dev@phx-sim.test",
  id: 1,
  first_name: "Dev",
  role_at_organization: "engineering",
};

export function addUser(builder: WorldBuilder, authored: AuthoredUser, at: Path): void {
  const email = authored.email.toLowerCase();
  builder.claim("e-mail address", email, [...at, "email"]);
  const user = blankUser(
    {
      ...authored,
      id: builder.number("users", authored.id, at),
      uuid: builder.uuid(`user:${email}`, authored.uuid, [...at, "uuid"]),
      date_joined: timeOr(authored.date_joined, beginning),
    },
    beginning,
  );
  builder.world.users.push(user);
  builder.users.add(user, { id: email });
}

/** Adds an organization with its members; its projects are added later. */
export function addOrganization(
  builder: WorldBuilder,
  authored: AuthoredOrganization,
  at: Path,
): Organization {
  const { members, available_product_features: features, slug, ...given } = authored;
  const organization = blankOrganization(
    {
      ...given,
      id: builder.uuid(`organization:${given.name}`, given.id, [...at, "id"]),
      slug: slug ?? freeSlugIn(builder, given.name),
      created_at: timeOr(given.created_at, beginning),
      ...(features !== undefined && { available_product_features: features?.map(productFeature) ?? null }),
    },
    beginning,
  );
  builder.claim("slug", organization.slug, [...at, "slug"]);
  builder.world.organizations.push(organization);
  builder.organizations.add(organization, organization);
  addMembers(builder, organization, members, [...at, "members"]);
  return organization;
}

function freeSlugIn({ world, givenSlugs }: WorldBuilder, name: string): string {
  const taken = new Set([...givenSlugs, ...world.organizations.map((it) => it.slug)]);
  let tries = 0;
  return freeSlug(name, taken, () => derivedLetters(`slug:${name}#${++tries}`, 4).toLowerCase());
}

const levels = { member: 1, admin: 8, owner: 15 } as const;

function addMembers(
  builder: WorldBuilder,
  { id: organization, name }: Organization,
  members: AuthoredOrganization["members"],
  at: Path,
): void {
  const [first] = builder.world.users;
  for (const [given, level] of Object.entries(
    members ?? (first ? { [first.email]: "owner" as const } : {}),
  )) {
    const email = given.toLowerCase();
    const here = [...at, given];
    builder.claim(`member of ${JSON.stringify(name)}`, email, here);
    const user = builder.users.find(email, here);
    if (!user) continue;
    const id = builder.uuid(`membership:${organization}/${email}`, undefined, here);
    const membership = { id, organization, user: user.id, level: levels[level] };
    builder.world.memberships.push(blankMembership(membership, beginning));
  }
}

/** Sets each user's `@current`: the first organization with the user as a member, and its first project. */
export function setCurrentProjects({ world }: WorldBuilder): void {
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

export function addPersonalApiKey(builder: WorldBuilder, authored: AuthoredPersonalApiKey, at: Path): void {
  const { user, projects = [], organizations = [], ...given } = authored;
  builder.claim("personal key", given.key, [...at, "key"]);
  const id = given.id ?? builder.uuid(`personal_api_key:${given.key}`, undefined, at);
  builder.claim("id in personal_api_keys", id, [...at, "id"]);
  const key = blankPersonalApiKey(
    {
      ...given,
      id,
      user: builder.author(user, [...at, "user"]) ?? 0,
      scoped_teams: projects.flatMap(
        (name, i) => builder.projects.find(name, [...at, "projects", i])?.id ?? [],
      ),
      scoped_organizations: organizations.flatMap(
        (name, i) => builder.organizations.find(name, [...at, "organizations", i])?.id ?? [],
      ),
      created_at: timeOr(given.created_at, beginning),
    },
    beginning,
  );
  builder.world.personal_api_keys.push(key);
}
