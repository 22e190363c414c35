import type { Call } from "../../http/call.ts";
import { SimError } from "../../kernel/errors.ts";
import type { Desk } from "../../model/desk.ts";
import type { PersonalApiKey, Project, World } from "../../model/world.ts";

const bearerPattern = /^Bearer\s+(\S+)$/i;

/** The key of an `Authorization: Bearer …` header. */
export const bearerOf = (call: Call): string | undefined =>
  bearerPattern.exec(call.headers.authorization ?? "")?.[1];

/** The project key in the query, under either name that clients use. */
export const queryToken = (call: Call): string | undefined =>
  call.query.get("token") || call.query.get("api_key") || undefined;

/**
 * The project of a public project key.
 * Upstream answers as the decide and survey endpoints of PostHog/posthog do.
 * @throws SimError missing_api_key, invalid_api_key
 */
export function projectOfToken(desk: Desk, token: string | undefined): Project {
  if (!token) {
    throw new SimError(
      "missing_api_key",
      "Project token not provided. You can find your project token in PostHog project settings.",
    );
  }
  const project = desk.projectFor(token);
  if (!project) {
    throw new SimError(
      "invalid_api_key",
      "Project token invalid. You can find your project token in PostHog project settings.",
    );
  }
  return project;
}

/** Does one of the key's scopes grant `wanted`? `thing:write` implies `thing:read`, `*` everything. */
export const grants = (key: PersonalApiKey, wanted: string): boolean =>
  key.scopes.some(
    (scope) => scope === "*" || scope === wanted || scope === wanted.replace(/:read$/, ":write"),
  );

/** The project of the path's `:project_id` (a number or `@current`), narrowed by `?token=`. */
function namedProject(call: Call, desk: Desk): Project | undefined {
  const token = queryToken(call);
  if (token) return projectOfToken(desk, token);
  const id = call.params.project_id ?? "";
  if (id === "@current") return desk.worlds.current.projects[0];
  return /^\d+$/.test(id) ? desk.worlds.projectById(Number(id)) : undefined;
}

/** The project that a secret key (`phs_…`) belongs to. */
export const projectOfSecret = (world: World, secret: string): Project | undefined =>
  world.projects.find((project) => project.secret_api_key === secret);

/** Checks a personal key; a project's secret key needs no scope, it belongs to one project. */
function checkPersonalKey(world: World, key: string, scope: string): void {
  const found = world.personal_api_keys.find((candidate) => candidate.key === key);
  if (!found) throw new SimError("authentication_failed", "Personal API key is invalid.");
  if (!grants(found, scope)) {
    throw new SimError("permission_denied", `API key missing required scope '${scope}'`);
  }
}

/**
 * The project a private call is about: `Authorization: Bearer` with a personal key (`phx_…`) that has the
 * scope, or with the project's secret key (`phs_…`).
 * @throws SimError not_authenticated, authentication_failed, permission_denied, invalid_api_key, not_found
 */
export function privateProject(call: Call, desk: Desk, scope: string): Project {
  const key = bearerOf(call);
  if (!key) throw new SimError("not_authenticated", "Authentication credentials were not provided.");
  const owner = projectOfSecret(desk.worlds.current, key);
  if (!owner) checkPersonalKey(desk.worlds.current, key, scope);
  const isNamed = call.params.project_id !== "@current" || queryToken(call) !== undefined;
  const project = isNamed || !owner ? namedProject(call, desk) : owner;
  if (!project) throw new SimError("not_found", "Not found.");
  if (owner && project !== owner) {
    throw new SimError("permission_denied", "You don't have access to the project.");
  }
  return project;
}
