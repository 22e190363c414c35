import { uuidV5 } from "../../../../src/kernel/base/ids.ts";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { createRulesets } from "../../../../src/service/flags/rulesets.ts";
import type { Dialect } from "../../../../src/state/documents/dialect.ts";
import type { FeatureFlag, World } from "../../../../src/state/documents/world.ts";
import { noPlaces, type Places } from "../../../../src/state/journal/places.ts";
import { openPersonStore, type PersonStore } from "../../../../src/state/persons/person-store.ts";
import {
  aMembership,
  aPersonalApiKey,
  aProject,
  aFlag as flagOf,
  aWorld as worldOf,
} from "../../../support/documents.ts";
import { deskOf, now } from "../../capture/endpoint/ask.ts";

export { type Asked, aCall, asker, now } from "../../capture/endpoint/ask.ts";

/** On for everyone, wherever the caller runs. */
export const aFlag = (key: string, more: Partial<FeatureFlag> = {}): FeatureFlag =>
  flagOf(key, { evaluation_runtime: null, ...more });

export const aWorld = (more: Partial<World> = {}): World =>
  worldOf({
    projects: [aProject(), aProject({ id: 2, api_key: "phc_other" })],
    memberships: [aMembership()],
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

/** The person's uuid is made from its first id. */
const uuidOf = (id: string) => uuidV5("5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01", id);

/** People in memory, all of project 1. */
function personStoreOf({ persons = {}, groups = {}, groupTypes = [] }: Stored): PersonStore {
  const people = openPersonStore();
  for (const name of groupTypes) people.addGroupType(1, name);
  for (const [id, properties] of Object.entries(persons)) {
    const facts = { project: 1, uuid: uuidOf(id), created_at: now, is_identified: true, version: 1 };
    people.create({ ...facts, properties }, [id]);
  }
  for (const [name, properties] of Object.entries(groups)) {
    const [type = "", key = ""] = name.split("/");
    people.saveGroup({ project: 1, type: Number(type), key, created_at: now, properties });
  }
  return people;
}

/** A desk, its rulesets, and its people. */
export async function aDesk(
  world: World = aWorld(),
  stored: Stored = {},
  dialect?: Dialect,
  places: Places = noPlaces,
) {
  const people = personStoreOf(stored);
  const desk = await deskOf(world, people, dialect, places);
  return { ...desk, people, rulesets: createRulesets(desk) };
}
