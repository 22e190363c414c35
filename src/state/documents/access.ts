import type { PersonalApiKey, ReadonlyWorld, StoredProject } from "./world.ts";

/** Permissions of keys. Upstream PostHog/posthog posthog/permissions.py. */

/** True if one of the key's scopes grants `wanted`; `thing:write` implies `thing:read`, `*` everything. */
export const grants = (key: Pick<PersonalApiKey, "scopes">, wanted: string): boolean =>
  key.scopes.some((scope) => scope === "*" || scope === wanted || scope === wanted.replace(/:read$/, ":write"));

/** True if the key is limited to other projects or organizations, or its user is not a member of the project's organization. */
export const isOutOfReach = (world: ReadonlyWorld, key: PersonalApiKey, project: StoredProject): boolean =>
  (key.scoped_teams.length > 0 && !key.scoped_teams.includes(project.id)) ||
  (key.scoped_organizations.length > 0 && !key.scoped_organizations.includes(project.organization)) ||
  !world.memberships.some((it) => it.user === key.user && it.organization === project.organization);

/** Personal and secret keys of the shipped scenarios and of the starter: the package publishes them. */
const publishedKeys: ReadonlySet<string> = new Set([
  "phx_sim_default",
  "phx_local",
  "phx_no_scopes",
  "phx_exports",
  "phx_exports_read",
  "phx_gallery",
  "phx_olga",
  "phx_amir",
  "phx_mei",
  "phx_gus",
  "phx_gus_read",
  "phx_website",
  "phx_shop",
  "phx_shop_ci",
  "phx_traffic",
  "phs_sim_default",
  "phs_local",
  "phs_over_quota",
  "phs_exports",
  "phs_gallery",
  "phs_plank",
  "phs_plank_web",
  "phs_agency",
  "phs_shop",
  "phs_traffic",
]);

export const isPublishedKey = (key: string): boolean => publishedKeys.has(key);

export const defaultSecretOf = (apiKey: string): string => apiKey.replace(/^phc_|^/, "phs_");

/** True if the package contains the secret key, or if it follows from the project key, which every client knows. */
export const isPublishedSecret = (project: Pick<StoredProject, "api_key" | "secret_api_key">): boolean =>
  isPublishedKey(project.secret_api_key) || project.secret_api_key === defaultSecretOf(project.api_key);
