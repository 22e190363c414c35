import { SimError } from "../../../kernel/base/errors.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { bearerOf, queryToken } from "../../../kernel/http/call.ts";
import type { Family } from "../../../kernel/http/family.ts";
import { grants, isOutOfReach } from "../../../state/documents/access.ts";
import type { PersonalApiKey, ReadonlyWorld, StoredProject } from "../../../state/documents/world.ts";
import type { Desk } from "../../capture/desk.ts";
import { projectByHeader } from "../../capture/project.ts";

export interface FlagAccess {
  readonly project: StoredProject;
  /** A personal key may see more than a project's secret one. */
  readonly credential: "personal" | "secret";
}

/** The flags service, and the Django application behind `/api`. */
type Service = Extract<Family, "flags" | "service">;

const secretInvalid = () => new SimError("authentication_failed", "Secret API token is invalid.");
const personalInvalid = () => new SimError("authentication_failed", "Personal API key is invalid.");
const projectDenied = () => new SimError("permission_denied", "You don't have access to the project.");

/** How each service refuses a valid key. Upstream PostHog rust/feature-flags, api/auth, and posthog/permissions.py. */
const refusals: Readonly<Record<Service, Readonly<Record<"scope" | "secret" | "personal", () => SimError>>>> = {
  flags: {
    scope: () =>
      new SimError(
        "authentication_failed",
        "Personal API key lacks required scopes (feature_flag:read or feature_flag:write).",
      ),
    secret: secretInvalid,
    personal: personalInvalid,
  },
  service: {
    scope: () => new SimError("permission_denied", "API key missing required scope 'feature_flag:read'"),
    secret: projectDenied,
    personal: projectDenied,
  },
};

const unauthenticated = () => new SimError("not_authenticated", "Authentication credentials were not provided.");

type Credential = { secretOf: StoredProject } | { personal: PersonalApiKey };

function credentialOf(call: Call, { keys }: Desk, text: string, service: Service): Credential {
  const owner = keys.secretOwner(text, call);
  if (owner) return { secretOf: owner };
  if (text.startsWith("phs_")) throw secretInvalid();
  const personal = keys.personal(text, call);
  if (!personal) throw personalInvalid();
  if (!grants(personal, "feature_flag:read")) throw refusals[service].scope();
  return { personal };
}

function checkAccess(world: ReadonlyWorld, credential: Credential, project: StoredProject, service: Service): void {
  const { secret, personal } = refusals[service];
  if ("secretOf" in credential) {
    if (credential.secretOf.id !== project.id) throw secret();
  } else if (isOutOfReach(world, credential.personal, project)) throw personal();
}

/** The project that the call names: `?token=`, else the path's number. */
function namedProject(call: Call, desk: Desk): StoredProject | undefined {
  const token = queryToken(call);
  if (token !== undefined) {
    const project = desk.projectFor(token);
    if (project) return project;
    throw new SimError(
      "authentication_failed",
      "The provided API key is invalid or has expired. Please check your API key and try again.",
    );
  }
  const id = call.params.project_id;
  if (id === undefined || id === "@current") return undefined;
  const project = /^\d+$/.test(id) ? desk.worlds.projectById(Number(id)) : undefined;
  if (!project) throw new SimError("not_found", "Not found.");
  return project;
}

/** The flags service derives a project from a secret key only, and before it looks at any other key. */
function checkToken(call: Call, text: string): void {
  if (text.startsWith("phs_") || queryToken(call) !== undefined) return;
  const detail = "The 'token' query parameter is required unless the request authenticates with a phs_ key.";
  throw new SimError("required", detail);
}

/** With the header, a program of this machine needs no key; a key in the call decides how much the answer shows. */
function credentialBesideHeader(call: Call, { keys }: Desk): FlagAccess["credential"] {
  const text = bearerOf(call) ?? "";
  if (!keys.secretOwner(text, call) && !keys.personal(text, call)) keys.checkKeyless(call);
  return text.startsWith("phx_") ? "personal" : "secret";
}

/**
 * Checks `Authorization: Bearer` (a project's `phs_…`, or a `phx_…` with a flag scope) and finds the project:
 * by `?token=`, by the path, else the secret key's own, else (`/api` only) the first. `X-Phx-Project`
 * comes before all of it.
 * @throws SimError not_authenticated, authentication_failed, permission_denied, required, not_found, unknown_project
 */
export function flagAccess(call: Call, desk: Desk, service: Service): FlagAccess {
  const text = bearerOf(call);
  const named = projectByHeader(desk, call);
  if (named) return { project: named, credential: credentialBesideHeader(call, desk) };
  if (text === undefined) throw unauthenticated();
  if (service === "flags") checkToken(call, text);
  const world = desk.worlds.current;
  const credential = credentialOf(call, desk, text, service);
  const owner = "secretOf" in credential ? credential.secretOf : undefined;
  const project = namedProject(call, desk) ?? owner ?? world.projects[0];
  if (!project) throw new SimError("not_found", "Not found.");
  checkAccess(world, credential, project, service);
  return { project, credential: owner ? "secret" : "personal" };
}

const resource = "feature_flags";

export const quotaLimited: readonly string[] = [resource];

/** True if the project has used up its flag requests: by `quota_limited` in its settings, or by a fault. */
export function isQuotaLimited({ settings }: StoredProject, { fault }: Call): boolean {
  if (fault?.quota?.includes(resource)) return true;
  const limited = settings.quota_limited;
  return Array.isArray(limited) && limited.includes(resource);
}
