import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { stringOf, withArticle } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { liveResource, resourceOf } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Draft, StoredResource } from "../../../state/documents/world.ts";
import { denied, documentNamed, found, levels } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid, text, uuid } from "../../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import type { ResourceKind } from "./kind.ts";

/**
 * Rules about what members and roles may do with a project, its resources and single documents. They have no effect.
 * Upstream PostHog/posthog products/access_control/backend/presentation/access_control.py.
 */

const projectLevels = ["none", "member", "admin"];
const resourceLevels = ["none", "viewer", "editor", "manager"];

const levelsOf = (resource: string) =>
  resource === "project" || resource === "organization" ? projectLevels : resourceLevels;
const lowestOf = (resource: string) => (resource === "action" ? "viewer" : "none");
const highestOf = (resource: string) =>
  resource === "activity_log" || resource === "toolbar" ? "viewer" : (levelsOf(resource).at(-1) ?? "");
const defaultOf = (resource: string) =>
  resource === "project" ? "admin" : highestOf(resource) === "viewer" ? "viewer" : "editor";

const fields = {
  access_level: text().nullable(),
  resource: text().optional(),
  resource_id: text().nullable().optional(),
  organization_member: uuid().nullable().optional(),
  role: uuid().nullable().optional(),
};

const Rule = z.object({ ...fields, created_by: z.null(), created_at: z.string(), updated_at: z.string() });
const Body = z.object(fields);
type Body = z.infer<typeof Body>;

const Rules = z.object({
  access_controls: z.array(Rule),
  available_access_levels: z.array(z.string()),
  default_access_level: z.string(),
  minimum_access_level: z.string(),
  maximum_access_level: z.string(),
  user_access_level: z.string(),
  user_can_edit_access_levels: z.boolean(),
});

/** For scenario files; the endpoints are below. */
export const accessControls: ResourceKind = {
  kind: "access_controls",
  noun: "access control",
  isOnlyStored: true,
  of: "project",
  scope: "access_control",
  methods: [],
  deletion: "hard",
  fields: { ...fields, resource: text() },
  initial: { resource_id: null, organization_member: null, role: null, created_by: null },
  stamps: ["created_at", "updated_at"],
};

/** What the rules of a path are about; without a document, any resource of the project. */
interface About {
  readonly resource: string | null;
  readonly resource_id: string | null;
}

type Request = ProjectRequest<unknown>;

const isAdmin = ({ level }: Request): boolean => level >= levels.admin;

const isSame = (rule: StoredResource, wanted: Partial<Body>): boolean =>
  (["resource", "resource_id", "organization_member", "role"] as const).every(
    (name) => (rule.fields[name] ?? null) === (wanted[name] ?? null),
  );

const rulesOf = ({ worlds }: ResourceDesk, project: number): StoredResource[] =>
  worlds.current.resources.filter((it) => it.kind === accessControls.kind && it.project === project);

const showRule = ({ fields: { managed_by: _by, managed_at: _at, ...rule } }: StoredResource): JsonObject => rule;

function showRules(desk: ResourceDesk, request: Request, { resource, resource_id: id }: About) {
  const rules = rulesOf(desk, request.project.id).filter(({ fields: rule }) =>
    resource === null ? rule.resource_id === null : rule.resource === resource && rule.resource_id === id,
  );
  return {
    access_controls: rules.map(showRule),
    available_access_levels: resource === null ? resourceLevels : levelsOf(resource),
    default_access_level: resource === null ? "editor" : defaultOf(resource),
    minimum_access_level: resource === null ? "none" : lowestOf(resource),
    maximum_access_level: resource === null ? "manager" : highestOf(resource),
    user_access_level: isAdmin(request) ? highestOf(resource ?? "project") : defaultOf(resource ?? "project"),
    user_can_edit_access_levels: isAdmin(request),
  };
}

/** @throws SimError with the service's text for what is wrong */
function checkRule(desk: ResourceDesk, request: Request, rule: Body & { resource: string }): void {
  const { access_level: level, resource, organization_member: member, role } = rule;
  const allowed = levelsOf(resource);
  if (level !== null && !allowed.includes(level)) {
    throw invalid(`Invalid access level. Must be one of: ${allowed.join(", ")}`, "access_level");
  }
  const [lowest, highest] = [lowestOf(resource), highestOf(resource)];
  if (level !== null && allowed.indexOf(level) < allowed.indexOf(lowest)) {
    const detail = `Access level cannot be set below the minimum '${lowest}' for ${resource}.`;
    throw invalid(detail, "access_level");
  }
  if (level !== null && allowed.indexOf(level) > allowed.indexOf(highest)) {
    const detail = `Access level cannot be set above the maximum '${highest}' for ${resource}.`;
    throw invalid(detail, "access_level");
  }
  const organization = request.organization.id;
  const missing = (id: string) => `Invalid pk "${id}" - object does not exist.`;
  if (member && !desk.worlds.current.memberships.some((it) => it.id === member)) {
    throw invalid(missing(member), "organization_member", "does_not_exist");
  }
  if (role && !liveResource(desk.worlds, "roles", organization, role)) {
    throw invalid(missing(role), "role", "does_not_exist");
  }
  if (member && role) throw invalid("You can not scope an access control to both a member and a role.");
  if (isAdmin(request)) return;
  if (rule.resource_id == null) {
    throw denied("Must be an Organization admin to modify project-wide permissions.");
  }
  throw denied(`Must be ${highest} to modify ${resource} permissions.`);
}

/** Creates, changes or (without a level) removes the rule. @returns undefined when it was removed */
function writeRule(desk: ResourceDesk, request: ProjectRequest<Body>, about: About): JsonObject | undefined {
  const body = request.body();
  const resource = about.resource ?? body.resource;
  if (resource === undefined) throw invalid("This field is required.", "resource", "required");
  const rule = { ...body, resource, ...(about.resource_id !== null && { resource_id: about.resource_id }) };
  checkRule(desk, request, rule);
  const project = request.project.id;
  const before = rulesOf(desk, project).find((it) => isSame(it, rule));
  if (rule.access_level === null) {
    if (before) desk.worlds.change((draft) => draft.remove("resources", before.id));
    return undefined;
  }
  const now = wireTime(desk.clock.now());
  const put = (draft: Draft) => {
    const key = before?.key ?? desk.ids.uuid();
    const made = before?.fields ?? { ...accessControls.initial, created_at: now };
    const fields = { ...made, ...rule, updated_at: now };
    return draft.put("resources", resourceOf(accessControls.kind, project, key, fields));
  };
  return showRule(desk.worlds.change(put));
}

const Claim = z.object({ ...fields, access_level: z.never().optional(), managed_by: text().nullable() });

const claimRow = (desk: ResourceDesk): Endpoint[] =>
  managementRow(desk, {
    method: "PUT",
    path: `${projectRoot}/access_control_management`,
    summary: "Notes which tool manages a rule (stored, not enforced)",
    access: inProject("access_control:write"),
    body: Claim,
    reply: z.object({ managed_by: z.string().nullable(), managed_at: z.string().nullable() }),
    handle(request) {
      const { managed_by, access_level: _, ...wanted } = request.body();
      const rule = found(rulesOf(desk, request.project.id).find((it) => isSame(it, wanted)));
      const managed_at = managed_by === null ? null : wireTime(desk.clock.now());
      desk.worlds.change((draft) =>
        draft.put("resources", { ...rule, fields: { ...rule.fields, managed_by, managed_at } }),
      );
      return { managed_by, managed_at };
    },
  });

/** Documents with rules of their own, by the last part of their path. */
const numbered = {
  dashboards: ["dashboard", "dashboards"],
  feature_flags: ["feature_flag", "feature_flags"],
  insights: ["insight", "insights"],
} as const;
const resources: Readonly<Record<string, readonly [resource: string, kind: string]>> = {
  actions: ["action", "actions"],
  notebooks: ["notebook", "notebooks"],
};

export function accessControlRows(desk: ResourceDesk): Endpoint[] {
  const rows = (path: string, what: string, about: (request: Request) => About): Endpoint[] => [
    ...managementRow(desk, {
      method: "GET",
      path: `${projectRoot}${path}`,
      summary: `Lists the access controls of ${what} (stored, not enforced)`,
      access: inProject("access_control:read"),
      reply: Rules,
      handle: (request) => showRules(desk, request, about(request)),
    }),
    ...managementRow<"project", Body>(desk, {
      method: "PUT",
      path: `${projectRoot}${path}`,
      summary: `Sets an access control of ${what}; removes it with access_level null`,
      access: inProject("access_control:write"),
      body: Body,
      reply: Rule,
      replies: { 204: { description: "The access control is removed" } },
      statusOf: (rule) => (rule === undefined ? 204 : 200),
      handle: (request) => writeRule(desk, request, about(request)),
    }),
  ];
  return [
    ...rows("/access_controls", "the project", ({ project }) => ({
      resource: "project",
      resource_id: stringOf(project.id),
    })),
    ...["/resource_access_controls", "/global_access_controls"].flatMap((path) =>
      rows(path, "kinds of resources", () => ({ resource: null, resource_id: null })),
    ),
    ...Object.entries(numbered).flatMap(([path, [resource, collection]]) =>
      rows(`/${path}/:id/access_controls`, withArticle(resource.replace("_", " ")), ({ project, param }) => {
        const { id } = found(documentNamed(desk, collection, project.id, param("id")));
        return { resource, resource_id: stringOf(id) };
      }),
    ),
    ...Object.entries(resources).flatMap(([path, [resource, kind]]) =>
      rows(`/${path}/:id/access_controls`, withArticle(resource), ({ project, param }) => {
        const id = param("id");
        const { key } = found(liveResource(desk.worlds, kind, project.id, Number(id) || id));
        return { resource, resource_id: stringOf(key) };
      }),
    ),
    ...claimRow(desk),
  ];
}
