import { z } from "zod";
import type { Call } from "../http/call.ts";
import { ignoredHeader } from "../http/cors.ts";
import type { Endpoint, EndpointDocs, JsonSchema, QueryParameter } from "../http/endpoint.ts";
import { errorReplies, errorSchema } from "../http/error-schemas.ts";
import { empty, json, type Reply, withHeaders } from "../http/reply.ts";
import { SimError, withNote } from "../kernel/errors.ts";
import type { Note } from "../model/traffic.ts";
import type { Project } from "../model/world.ts";
import {
  anyScope,
  authenticate,
  type Caller,
  enterOrganization,
  enterProject,
  insufficientLevel,
  type Level,
  type Place,
  requireScope,
} from "./access.ts";
import { bodyTypes, fieldsOf, readBody } from "./body.ts";
import type { ResourceDesk } from "./desk.ts";
import type { Pace } from "./throttle.ts";

/** One row of the management API, without its handler. */
interface RowHead<Body> {
  methods: readonly ("GET" | "POST" | "PATCH" | "PUT" | "DELETE")[];
  /** Without a trailing slash; below the root that the kind of row has. */
  path: string;
  summary: string;
  /** The contract's row, e.g. `GET /api/organizations`. */
  contract?: string;
  /** Scope that the key needs; null: the service maps none, so that no key is let in; `anyScope`: any key is. */
  scope: string | null;
  /** Status of the answer, 200 unless told. What is returned is its body; `undefined` leaves it empty. */
  status?: number;
  query?: readonly QueryParameter[];
  /** What `request.body()` reads. */
  body?: z.ZodType<Body>;
  /** Shape of the answer; absent: it has no body. */
  reply?: z.ZodType;
  pace?: Pace;
}

/** A call that may pass, as handlers see it. */
export interface Request<Body> {
  readonly call: Call;
  readonly caller: Caller;
  /** A parameter of the path, decoded. */
  param(name: string): string;
  /** The checked body; read it after the objects of the path were looked up, as the service does. @throws SimError */
  body(): Body;
}

type Answer = object | undefined | Promise<object | undefined>;

/** About the caller, or all that the caller may see. */
export interface AccountRow<Body> extends RowHead<Body> {
  handle(request: Request<Body>): Answer;
}

/** Below `/api/organizations/:organization_id`. */
export interface OrganizationRow<Body> extends RowHead<Body> {
  /** Lowest level of the caller. */
  minimum?: Level;
  handle(request: Request<Body> & Place): Answer;
}

/** Below `/api/projects/:project_id`, and the same below `/api/environments/:project_id`. */
export interface ProjectRow<Body> extends RowHead<Body> {
  handle(request: Request<Body> & Place & { readonly project: Project }): Answer;
}

const accepted = /(^|[\s,])(\*\/\*|application\/(\*|json))/;

/** Upstream content negotiation knows JSON only. */
function checkAccept(call: Call): void {
  const accept = call.headers.accept;
  if (accept !== undefined && accept !== "" && !accepted.test(accept)) {
    throw new SimError("not_acceptable", "Could not satisfy the request Accept header.");
  }
}

/** Who calls, with a key that has the scope. */
function admit(call: Call, desk: ResourceDesk, scope: string | null): Caller {
  checkAccept(call);
  const caller = authenticate(call, desk);
  requireScope(caller, scope);
  return caller;
}

function requestOf<Body>(call: Call, caller: Caller, row: RowHead<Body>): Request<Body> {
  const schema = row.body;
  return {
    call,
    caller,
    param: (name) => call.params[name] ?? "",
    body() {
      if (!schema) throw new Error(`the row ${row.path} has no body`);
      return readBody(call, schema);
    },
  };
}

const mostIgnored = 20;

const keysOf = (schema: z.ZodType | undefined): string[] | undefined =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined;

/** The keys that the row neither reads nor shows; those that it only shows are read-only. */
function ignoredKeys(row: RowHead<never>, call: Call): string[] {
  const read = keysOf(row.body);
  if (!read) return [];
  const known = new Set(["personal_api_key", ...read, ...(keysOf(row.reply) ?? [])]);
  return Object.keys(fieldsOf(call)).filter((key) => !known.has(key));
}

function shown(row: RowHead<never>, call: Call, value: object | undefined, note: Note): Reply<Note> {
  const status = row.status ?? 200;
  // A row that always refuses has no error to tell: its answer is empty.
  if (status >= 400) note.rejected = { reason: "method_not_allowed", detail: row.summary };
  const reply = { ...(value === undefined ? empty(status) : json(value, status)), note };
  const ignored = ignoredKeys(row, call).slice(0, mostIgnored).map(encodeURIComponent);
  return ignored.length === 0 ? reply : withHeaders(reply, ignoredHeader, ignored.join(", "));
}

/** Runs a handler; the journal learns the project, whatever comes of the call. */
async function answer(
  row: RowHead<never>,
  call: Call,
  note: Note,
  handle: () => Answer,
): Promise<Reply<Note>> {
  try {
    return shown(row, call, await handle(), note);
  } catch (thrown) {
    throw thrown instanceof Error ? withNote(thrown, note) : thrown;
  }
}

/** JSON Schema of a field or an answer, without the dialect's name. */
export function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

const docsOf = (row: RowHead<never>): EndpointDocs => ({
  ...(row.query && { query: row.query }),
  ...(row.body && {
    body: { type: "application/json", schema: jsonSchemaOf(row.body, "input"), isOptional: true },
  }),
  replies: {
    ...errorReplies({ schema: errorSchema }, 400, 401, 403, 404, 405, 406, 408, 413, 415, 429),
    // Last: the answer of a row may be one of those.
    [row.status ?? 200]: {
      description: row.summary,
      ...(row.reply && { schema: jsonSchemaOf(row.reply, "output") }),
    },
  },
});

const endpoint = (row: RowHead<never>, path: string, handle: Endpoint["handle"]): Endpoint => ({
  methods: row.methods,
  path,
  family: "management",
  summary: row.summary,
  ...(row.contract !== undefined && { contract: row.contract }),
  ...(row.scope !== null && row.scope !== anyScope && { scope: row.scope }),
  docs: () => docsOf(row),
  handle,
});

/** An endpoint whose path says it all. */
export const accountEndpoint = <Body = never>(desk: ResourceDesk, row: AccountRow<Body>): Endpoint =>
  endpoint(row as RowHead<never>, row.path, (call) => {
    const caller = admit(call, desk, row.scope);
    desk.throttle.pass(caller.key.id, row.pace ?? "crud");
    return answer(row as RowHead<never>, call, {}, () => row.handle(requestOf(call, caller, row)));
  });

/** An endpoint of an organization; the path starts below `/api/organizations/:organization_id`. */
export const organizationEndpoint = <Body = never>(
  desk: ResourceDesk,
  row: OrganizationRow<Body>,
): Endpoint =>
  endpoint(row as RowHead<never>, `/api/organizations/:organization_id${row.path}`, (call) => {
    const caller = admit(call, desk, row.scope);
    const place = enterOrganization(call, desk, caller);
    if (place.level < (row.minimum ?? 0)) throw insufficientLevel();
    desk.throttle.pass(caller.key.id, row.pace ?? "crud");
    return answer(row as RowHead<never>, call, {}, () =>
      row.handle({ ...requestOf(call, caller, row), ...place }),
    );
  });

const projectRoots = ["/api/projects/:project_id", "/api/environments/:project_id"];

function inProject<Body>(call: Call, desk: ResourceDesk, row: ProjectRow<Body>): Promise<Reply<Note>> {
  const caller = admit(call, desk, row.scope);
  const place = enterProject(call, desk, caller);
  desk.throttle.pass(caller.key.id, row.pace ?? "crud");
  const note: Note = { project: place.project.id };
  return answer(row as RowHead<never>, call, note, () =>
    row.handle({ ...requestOf(call, caller, row), ...place }),
  );
}

/** An endpoint of a project, at both addresses that it has; only the first stands for the contract's row. */
export const projectEndpoints = <Body = never>(desk: ResourceDesk, row: ProjectRow<Body>): Endpoint[] =>
  projectRoots.map((root, i) => {
    const { contract, ...rest } = row;
    const head = (i === 0 ? row : rest) as RowHead<never>;
    return endpoint(head, `${root}${row.path}`, (call) => inProject(call, desk, row));
  });

/**
 * An endpoint from before projects had URLs: its path names none. It is about the project of `?token=`, else
 * about the caller's current one. Upstream PostHog/posthog posthog/api/routing.py.
 */
export const legacyProjectEndpoint = <Body = never>(desk: ResourceDesk, row: ProjectRow<Body>): Endpoint =>
  endpoint(row as RowHead<never>, `/api${row.path}`, (call) => {
    const token = call.query.get("token");
    const project = token === null ? "@current" : String(desk.worlds.projectByKey(token)?.id ?? "");
    call.params = { ...call.params, project_id: project };
    return inProject(call, desk, row);
  });

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
      return json({
        name: path,
        description: "",
        renders: ["application/json"],
        parses: bodyTypes,
      });
    }
    throw new SimError("method_not_allowed", `Method "${call.method}" not allowed.`);
  };
}
