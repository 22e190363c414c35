import type { People } from "../../src/model/people.ts";
import type { Group, Person } from "../../src/model/person.ts";

/** People in plain Maps: the shortest thing that keeps the interface's promises. */
export function mapPeople(): People & { writes(): number } {
  const persons = new Map<string, Person>();
  const owners = new Map<string, string>();
  const personless = new Set<string>();
  const groups = new Map<string, Group>();
  const types = new Map<number, string[]>();
  const at = (...parts: unknown[]) => JSON.stringify(parts);
  let writes = 0;
  const put = (person: Person) => {
    writes++;
    persons.set(at(person.project, person.uuid), person);
  };
  const own = (person: Person, id: string) => owners.set(at(person.project, id), person.uuid);
  return {
    writes: () => writes,
    personOf(project, id) {
      const uuid = owners.get(at(project, id));
      return uuid === undefined ? undefined : persons.get(at(project, uuid));
    },
    isPersonless: (project, id) => personless.has(at(project, id)),
    rememberPersonless: (project, id) => void personless.add(at(project, id)),
    create(person, ids) {
      put(person);
      for (const id of ids) own(person, id);
    },
    update: put,
    attach: (person, id) => void own(person, id),
    merge(from, into) {
      put(into);
      for (const [id, uuid] of owners) if (uuid === from.uuid) owners.set(id, into.uuid);
      persons.delete(at(from.project, from.uuid));
    },
    distinctIds: (person) =>
      [...owners].filter(([, uuid]) => uuid === person.uuid).map(([id]) => JSON.parse(id)[1]),
    group: (project, type, key) => groups.get(at(project, type, key)),
    saveGroup(group) {
      writes++;
      groups.set(at(group.project, group.type, group.key), group);
    },
    groupTypes: (project) => types.get(project) ?? [],
    addGroupType: (project, name) => void types.set(project, [...(types.get(project) ?? []), name]),
  };
}
