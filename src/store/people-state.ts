import { fnv1a } from "../kernel/hash.ts";
import type { Group, Person } from "../model/person.ts";
import { DataFolderError } from "./data-folder.ts";
import { createDocuments, type Documents } from "./people-documents.ts";
import { createIdTable, type IdTable } from "./people-ids.ts";
import { type Change, readLine } from "./people-line.ts";
import type { LineLog } from "./people-log.ts";
import { createProjectSlots, type ProjectSlots } from "./people-projects.ts";
import type { LineRows, Place } from "./people-rows.ts";

/** Hash of a key inside one project. */
export type KeyHash = (project: number, key: string) => number;

/** The same name in two projects has two hashes. */
export const keyHash: KeyHash = (project, key) =>
  fnv1a(key, Math.imul(project ^ 0x9e3779b9, 0x01000193) >>> 0);

/** Rows and caches over people.ndjson: what a line that was just written, or read back, means. */
export interface PeopleState {
  readonly projects: ProjectSlots;
  readonly persons: Documents<Person>;
  readonly groups: Documents<Group>;
  readonly ids: IdTable;
  /** Rows, or -1. */
  findPerson(project: number, uuid: string): number;
  findId(project: number, distinctId: string): number;
  findGroup(project: number, type: number, key: string): number;
  /** Takes over one change, whose line is at the place. @throws Error when it refers to nobody. */
  apply(change: Change, place: Place): void;
  clear(): void;
}

const groupKey = (type: number, key: string): string => `${type}:${key}`;

export function createPeopleState(log: LineLog, hash: KeyHash): PeopleState {
  const projects = createProjectSlots();
  const persons = createDocuments(personReader(log), (person) => person.uuid);
  const groups = createDocuments(groupReader(log), (group) => groupKey(group.type, group.key));
  const ids = createIdTable(persons.table.rows, idReader(log));

  function findPerson(project: number, uuid: string): number {
    const slot = projects.find(project);
    return slot === -1 ? -1 : persons.find(slot, hash(project, uuid), uuid);
  }
  function findId(project: number, distinctId: string): number {
    const slot = projects.find(project);
    return slot === -1 ? -1 : ids.find(slot, hash(project, distinctId), distinctId);
  }
  function findGroup(project: number, type: number, key: string): number {
    const slot = projects.find(project);
    const name = groupKey(type, key);
    return slot === -1 ? -1 : groups.find(slot, hash(project, name), name);
  }

  function knownPerson(project: number, uuid: string): number {
    const row = findPerson(project, uuid);
    if (row === -1) throw new Error(`project ${project} has no person ${uuid}`);
    return row;
  }

  const appliers: { [K in Change["kind"]]: (change: Extract<Change, { kind: K }>, place: Place) => void } = {
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
      if (row === -1 || ids.person(row) === -1) counts.ids++;
      if (row !== -1 && ids.person(row) === -1) counts.personless--;
      ids.give(row, { slot, hash: key, distinctId, place }, person);
    },
    personless({ project, distinctId }, place) {
      if (findId(project, distinctId) !== -1) return;
      const slot = projects.slot(project);
      projects.entry(slot).personless++;
      ids.addPersonless({ slot, hash: hash(project, distinctId), distinctId, place });
    },
    gone({ project, uuid, into }) {
      const from = knownPerson(project, uuid);
      ids.moveAll(from, knownPerson(project, into));
      persons.kill(from);
      projects.entry(projects.slot(project)).persons--;
    },
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
      for (const part of [ids, groups, persons]) killSlot(part, slot);
      Object.assign(projects.entry(slot), { persons: 0, ids: 0, personless: 0, groups: 0, groupTypes: [] });
    },
  };

  return {
    projects,
    persons,
    groups,
    ids,
    findPerson,
    findId,
    findGroup,
    // One row of the table fits the change by its kind, which the compiler cannot follow.
    apply: (change, place) =>
      (appliers[change.kind] as (change: Change, place: Place) => void)(change, place),
    clear() {
      for (const part of [projects, persons, groups, ids]) part.clear();
    },
  };
}

function killSlot({ table, kill }: { table: LineRows; kill(row: number): void }, slot: number): void {
  for (let row = 0; row < table.rows.length; row++) {
    if (table.isAlive(row) && table.slot(row) === slot) kill(row);
  }
}

/** Reads the line at a place that the rows point to; anything else there means that they are not of this file. */
function changeAt<K extends Change["kind"]>(
  log: LineLog,
  place: Place,
  kinds: readonly K[],
): Extract<Change, { kind: K }> {
  let cause: unknown;
  try {
    const change = readLine(log.lineAt(place.offset, place.length));
    const isExpected = (it: Change): it is Extract<Change, { kind: K }> =>
      kinds.some((kind) => kind === it.kind);
    if (isExpected(change)) return change;
  } catch (error) {
    cause = error;
  }
  throw new DataFolderError("people.idx does not fit people.ndjson, which was changed by something else", {
    file: "people.idx",
    hint: "stop the sim and delete people.idx; it is made anew at the next start",
    cause,
  });
}

const personReader = (log: LineLog) => (place: Place) => changeAt(log, place, ["person"]).person;
const groupReader = (log: LineLog) => (place: Place) => changeAt(log, place, ["group"]).group;
const idReader = (log: LineLog) => (place: Place) => changeAt(log, place, ["id", "personless"]).distinctId;
