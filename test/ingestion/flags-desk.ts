import { type Call, callFrom } from "../../src/http/call.ts";
import type { Endpoint } from "../../src/http/endpoint.ts";
import { asSimError, errorReply } from "../../src/http/error-body.ts";
import { headerOf, type Reply } from "../../src/http/reply.ts";
import { createRouter } from "../../src/http/router.ts";
import { fixedClock } from "../../src/kernel/clock.ts";
import { notedOn } from "../../src/kernel/errors.ts";
import { randomIds } from "../../src/kernel/ids.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import type { Desk } from "../../src/model/desk.ts";
import type { Dialect } from "../../src/model/dialect.ts";
import type { People } from "../../src/model/people.ts";
import { emptyWorld, type FeatureFlag, type Project, type World } from "../../src/model/world.ts";

export const now = Date.UTC(2026, 0, 2, 3, 4, 5);

export const aProject = (more: Partial<Project> = {}): Project => ({
  id: 1,
  organization: "org",
  name: "Test",
  api_key: "phc_test",
  secret_api_key: "phs_test",
  remote_config: {},
  adopted: false,
  ...more,
});

export const aFlag = (key: string, more: Partial<FeatureFlag> = {}): FeatureFlag => ({
  id: 7,
  project: 1,
  key,
  name: key,
  active: true,
  deleted: false,
  version: 3,
  ensure_experience_continuity: false,
  has_encrypted_payloads: false,
  is_remote_configuration: false,
  evaluation_runtime: null,
  bucketing_identifier: null,
  filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  ...more,
});

export const aWorld = (more: Partial<World> = {}): World => ({
  ...emptyWorld(),
  projects: [aProject(), aProject({ id: 2, api_key: "phc_other", secret_api_key: "phs_other" })],
  personal_api_keys: [
    { key: "phx_reader", label: "", scopes: ["feature_flag:read"] },
    { key: "phx_all", label: "", scopes: ["*"] },
    { key: "phx_dashboards", label: "", scopes: ["dashboard:write"] },
  ],
  ...more,
});

/** What is stored about people: properties by distinct id, groups by "type/key", names of group types. */
export interface Stored {
  persons?: Record<string, JsonObject>;
  groups?: Record<string, JsonObject>;
  groupTypes?: string[];
}

function readOnly(): never {
  throw new Error("flags never change people");
}

const peopleOf = ({ persons = {}, groups = {}, groupTypes = [] }: Stored): People => ({
  personOf: (project, id) =>
    Object.hasOwn(persons, id)
      ? { project, uuid: id, created_at: now, is_identified: true, version: 1, properties: persons[id] ?? {} }
      : undefined,
  isPersonless: () => false,
  group: (project, type, key) =>
    Object.hasOwn(groups, `${type}/${key}`)
      ? { project, type, key, created_at: now, properties: groups[`${type}/${key}`] ?? {} }
      : undefined,
  groupTypes: () => groupTypes,
  distinctIds: () => [],
  rememberPersonless: readOnly,
  create: readOnly,
  update: readOnly,
  attach: readOnly,
  merge: readOnly,
  saveGroup: readOnly,
  addGroupType: readOnly,
});

export function aDesk(world: World = aWorld(), stored: Stored = {}, dialect: Dialect = "documented"): Desk {
  const clock = fixedClock(now);
  const projectByKey = (key: string) => world.projects.find((project) => project.api_key === key);
  return {
    worlds: {
      current: world,
      projectByKey,
      projectById: (id) => world.projects.find((project) => project.id === id),
      change: (edit) => edit(world),
    },
    people: peopleOf(stored),
    clock,
    ids: randomIds(clock),
    dialect,
    projectFor: projectByKey,
    seen: () => false,
  };
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | object;
}

const bytesOf = (body: Asked["body"]): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
};

export const aCall = (target: string, { method = "GET", headers = {}, body }: Asked): Call =>
  callFrom({
    method,
    target,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: bytesOf(body),
    peer: "127.0.0.1",
    at: now,
    started: 0,
    signal: () => new AbortController().signal,
  });

export interface Answer extends Reply {
  text: string;
  header(name: string): string | undefined;
  /** The body parsed as JSON. */
  json(): unknown;
}

const shown = (reply: Reply, note: unknown): Answer => {
  const text = reply.body?.toString() ?? "";
  return { ...reply, note, text, header: (name) => headerOf(reply, name), json: () => JSON.parse(text) };
};

/** Answers one call as the app does: route, handle, errors in the family's shape. 405 without a row. */
export function asker(endpoints: readonly Endpoint[]) {
  const router = createRouter(endpoints);
  return async (target: string, asked: Asked = {}): Promise<Answer> => {
    const call = aCall(target, asked);
    const match = router.exact(call.path) ?? (await router.search(call.path));
    if (!match) throw new Error(`no row for ${call.path}`);
    const endpoint = match.byMethod.get(call.method);
    if (!endpoint) return shown({ status: 405, headers: [], body: null }, undefined);
    call.params = match.params;
    try {
      const reply = await endpoint.handle(call);
      return shown(reply, reply.note);
    } catch (thrown) {
      return shown(errorReply(endpoint.family, asSimError(thrown)), notedOn(thrown));
    }
  };
}
