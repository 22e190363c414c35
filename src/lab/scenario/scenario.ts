import { type Path, pointerTo } from "../../kernel/base/json.ts";
import {
  blankMembership,
  blankOrganization,
  blankPersonalApiKey,
  blankUser,
  productFeature,
} from "../../state/documents/blank.ts";
import { organizationResource } from "../../state/documents/resources.ts";
import { freeSlug } from "../../state/documents/slug.ts";
import type { Organization, World } from "../../state/documents/world.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { AppliedScenario } from "./applied.ts";
import { addProject } from "./build-project.ts";
import { type RawProblem, ScenarioError } from "./problems.ts";
import type { AuthoredOrganization, AuthoredPersonalApiKey, AuthoredUser, Scenario } from "./schema.ts";
import { beginning, derivedLetters, each, type ScenarioPersons, timeOr, WorldBuilder } from "./world-builder.ts";

export type { Scenario } from "./schema.ts";
export type { ScenarioPersons } from "./world-builder.ts";

export interface Built {
  readonly world: World;
  readonly people: ScenarioPersons;
  readonly problems: readonly RawProblem[];
}

/** The world that a scenario describes; the same scenario makes the same world. @throws ScenarioError as `builtOf` */
export const worldOf = (scenario: Scenario): World => builtOf(scenario).world;

/** The persons and groups of a scenario, for `storePersons`. @throws ScenarioError as `builtOf` */
export const scenarioPersonsOf = (scenario: Scenario): ScenarioPersons => builtOf(scenario).people;

/** World and people of a scenario. @throws ScenarioError with all unknown references and repeated ids and keys */
export function builtOf(scenario: Scenario): Built {
  const built = buildWorld(scenario);
  if (built.problems.length === 0) return built;
  const inMemory = { file: null, line: null, column: null };
  throw new ScenarioError(
    built.problems.map(({ at, text: message, hint = null }) => ({
      ...inMemory,
      pointer: pointerTo(at),
      message,
      hint,
    })),
  );
}

/** Builds the world, and continues after problems, to find the rest. */
export function buildWorld(scenario: Scenario): Built {
  const builder = new WorldBuilder(scenario);
  each(scenario.users ?? [developer], ["users"], (it, at) => addUser(builder, it, at));
  each(scenario.organizations, ["organizations"], ({ projects, ...authored }, at) => {
    const organization = addOrganization(builder, authored, at);
    each(projects, [...at, "projects"], (it, here) => addProject(builder, organization, it, here));
  });
  setCurrentProjects(builder);
  each(scenario.personal_api_keys, ["personal_api_keys"], (it, at) => addPersonalApiKey(builder, it, at));
  const { world, people, problems } = builder;
  world.geoip.push(...(scenario.geoip ?? []));
  return { world: { ...world, sequences: builder.sequences() }, people, problems };
}

/** The scenario's world and people with the ids that its documents have. @throws ScenarioError as `builtOf` */
export function builtAsApplied({ current, applied }: { current: Scenario; applied: AppliedScenario }): Built {
  const built = builtOf(current);
  const world = applied.read()?.world ?? built.world;
  const numberOf = projectNumbers(built, world);
  const { persons, groupTypes, groups } = built.people;
  const people = {
    persons: persons.map((it) => ({ ...it, person: { ...it.person, project: numberOf(it.person.project) } })),
    groupTypes: groupTypes.map((it) => ({ ...it, project: numberOf(it.project) })),
    groups: groups.map((it) => ({ ...it, project: numberOf(it.project) })),
  };
  return { ...built, world, people };
}

/** The number that a project of the built world has in the documents: both list them in the same order. */
export function projectNumbers({ world }: Built, base: World): (project: number) => number {
  const numbers = new Map(world.projects.map(({ id }, i) => [id, base.projects[i]?.id]));
  return (project) => numbers.get(project) ?? project;
}

/** Stores the persons and groups of a scenario, or of one of its projects, in a store without these projects. */
export function storePersons(store: PersonData, scenario: ScenarioPersons, project?: number): void {
  const isMeant = (it: { project: number }) => project === undefined || it.project === project;
  for (const { person, distinctIds } of scenario.persons) {
    if (isMeant(person)) store.create(person, distinctIds);
  }
  for (const type of scenario.groupTypes.filter(isMeant)) store.addGroupType(type.project, type.name);
  for (const group of scenario.groups.filter(isMeant)) store.saveGroup(group);
}

/** The user of a scenario without users. */
const developer: AuthoredUser = {
  email: "dev@phx-sim.test",
  id: 1,
  first_name: "Dev",
  role_at_organization: "engineering",
};

function addUser(builder: WorldBuilder, authored: AuthoredUser, at: Path): void {
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

function addOrganization(builder: WorldBuilder, authored: AuthoredOrganization, at: Path): Organization {
  const { members, roles, invites, available_product_features: features, slug, ...given } = authored;
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
  each(roles, [...at, "roles"], (it, here) => addRole(builder, organization, it, here));
  each(invites, [...at, "invites"], (it, here) => addInvite(builder, organization, it, here));
  return organization;
}

function freeSlugIn({ world, givenSlugs }: WorldBuilder, name: string): string {
  const taken = new Set([...givenSlugs, ...world.organizations.map((it) => it.slug)]);
  let tries = 0;
  return freeSlug(name, taken, () => derivedLetters(`slug:${name}#${++tries}`, 4).toLowerCase());
}

type Authored<List extends "roles" | "invites"> = NonNullable<AuthoredOrganization[List]>[number];

const levels = { member: 1, admin: 8, owner: 15 } as const;

function addMembers(
  builder: WorldBuilder,
  { id: organization, name }: Organization,
  members: AuthoredOrganization["members"],
  at: Path,
): void {
  const [first] = builder.world.users;
  for (const [given, level] of Object.entries(members ?? (first ? { [first.email]: "owner" as const } : {}))) {
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

const isMember = ({ world }: WorldBuilder, organization: string, user: number): boolean =>
  world.memberships.some((it) => it.organization === organization && it.user === user);

function addRole(builder: WorldBuilder, organization: Organization, authored: Authored<"roles">, at: Path): void {
  const { world } = builder;
  const { name } = authored;
  builder.claim(`role of ${JSON.stringify(organization.name)}`, name.toLowerCase(), [...at, "name"]);
  const id = builder.uuid(`role:${organization.id}/${name}`, authored.id, [...at, "id"]);
  const created_at = timeOr(authored.created_at, beginning);
  world.resources.push(organizationResource("roles", organization.id, id, { name, created_at }));
  each(authored.members, [...at, "members"], (given, here) => {
    const email = given.toLowerCase();
    builder.claim(`member of the role ${JSON.stringify(name)}`, email, here);
    const user = builder.users.find(email, here);
    if (!user) return;
    if (!isMember(builder, organization.id, user.id)) {
      const text = `${given} is not a member of ${JSON.stringify(organization.name)}`;
      builder.problems.push({ at: here, text, hint: "add it to the organization's `members`" });
    }
    const key = builder.uuid(`role_membership:${id}/${email}`, undefined, here);
    const fields = { role_id: id, user_uuid: user.uuid, joined_at: created_at, updated_at: created_at };
    world.resources.push(organizationResource("role_memberships", organization.id, key, fields));
  });
}

function addInvite(builder: WorldBuilder, organization: Organization, authored: Authored<"invites">, at: Path): void {
  const { id, level = "member", first_name = "", message = null, created_by, created_at } = authored;
  const target_email = authored.target_email.toLowerCase();
  const here = [...at, "target_email"];
  builder.claim(`invite to ${JSON.stringify(organization.name)}`, target_email, here);
  const user = builder.world.users.find((it) => it.email.toLowerCase() === target_email);
  if (user && isMember(builder, organization.id, user.id)) {
    const text = `${target_email} is a member of ${JSON.stringify(organization.name)} already`;
    builder.problems.push({ at: here, text });
  }
  const key = builder.uuid(`invite:${organization.id}/${target_email}`, id, [...at, "id"]);
  const time = timeOr(created_at, beginning);
  builder.world.resources.push(
    organizationResource("invites", organization.id, key, {
      ...{ target_email, first_name, level: levels[level], message },
      private_project_access: null,
      emailing_attempt_made: false,
      ...{ created_at: time, updated_at: time },
      created_by: builder.author(created_by, [...at, "created_by"]),
    }),
  );
}

/** Sets each user's `@current`: the first organization with the user as a member, and its first project. */
function setCurrentProjects({ world }: WorldBuilder): void {
  world.users = world.users.map((user) => {
    const membership = world.memberships.find((it) => it.user === user.id);
    const project = world.projects.find((it) => it.organization === membership?.organization);
    return { ...user, current_organization: membership?.organization ?? null, current_project: project?.id ?? null };
  });
}

function addPersonalApiKey(builder: WorldBuilder, authored: AuthoredPersonalApiKey, at: Path): void {
  const { user, projects = [], organizations = [], ...given } = authored;
  builder.claim("personal key", given.key, [...at, "key"]);
  const id = given.id ?? builder.uuid(`personal_api_key:${given.key}`, undefined, at);
  builder.claim("id in personal_api_keys", id, [...at, "id"]);
  const key = blankPersonalApiKey(
    {
      ...given,
      id,
      user: builder.author(user, [...at, "user"]) ?? 0,
      scoped_teams: projects.flatMap((name, i) => builder.projects.find(name, [...at, "projects", i])?.id ?? []),
      scoped_organizations: organizations.flatMap(
        (name, i) => builder.organizations.find(name, [...at, "organizations", i])?.id ?? [],
      ),
      created_at: timeOr(given.created_at, beginning),
    },
    beginning,
  );
  builder.world.personal_api_keys.push(key);
}
