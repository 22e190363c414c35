import type { Call } from "../../http/call.ts";
import { bearerOf, queryToken } from "../../http/credentials.ts";
import { projectByHeader } from "../../ingest/project.ts";
import { SimError } from "../../kernel/errors.ts";
import { grants, isOutOfReach } from "../../model/access.ts";
import type { Desk } from "../../model/desk.ts";
import type { PersonalApiKey, Project } from "../../model/world.ts";

/**
 * The project of a public project key, or the one that the call's header names.
 * Upstream answers as the decide and survey endpoints of PostHog/posthog do.
 * @throws SimError missing_api_key, invalid_api_key, unknown_project
 */
export function projectOfToken(desk: Desk, call: Call, token: string | undefined): Project {
  const named = projectByHeader(desk, call);
  if (named) return named;
  if (!token) {
    throw new SimError(
      "missing_api_key",
      "Project token not provided. You can find your project token in PostHog project settings.",
    );
  }
  return projectOfKey(desk, token);
}

function projectOfKey(desk: Desk, token: string): Project {
  const project = desk.projectFor(token);
  if (!project) {
    throw new SimError(
      "invalid_api_key",
      "Project token invalid. You can find your project token in PostHog project settings.",
    );
  }
  return project;
}

/** The project of the path's `:project_id` (a number or `@current`), narrowed by `?token=`. */
function namedProject(call: Call, desk: Desk): Project | undefined {
  const token = queryToken(call);
  if (token) return projectOfKey(desk, token);
  const id = call.params.project_id ?? "";
  if (id === "@current") return desk.worlds.current.projects[0];
  return /^\d+$/.test(id) ? desk.worlds.projectById(Number(id)) : undefined;
}

/**
 * The project a private call is about: `Authorization: Bearer` with a personal key (`phx_…`) that has the
 * scope, or with the project's secret key (`phs_…`).
 * @throws SimError not_authenticated, authentication_failed, permission_denied, invalid_api_key, not_found
 */
export function privateProject(call: Call, desk: Desk, scope: string): Project {
  const text = bearerOf(call);
  if (!text) throw new SimError("not_authenticated", "Authentication credentials were not provided.");
  const owner = desk.keys.secretOwner(text, call);
  const key = owner ? undefined : personalKey(call, desk, text, scope);
  const isNamed = call.params.project_id !== "@current" || queryToken(call) !== undefined;
  const project = isNamed || !owner ? namedProject(call, desk) : owner;
  if (!project) throw new SimError("not_found", "Not found.");
  if ((owner && project !== owner) || (key && isOutOfReach(desk.worlds.current, key, project))) {
    throw new SimError("permission_denied", "You don't have access to the project.");
  }
  return project;
}

/** A personal key that has the scope; a project's secret key needs none, it belongs to one project. */
function personalKey(call: Call, desk: Desk, text: string, scope: string): PersonalApiKey {
  const found = desk.keys.personal(text, call);
  if (!found) throw new SimError("authentication_failed", "Personal API key is invalid.");
  if (!grants(found, scope)) {
    throw new SimError("permission_denied", `API key missing required scope '${scope}'`);
  }
  return found;
}
