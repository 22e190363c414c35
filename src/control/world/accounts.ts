import type { Keyring } from "../../model/keyring.ts";
import type { Organization, PersonalApiKey, Project, ReadonlyWorld, User } from "../../model/world.ts";
import type { ProjectCounts, ShownKey, ShownOrganization, ShownProject } from "./types.ts";

const levels = { 1: "member", 8: "admin", 15: "owner" } as const;

/** A secret with its kind and its end: enough to tell two apart. */
function masked(key: string): string {
  const kind = /^ph[a-z]_/.exec(key)?.[0] ?? "";
  return key.length - kind.length > 12 ? `${kind}…${key.slice(-4)}` : `${kind}…`;
}

const nameOf = ({ first_name, last_name }: User): string => `${first_name} ${last_name}`.trim();

/** The documents that a project's counts are of; deleted ones are not there. */
function countsOf(world: ReadonlyWorld, project: number): ProjectCounts {
  const count = (documents: readonly { project: number; deleted?: boolean }[]): number =>
    documents.filter((it) => it.project === project && it.deleted !== true).length;
  return {
    dashboards: count(world.dashboards),
    insights: count(world.insights),
    feature_flags: count(world.feature_flags),
    cohorts: count(world.cohorts),
    batch_exports: count(world.batch_exports),
    surveys: count(world.surveys),
  };
}

const showProject = (world: ReadonlyWorld, keys: Keyring, it: Project): ShownProject => ({
  id: it.id,
  name: it.name,
  organization: it.organization,
  api_key: it.api_key,
  secret_api_key: masked(keys.shownSecret(it)),
  timezone: it.timezone,
  adopted: it.adopted,
  ephemeral: it.ephemeral !== undefined,
  counts: countsOf(world, it.id),
});

/** An organization with its people and projects. */
export function showOrganization(world: ReadonlyWorld, keys: Keyring, it: Organization): ShownOrganization {
  const members = world.memberships.flatMap(({ organization, user: id, level }) => {
    const user = organization === it.id ? world.users.find((one) => one.id === id) : undefined;
    return user ? [{ user: id, name: nameOf(user), email: user.email, level: levels[level] }] : [];
  });
  const projects = world.projects
    .filter(({ organization }) => organization === it.id)
    .map((project) => showProject(world, keys, project));
  return { id: it.id, name: it.name, slug: it.slug, created_at: it.created_at, members, projects };
}

/** A personal key without the key. */
export function showKey(world: ReadonlyWorld, keys: Keyring, it: PersonalApiKey): ShownKey {
  const owner = world.users.find(({ id }) => id === it.user);
  const nameIn = <Id>(documents: readonly { id: Id; name: string }[], id: Id): string =>
    documents.find((one) => one.id === id)?.name ?? String(id);
  return {
    id: it.id,
    // where nobody gave it a name, it has the key's
    label: it.label === it.key ? "" : it.label,
    key: masked(keys.shownPersonal(it)),
    owner: owner?.email ?? String(it.user),
    scopes: it.scopes,
    limited_to: [
      ...it.scoped_organizations.map((id) => nameIn(world.organizations, id)),
      ...it.scoped_teams.map((id) => nameIn(world.projects, id)),
    ],
    created_at: it.created_at,
  };
}
