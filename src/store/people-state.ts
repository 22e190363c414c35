import { fnv1a } from "../kernel/hash.ts";
import type { Group, Person } from "../model/person.ts";
import { DataFolderError } from "./data-folder.ts";
import { createDocuments, type Documents, type Place } from "./people-documents.ts";
import { createIdTable, type IdTable } from "./people-ids.ts";
import { type Change, readLine } from "./people-line.ts";
import type { LineLog } from "./people-log.ts";
import { createProjectSlots, type ProjectSlots } from "./people-projects.ts";

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
  const ids = createIdTable(persons.table, persons.slot, idReader(log));

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
      const row = findPerson(person.project, person.uuid);
      if (row === -1) projects.entry(slot).persons++;
      persons.put(row, slot, hash(person.project, person.uuid), person, place);
    },
    id({ project, distinctId, uuid }, { offset }) {
      const person = knownPerson(project, uuid);
      const entry = projects.entry(projects.slot(project));
      const row = findId(project, distinctId);
      if (row === -1) entry.ids++;
      else if (ids.person(row) === -1) {
        entry.personless--;
        entry.ids++;
      }
      ids.give(row, hash(project, distinctId), distinctId, offset, person);
    },
    personless({ project, distinctId }, { offset }) {
      if (findId(project, distinctId) !== -1) return;
      const slot = projects.slot(project);
      projects.entry(slot).personless++;
      ids.addPersonless(slot, hash(project, distinctId), distinctId, offset);
    },
    gone({ project, uuid, into }) {
      const from = knownPerson(project, uuid);
      ids.moveAll(from, knownPerson(project, into));
      persons.kill(from);
      projects.entry(projects.slot(project)).persons--;
    },
    group({ group }, place) {
      const slot = projects.slot(group.project);
      const row = findGroup(group.project, group.type, group.key);
      if (row === -1) projects.entry(slot).groups++;
      groups.put(row, slot, hash(group.project, groupKey(group.type, group.key)), group, place);
    },
    group_type({ project, name }) {
      const { groupTypes } = projects.entry(projects.slot(project));
      if (!groupTypes.includes(name)) groupTypes.push(name);
    },
    clear({ project }) {
      const slot = projects.find(project);
      if (slot === -1) return;
      // Ids first: their slot is read from their person's row.
      for (const table of [ids, groups, persons]) killSlot(table, slot);
      Object.assign(projects.entry(slot), { persons: 0, ids: 0, personless: 0, groups: 0, groupTypes: [] });
    },
  };

  function killSlot(of: IdTable | Documents<Person> | Documents<Group>, slot: number): void {
    for (let row = 0; row < of.table.length; row++) {
      if (of.table.isAlive(row) && of.slot(row) === slot) of.table.kill(row);
    }
  }

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
/** Nearly every id line fits; a longer one is read twice. */
const idLength = 192;
const idReader = (log: LineLog) => (offset: number) =>
  changeAt(log, { offset, length: idLength }, ["id", "personless"]).distinctId;
