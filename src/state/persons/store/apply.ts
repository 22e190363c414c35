import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Group, Person } from "../person.ts";
import type { PersonDocuments } from "./documents.ts";
import type { IdTable } from "./ids.ts";
import type { Change, HashKeys } from "./line.ts";
import type { ProjectSlots } from "./projects.ts";
import type { LinePlace, LineRows } from "./rows.ts";

/** Hash of a key inside one project. */
export type KeyHash = (project: number, key: string) => number;

/** The same name in two projects has two hashes. */
export const keyHash: KeyHash = (project, key) => fnv1a(key, Math.imul(project ^ 0x9e3779b9, 0x01000193));

export const groupKey = (type: number, key: string): string => `${type}:${key}`;

interface Tables {
  projects: ProjectSlots;
  persons: PersonDocuments<Person>;
  groups: PersonDocuments<Group>;
  ids: IdTable;
  hashKeys: PersonDocuments<HashKeys>;
}

type Appliers = { [K in Change["kind"]]: (change: Extract<Change, { kind: K }>, place: LinePlace) => void };

/** Applies changes in order. @throws Error for a change of an unknown person */
export function createApply(tables: Tables, hash: KeyHash): (change: Change, place: LinePlace) => void {
  const appliers: Appliers = { ...personAppliers(tables, hash), ...otherAppliers(tables, hash) };
  // the applier has the kind of the change, which the compiler cannot infer
  return (change, place) => (appliers[change.kind] as (change: Change, place: LinePlace) => void)(change, place);
}

type PersonKind = "person" | "id" | "personless" | "gone" | "removed" | "hash_keys";

function personAppliers({ projects, persons, ids, hashKeys }: Tables, hash: KeyHash): Pick<Appliers, PersonKind> {
  function knownPerson(project: number, uuid: string): number {
    // an unknown project has the slot -1, and no row has that
    const row = persons.find(projects.find(project), hash(project, uuid), uuid);
    if (row === -1) throw new Error(`project ${project} has no person ${uuid}`);
    return row;
  }

  function hashKeysRow(project: number, uuid: string): number {
    return hashKeys.find(projects.slot(project), hash(project, uuid), uuid);
  }

  function forgetHashKeys(project: number, uuid: string): void {
    const row = hashKeysRow(project, uuid);
    if (row !== -1) hashKeys.kill(row);
  }

  return {
    person({ person }, place) {
      const slot = projects.slot(person.project);
      const key = hash(person.project, person.uuid);
      const row = persons.find(slot, key, person.uuid);
      if (row === -1) projects.entry(slot).persons++;
      persons.put(row, slot, key, person, place);
    },
    id({ project, distinctId, uuid }, place) {
      const person = knownPerson(project, uuid);
      const slot = projects.slot(project);
      const counts = projects.entry(slot);
      const key = hash(project, distinctId);
      const row = ids.find(slot, key, distinctId);
      const wasPersonless = row !== -1 && ids.person(row) === -1;
      if (row === -1 || wasPersonless) counts.ids++;
      if (wasPersonless) counts.personless--;
      ids.give(row, { slot, hash: key, distinctId, place }, person);
    },
    personless({ project, distinctId }, place) {
      const slot = projects.slot(project);
      const key = hash(project, distinctId);
      if (ids.find(slot, key, distinctId) !== -1) return;
      projects.entry(slot).personless++;
      ids.addPersonless({ slot, hash: key, distinctId, place });
    },
    hash_keys({ keys }, place) {
      const { project, uuid } = keys;
      knownPerson(project, uuid);
      const row = hashKeysRow(project, uuid);
      hashKeys.put(row, projects.slot(project), hash(project, uuid), keys, place);
    },
    gone({ project, uuid, into }) {
      if (uuid === into) throw new Error(`person ${uuid} cannot be merged into itself`);
      const from = knownPerson(project, uuid);
      ids.moveAll(from, knownPerson(project, into));
      persons.kill(from);
      forgetHashKeys(project, uuid);
      projects.entry(projects.slot(project)).persons--;
    },
    removed({ project, uuid }) {
      const row = knownPerson(project, uuid);
      const counts = projects.entry(projects.slot(project));
      for (const id of ids.rowsOf(row)) {
        ids.kill(id);
        counts.ids--;
      }
      persons.kill(row);
      forgetHashKeys(project, uuid);
      counts.persons--;
    },
  };
}

function otherAppliers(
  { projects, persons, groups, ids, hashKeys }: Tables,
  hash: KeyHash,
): Pick<Appliers, Exclude<Change["kind"], PersonKind>> {
  return {
    group({ group }, place) {
      const slot = projects.slot(group.project);
      const name = groupKey(group.type, group.key);
      const key = hash(group.project, name);
      const row = groups.find(slot, key, name);
      if (row === -1) projects.entry(slot).groups++;
      groups.put(row, slot, key, group, place);
    },
    group_type({ project, name }) {
      const entry = projects.entry(projects.slot(project));
      if (!entry.groupTypes.includes(name)) entry.groupTypes = [...entry.groupTypes, name];
    },
    clear({ project }) {
      const slot = projects.find(project);
      if (slot === -1) return;
      for (const part of [ids, groups, persons, hashKeys]) killSlot(part, slot);
      Object.assign(projects.entry(slot), { persons: 0, ids: 0, personless: 0, groups: 0, groupTypes: [] });
    },
  };
}

function killSlot({ table, kill }: { table: LineRows; kill(row: number): void }, slot: number): void {
  for (let row = 0; row < table.rows.length; row++) {
    if (table.isAlive(row) && table.slot(row) === slot) kill(row);
  }
}
