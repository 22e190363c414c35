import type { JsonObject } from "../../../src/kernel/base/json.ts";
import type { Group, Person } from "../../../src/state/persons/person.ts";
import type { PersonStore } from "../../../src/state/persons/person-store.ts";

/** A person whose uuid ends with the number. */
export const person = (n: number, properties: JsonObject = {}, project = 1): Person => ({
  project,
  uuid: `01900000-0000-5000-8000-${String(n).padStart(12, "0")}`,
  created_at: 1_700_000_000_000 + n,
  is_identified: false,
  version: 0,
  properties,
});

export const group = (type: number, key: string, properties: JsonObject = {}, project = 1): Group => ({
  project,
  type,
  key,
  created_at: 1_700_000_000_000,
  properties,
});

/** All that a store says about itself, as one value. */
export async function contentOf(people: PersonStore) {
  const persons = await people.persons({ limit: 1_000 });
  const groups = await people.groups({ limit: 1_000 });
  return {
    persons: persons.results,
    groups: groups.results,
    types: [people.groupTypes(1), people.groupTypes(2)],
    counts: [people.counts(), people.counts(1), people.counts(2)],
  };
}
