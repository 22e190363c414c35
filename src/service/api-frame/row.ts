import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { uriText } from "../../kernel/base/text.ts";
import type { Call } from "../../kernel/http/call.ts";
import { ignoredHeader } from "../../kernel/http/cors.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { errorReplies, errorSchema } from "../../kernel/http/error-schemas.ts";
import { empty, json, type Reply, withHeaders } from "../../kernel/http/reply.ts";
import { docsOf, endpointOf, type RowHead } from "../../kernel/http/row.ts";
import type { Draft, StoredProject } from "../../state/documents/world.ts";
import {
  anyScope,
  authenticate,
  type Caller,
  type CallPlace,
  enterOrganization,
  enterProject,
  requireScope,
} from "./access.ts";
import { bodyTypes, readBody, sentFields } from "./body.ts";
import type { Pace, ResourceDesk } from "./desk.ts";

interface Places {
  account: unknown;
  organization: CallPlace;
  project: CallPlace & { readonly project: StoredProject };
  /** The project of `?token=` (default: the caller's current one): endpoints older than project URLs. */
  current_project: CallPlace & { readonly project: StoredProject };
}

export interface RowAccess<Of extends keyof Places = keyof Places> {
  readonly of: Of;
  /** Scope that the key needs; null: the service maps none, so that every key is refused; `anyScope`: any key passes. */
  readonly scope: string | null;
  /** Rate limit (default: crud). */
  readonly pace?: Pace;
}

export const inAccount = (scope: string): RowAccess<"account"> => ({ of: "account", scope });
export const inOrganization = (scope: string): RowAccess<"organization"> => ({ of: "organization", scope });
export const inProject = (scope: string, pace: Pace = "crud"): RowAccess<"project"> => ({ of: "project", scope, pace });

export const organizationRoot = "/api/organizations/:organization_id";
export const projectRoot = "/api/projects/:project_id";

export interface Request<Body> {
  readonly call: Call;
  readonly caller: Caller;
  param(name: string): string;
  /** The checked body; read it after the objects of the path were looked up, as the service does. @throws SimError */
  body(): Body;
}

export type RequestIn<Of extends keyof Places, Body> = Request<Body> & Places[Of];

export type ProjectRequest<Body> = RequestIn<"project", Body>;

export type ResourceRequest<Body = unknown> = Request<Body> &
  CallPlace & { readonly project?: { readonly id: number } };

export interface Changing {
  readonly desk: ResourceDesk;
  readonly draft: Draft;
  readonly request: ResourceRequest;
  readonly now: string;
}

// biome-ignore lint/suspicious/noConfusingVoidType: handlers without an answer have no return
export type Handled = object | undefined | void;

/** A row of the management API. The query's parameters are documented by their shape, and read leniently by handlers. */
export interface ManagementRow<Of extends keyof Places, Body = never> extends Omit<RowHead<RowAccess<Of>>, "body"> {
  readonly body?: z.ZodType<Body>;
  /** The status of an answer (default: `status`). */
  statusOf?(answer: object | undefined): number;
  /** What is returned is the answer's body; nothing leaves it empty. */
  handle(request: RequestIn<Of, Body>): Handled | Promise<Handled>;
}

type Head = RowHead<RowAccess> & Pick<ManagementRow<keyof Places>, "statusOf">;

const accepted = /(^|[\s,])(\*\/\*|application\/(\*|json))/;

/** Upstream content negotiation knows JSON only. */
function checkAccept(call: Call): void {
  const accept = call.headers.accept;
  if (accept !== undefined && accept !== "" && !accepted.test(accept)) {
    throw new SimError("not_acceptable", "Could not satisfy the request Accept header.");
  }
}

function admit(call: Call, desk: ResourceDesk, scope: string | null): Caller {
  checkAccept(call);
  const caller = authenticate(call, desk);
  requireScope(caller, scope);
  return caller;
}

function requestOf<Body>(
  call: Call,
  caller: Caller,
  { path, body: shape }: { path: string; body?: z.ZodType<Body> | undefined },
): Request<Body> {
  return {
    call,
    caller,
    param: (name) => call.params[name] ?? "",
    body() {
      if (!shape) throw new Error(`the row ${path} has no body`);
      return readBody(call, shape);
    },
  };
}

const mostIgnored = 20;

const keysOf = (schema: z.ZodType | undefined): string[] | undefined =>
  schema instanceof z.ZodObject && !(schema.def.catchall instanceof z.ZodUnknown)
    ? Object.keys(schema.shape)
    : undefined;

/** The keys that the row neither reads nor shows; those that it only shows are read-only. */
function ignoredKeys(row: Head, call: Call): string[] {
  const read = keysOf(row.body);
  if (!read) return [];
  const known = new Set(["personal_api_key", ...read, ...(keysOf(row.reply) ?? [])]);
  return Object.keys(sentFields(call)).filter((key) => !known.has(key));
}

function shown(row: Head, call: Call, value: object | undefined): Reply {
  const { status: usual = 200 } = row;
  const status = row.statusOf?.(value) ?? usual;
  // a row that always refuses throws no error: its answer is empty
  if (usual >= 400) call.record.rejected = { reason: "method_not_allowed", detail: row.summary };
  const reply = value === undefined ? empty(status) : json(value, status);
  const ignored = ignoredKeys(row, call).slice(0, mostIgnored).map(uriText);
  return ignored.length === 0 ? reply : withHeaders(reply, ignoredHeader, ignored.join(", "));
}

function enter(
  of: keyof Places,
  call: Call,
  desk: ResourceDesk,
  caller: Caller,
): Partial<CallPlace> & { readonly project?: StoredProject } {
  if (of === "account") return {};
  if (of === "organization") return enterOrganization(call, desk, caller);
  if (of === "current_project") {
    const token = call.query.get("token");
    const project = token === null ? "@current" : String(desk.worlds.projectByKey(token)?.id ?? "");
    call.params = { ...call.params, project_id: project };
  }
  return enterProject(call, desk, caller);
}

const statuses = [400, 401, 403, 404, 405, 406, 408, 413, 415, 429] as const;

/** The endpoints of a row: projects have two addresses, of which the first is the contract's. */
export function managementRow<Of extends keyof Places, Body = never>(
  desk: ResourceDesk,
  row: ManagementRow<Of, Body>,
): Endpoint[] {
  const { of, scope, pace = "crud" } = row.access;
  const endpoint: Endpoint = {
    ...endpointOf(row, "management"),
    ...(scope !== null && scope !== anyScope && { scope }),
    docs: () =>
      docsOf(row, {
        errors: errorReplies({ schema: errorSchema }, ...statuses, ...(row.errors ?? [])),
        isBodyOptional: true,
      }),
    async handle(call) {
      const caller = admit(call, desk, scope);
      const place = enter(of, call, desk, caller);
      desk.throttle.pass(caller.key.id, pace);
      if (place.project !== undefined) call.record.project = place.project.id;
      // `enter` returns what the row's access names, which the compiler cannot follow.
      const request = { ...requestOf(call, caller, row), ...place } as RequestIn<Of, Body>;
      return shown(row, call, (await row.handle(request)) ?? undefined);
    },
  };
  if (of !== "project") return [endpoint];
  const { contract: _, ...environment } = endpoint;
  return [endpoint, { ...environment, path: row.path.replace("/projects/", "/environments/") }];
}

/**
 * What a path answers to the methods it does not have. With a personal key that is a 403: no scope can be
 * derived for an unmapped method, and scopes are checked first. PATCH on a list maps to `:write` and gets
 * its 405, OPTIONS to `:read` and gets a description. Upstream PostHog/posthog posthog/permissions.py.
 */
export function otherMethodOf(desk: ResourceDesk, path: string, scope: string | undefined) {
  const isList = !path.split("/").at(-1)?.startsWith(":");
  const derived = new Map([["OPTIONS", scope?.replace(/:write$/, ":read")]]);
  if (isList) derived.set("PATCH", scope?.replace(/:read$/, ":write"));
  return (call: Call): Reply => {
    const caller = admit(call, desk, derived.get(call.method) ?? null);
    if (path.includes("/:project_id/")) enterProject(call, desk, caller);
    if (path.includes("/:organization_id/")) enterOrganization(call, desk, caller);
    if (call.method === "OPTIONS") {
      return json({ name: path, description: "", renders: ["application/json"], parses: bodyTypes });
    }
    throw new SimError("method_not_allowed", `Method "${call.method}" not allowed.`);
  };
}
