import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { stringOf, withArticle } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { text, uuid } from "../../../state/documents/lenient-fields.ts";
import { liveResource, resourceOf } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { documentNamed, found, insufficientLevel, levels } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { resourceKind } from "./kind.ts";

/**
 * Rules about what members and roles may do with a project, its resources and single documents. They have no effect.
 * Upstream PostHog/posthog products/access_control/backend/presentation/access_control.py.
 */

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

/** For scenario files; the endpoints are below. */
export const accessControls = resourceKind({
  kind: "access_controls",
  noun: "access control",
  isOnlyStored: true,
  of: "project",
  scope: "access_control",
  methods: [],
  deletion: "hard",
  fields: {
    access_level: { write: fields.access_level, required: true },
    resource: { write: text(), required: true },
    resource_id: { write: fields.resource_id, blank: null },
    organization_member: { write: fields.organization_member, blank: null },
    role: { write: fields.role, blank: null },
    created_by: { blank: null },
  },
  stamps: ["created_at", "updated_at"],
});

/** What the rules of a path are about; without a document, any resource of the project. */
interface About {
  readonly resource: string | null;
  readonly resource_id: string | null;
}

type Request = ProjectRequest<unknown>;

const isSame = (rule: StoredResource, other: Partial<Body>): boolean =>
  (["resource", "resource_id", "organization_member", "role"] as const).every(
    (name) => (rule.fields[name] ?? null) === (other[name] ?? null),
  );

const rulesOf = ({ worlds }: ResourceDesk, project: number): StoredResource[] =>
  worlds.current.resources.filter((it) => it.kind === accessControls.kind && it.project === project);

const showRule = ({ fields: { managed_by: _by, managed_at: _at, ...rule } }: StoredResource): JsonObject => rule;

/** Creates, changes or (without a level) removes the rule. @returns undefined when it was removed */
function writeRule(desk: ResourceDesk, request: ProjectRequest<Body>, about: About): JsonObject | undefined {
  const body = request.body();
  const resource = about.resource ?? body.resource;
  if (resource === undefined) throw invalid("This field is required.", "resource", "required");
  if (request.level < levels.admin) throw insufficientLevel();
  const rule = { ...body, resource, ...(about.resource_id !== null && { resource_id: about.resource_id }) };
  const project = request.project.id;
  const before = rulesOf(desk, project).find((it) => isSame(it, rule));
  return desk.worlds.change((draft) => {
    if (rule.access_level === null) {
      if (before) draft.remove("resources", before.id);
      return undefined;
    }
    const now = wireTime(desk.clock.now());
    const made = before?.fields ?? { ...accessControls.blanks, created_at: now };
    const key = before?.key ?? desk.ids.uuid();
    const own = { ...made, ...rule, updated_at: now };
    return showRule(draft.put("resources", resourceOf(accessControls.kind, project, key, own)));
  });
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
      const { managed_by, access_level: _, ...claim } = request.body();
      const rule = found(rulesOf(desk, request.project.id).find((it) => isSame(it, claim)));
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
      reply: z.object({ access_controls: z.array(Rule) }),
      handle(request) {
        const { resource, resource_id: id } = about(request);
        const rules = rulesOf(desk, request.project.id).filter(({ fields: rule }) =>
          resource === null ? rule.resource_id === null : rule.resource === resource && rule.resource_id === id,
        );
        return { access_controls: rules.map(showRule) };
      },
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
