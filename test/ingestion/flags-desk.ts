import type { JsonObject } from "../../src/kernel/json.ts";
import type { Desk } from "../../src/model/desk.ts";
import type { Dialect } from "../../src/model/dialect.ts";
import type { People } from "../../src/model/people.ts";
import { emptyWorld, type FeatureFlag, type World } from "../../src/model/world.ts";
import { aProject, deskOf, now } from "./ask.ts";

export { type Asked, aCall, aProject, asker, now } from "./ask.ts";

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

export const aDesk = (world: World = aWorld(), stored: Stored = {}, dialect?: Dialect): Desk =>
  deskOf(world, peopleOf(stored), dialect);
