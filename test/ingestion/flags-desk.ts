import type { JsonObject } from "../../src/kernel/json.ts";
import type { Dialect } from "../../src/model/dialect.ts";
import type { People } from "../../src/model/people.ts";
import type { FeatureFlag, World } from "../../src/model/world.ts";
import { aPersonalApiKey, aProject, aFlag as flagOf, aWorld as worldOf } from "../support/documents.ts";
import { deskOf, now } from "./ask.ts";

export { type Asked, aCall, asker, now } from "./ask.ts";

/** On for everyone, wherever the caller runs. */
export const aFlag = (key: string, more: Partial<FeatureFlag> = {}): FeatureFlag =>
  flagOf(key, { evaluation_runtime: null, ...more });

export const aWorld = (more: Partial<World> = {}): World =>
  worldOf({
    projects: [aProject(), aProject({ id: 2, api_key: "phc_other" })],
    personal_api_keys: [
      aPersonalApiKey({ key: "phx_reader", scopes: ["feature_flag:read"] }),
      aPersonalApiKey({ key: "phx_all", scopes: ["*"] }),
      aPersonalApiKey({ key: "phx_dashboards", scopes: ["dashboard:write"] }),
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

export const aDesk = (world: World = aWorld(), stored: Stored = {}, dialect?: Dialect) =>
  deskOf(world, peopleOf(stored), dialect);
