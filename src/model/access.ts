import type { PersonalApiKey, Project, ReadonlyWorld } from "./world.ts";

/** What a key may do and where. Upstream PostHog/posthog posthog/permissions.py. */

/** Does one of the key's scopes grant `wanted`? `thing:write` implies `thing:read`, `*` everything. */
export const grants = (key: Pick<PersonalApiKey, "scopes">, wanted: string): boolean =>
  key.scopes.some(
    (scope) => scope === "*" || scope === wanted || scope === wanted.replace(/:read$/, ":write"),
  );

/** True if the key is limited to other projects or organizations, or its user is not a member of the project's organization. */
export const isOutOfReach = (world: ReadonlyWorld, key: PersonalApiKey, project: Project): boolean =>
  (key.scoped_teams.length > 0 && !key.scoped_teams.includes(project.id)) ||
  (key.scoped_organizations.length > 0 && !key.scoped_organizations.includes(project.organization)) ||
  !world.memberships.some((it) => it.user === key.user && it.organization === project.organization);

/** The personal key with this text. */
export const personalKeyOf = (world: ReadonlyWorld, text: string): PersonalApiKey | undefined =>
  world.personal_api_keys.find((key) => key.key === text);

/** The project that a secret key (`phs_…`) belongs to. */
export const projectOfSecret = (world: ReadonlyWorld, secret: string): Project | undefined =>
  world.projects.find((project) => project.secret_api_key === secret);
