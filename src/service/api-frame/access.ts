import { SimError } from "../../kernel/base/errors.ts";
import { isUuid } from "../../kernel/base/text.ts";
import type { Call } from "../../kernel/http/call.ts";
import { bearerOf } from "../../kernel/http/call.ts";
import { grants } from "../../state/documents/access.ts";
import type {
  DocumentOf,
  Membership,
  Organization,
  PersonalApiKey,
  StoredProject,
  User,
} from "../../state/documents/world.ts";
import { fieldsOf } from "./body.ts";
import type { ResourceDesk } from "./desk.ts";

export interface Caller {
  readonly user: User;
  readonly key: PersonalApiKey;
}

export type MemberLevel = Membership["level"];
export const levels = { member: 1, admin: 8, owner: 15 } as const satisfies Record<string, MemberLevel>;

export const denied = (detail: string) => new SimError("permission_denied", detail);
export const insufficientLevel = () => denied("Your organization access level is insufficient.");
export const notFound = (what?: string) =>
  new SimError("not_found", what === undefined ? "Not found." : `${what} not found.`);

export function found<T>(document: T | undefined, what?: string): T {
  if (document === undefined) throw notFound(what);
  return document;
}

const places: readonly { name: string; read(call: Call): string | undefined }[] = [
  { name: "Authorization header", read: bearerOf },
  {
    name: "body",
    read(call) {
      const found = fieldsOf(call).personal_api_key;
      return typeof found === "string" && found !== "" ? found : undefined;
    },
  },
  { name: "query string", read: (call) => call.query.get("personal_api_key") || undefined },
];

function keyText(call: Call): { text: string; place: string } {
  for (const { name, read } of places) {
    const text = read(call);
    if (text !== undefined) return { text, place: name };
  }
  throw new SimError("not_authenticated", "Authentication credentials were not provided.");
}

/** Three parts in base64url: an access token of the app. It is checked before personal keys. */
const tokenPattern = /^[\w-]{4,}\.[\w-]{4,}\.[\w-]*$/;

/** The caller, by the header, else the body, else the query. Upstream posthog/auth.py. @throws SimError */
export function authenticate(call: Call, desk: ResourceDesk): Caller {
  const { text, place } = keyText(call);
  if (place === "Authorization header" && tokenPattern.test(text)) {
    throw new SimError("authentication_failed", "Token invalid.");
  }
  const key = desk.keys.personal(text, call);
  const user = key && desk.worlds.get("users", key.user);
  if (!key || !user?.is_active) {
    throw new SimError("authentication_failed", `Personal API key found in request ${place} is invalid.`);
  }
  return { user, key };
}

/** The scope of endpoints that any valid key may call. */
export const anyScope = "any";

/** Checks the key's scope; null refuses every key: the service maps no scope. @throws SimError permission_denied */
export function requireScope({ key }: Caller, scope: string | null): void {
  if (scope === anyScope) return;
  if (scope === null) throw denied("This action does not support personal API key access");
  if (!grants(key, scope)) throw denied(`API key missing required scope '${scope}'`);
}

/** A key that is limited to projects works on their URLs only. @throws SimError permission_denied */
export function refuseProjectLimits({ key }: Caller): void {
  if (key.scoped_teams.length > 0) {
    throw denied("API keys with scoped projects are only supported on project-based endpoints.");
  }
}

export function checkOrganizationLimit({ key }: Caller, id: string): void {
  if (key.scoped_organizations.length > 0 && !key.scoped_organizations.includes(id)) {
    throw denied(`API key does not have access to the requested organization: ID ${id}.`);
  }
}

export const membershipOf = (
  { worlds }: Pick<ResourceDesk, "worlds">,
  organization: string,
  user: number,
): Membership | undefined =>
  worlds.current.memberships.find((it) => it.organization === organization && it.user === user);

/** The number that a path names a document by; undefined when it is none. */
export const numberIn = (id: string): number | undefined => (/^\d{1,15}$/.test(id) ? Number(id) : undefined);

type OfProject = "cohorts" | "dashboards" | "feature_flags" | "insights";

/** The project's document with this number, also a deleted one; undefined if there is none. */
export function documentNamed<C extends OfProject>(
  { worlds }: Pick<ResourceDesk, "worlds">,
  collection: C,
  project: number,
  id: string,
): DocumentOf<C> | undefined {
  const number = numberIn(id);
  const document: DocumentOf<OfProject> | undefined = number === undefined ? undefined : worlds.get(collection, number);
  return document?.project === project ? document : undefined;
}

/** The project with this id or `@current`, without a check of the caller's rights. */
export function projectNamed(
  id: string,
  { worlds }: Pick<ResourceDesk, "worlds">,
  { user }: Caller,
): StoredProject | undefined {
  const number = id === "@current" ? (user.current_project ?? undefined) : numberIn(id);
  return number === undefined ? undefined : worlds.projectById(number);
}

export const hasFeature = ({ available_product_features }: Organization, key: string): boolean =>
  available_product_features?.some((it) => it.key === key) ?? false;

export interface CallPlace {
  readonly organization: Organization;
  readonly level: MemberLevel;
}

/** The project of the path, which the caller and the key may enter. @throws SimError not_found, permission_denied */
export function enterProject(call: Call, desk: ResourceDesk, caller: Caller): CallPlace & { project: StoredProject } {
  const project = found(projectNamed(call.params.project_id ?? "", desk, caller), "Project");
  if (caller.key.scoped_teams.length > 0 && !caller.key.scoped_teams.includes(project.id)) {
    throw denied(`API key does not have access to the requested project: ID ${project.id}.`);
  }
  checkOrganizationLimit(caller, project.organization);
  const organization = found(desk.worlds.get("organizations", project.organization), "Organization");
  const level = membershipOf(desk, organization.id, caller.user.id)?.level;
  if (level === undefined) throw denied("You don't have access to the project.");
  return { project, organization, level };
}

/** The organization with this id or `@current`, without a check of the caller's rights. */
export function organizationNamed(id: string, desk: ResourceDesk, { user }: Caller): Organization | undefined {
  if (id === "@current") {
    return user.current_organization === null ? undefined : desk.worlds.get("organizations", user.current_organization);
  }
  return isUuid(id) ? desk.worlds.get("organizations", id.toLowerCase()) : undefined;
}

/** The organization of a nested path, which the caller may enter. @throws SimError not_found, permission_denied */
export function enterOrganization(call: Call, desk: ResourceDesk, caller: Caller): CallPlace {
  refuseProjectLimits(caller);
  const organization = found(organizationNamed(call.params.organization_id ?? "", desk, caller), "Organization");
  checkOrganizationLimit(caller, organization.id);
  const level = membershipOf(desk, organization.id, caller.user.id)?.level;
  if (level === undefined) throw denied("You do not have permission to perform this action.");
  return { organization, level };
}
