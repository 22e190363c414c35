import type { Call } from "../http/call.ts";
import { bearerOf, queryToken } from "../http/credentials.ts";
import { projectByHeader } from "../ingest/project.ts";
import { SimError } from "../kernel/errors.ts";
import { grants, isOutsideLimits } from "../model/access.ts";
import type { Desk } from "../model/desk.ts";
import type { PersonalApiKey, Project } from "../model/world.ts";

/** Who asks for definitions or a remote config, and about which project. */
export interface FlagAccess {
  readonly project: Project;
  /** A person's key may see more than a project's secret one. */
  readonly credential: "personal" | "secret";
}

const detail = {
  none: "Authentication credentials were not provided.",
  secret: "Secret API token is invalid.",
  personal: "Personal API key is invalid.",
  token: "The provided API key is invalid or has expired. Please check your API key and try again.",
  scope: "API key missing required scope 'feature_flag:read'",
  project: "You don't have access to the project.",
} as const;

type Credential = { secretOf: Project } | { personal: PersonalApiKey };

/** Whose key it is. */
function credentialOf(call: Call, { keys }: Desk): Credential {
  const text = bearerOf(call);
  if (text === undefined) throw new SimError("not_authenticated", detail.none);
  const owner = keys.secretOwner(text, call);
  if (owner) return { secretOf: owner };
  if (text.startsWith("phs_")) throw new SimError("authentication_failed", detail.secret);
  const personal = keys.personal(text, call);
  if (!personal) throw new SimError("authentication_failed", detail.personal);
  if (!grants(personal, "feature_flag:read")) throw new SimError("permission_denied", detail.scope);
  return { personal };
}

const mayRead = (credential: Credential, project: Project): boolean =>
  "secretOf" in credential
    ? credential.secretOf.id === project.id
    : !isOutsideLimits(credential.personal, project);

/** The project that the call names: `?token=`, else the path's number. */
function namedProject(call: Call, desk: Desk): Project | undefined {
  const token = queryToken(call);
  if (token !== undefined) {
    const project = desk.projectFor(token);
    if (!project) throw new SimError("authentication_failed", detail.token);
    return project;
  }
  const id = call.params.project_id;
  if (id === undefined || id === "@current") return undefined;
  const project = /^\d+$/.test(id) ? desk.worlds.projectById(Number(id)) : undefined;
  if (!project) throw new SimError("not_found", "Not found.");
  return project;
}

/** With the header a program of this machine needs no key; one that comes anyway decides how much it may see. */
function credentialBesideHeader(call: Call, { keys }: Desk): FlagAccess["credential"] {
  const text = bearerOf(call) ?? "";
  if (!keys.secretOwner(text, call) && !keys.personal(text, call)) keys.checkKeyless(call);
  return text.startsWith("phx_") ? "personal" : "secret";
}

/**
 * Checks `Authorization: Bearer` (a project's `phs_…`, or a `phx_…` with a flag scope) and finds the project:
 * by `?token=`, by the path, else the secret key's own, else the first. `X-Phx-Project` comes before all of it.
 * Upstream PostHog rust/feature-flags, api/auth.
 * @throws SimError not_authenticated, authentication_failed, permission_denied, not_found, unknown_project
 */
export function flagAccess(call: Call, desk: Desk): FlagAccess {
  const named = projectByHeader(desk, call);
  if (named) return { project: named, credential: credentialBesideHeader(call, desk) };
  const credential = credentialOf(call, desk);
  const owner = "secretOf" in credential ? credential.secretOf : undefined;
  const project = namedProject(call, desk) ?? owner ?? desk.worlds.current.projects[0];
  if (!project) throw new SimError("not_found", "Not found.");
  if (!mayRead(credential, project)) throw new SimError("permission_denied", detail.project);
  return { project, credential: owner ? "secret" : "personal" };
}
