import type { PersonalApiKey, ReadonlyWorld, StoredProject } from "./world.ts";

/** Permissions of keys. Upstream PostHog/posthog posthog/permissions.py. */

export const grants = (key: Pick<PersonalApiKey, "scopes">, wanted: string): boolean =>
  key.scopes.some((scope) => scope === "*" || scope === wanted || scope === wanted.replace(/:read$/, ":write"));

/** True if the key is limited to other projects or organizations, or its user is not a member of the project's organization. */
export const isOutOfReach = (world: ReadonlyWorld, key: PersonalApiKey, project: StoredProject): boolean =>
  (key.scoped_teams.length > 0 && !key.scoped_teams.includes(project.id)) ||
  (key.scoped_organizations.length > 0 && !key.scoped_organizations.includes(project.organization)) ||
  !world.memberships.some((it) => it.user === key.user && it.organization === project.organization);

export const defaultSecretOf = (apiKey: string): string => apiKey.replace(/^phc_|^/, "phs_");
