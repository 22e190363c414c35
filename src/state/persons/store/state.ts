import { createApply, groupKey, type KeyHash } from "./apply.ts";
import { createDocuments } from "./documents.ts";
import { createIdTable } from "./ids.ts";
import { type Change, changeIn } from "./line.ts";
import type { LineLog } from "./log.ts";
import { createProjectSlots } from "./projects.ts";
import type { LinePlace } from "./rows.ts";

export function createPersonStoreState(log: LineLog, hash: KeyHash) {
  const projects = createProjectSlots();
  const persons = createDocuments(personReader(log), (person) => person.uuid);
  const groups = createDocuments(groupReader(log), (group) => groupKey(group.type, group.key));
  const ids = createIdTable(persons.table.rows, idReader(log));
  const hashKeys = createDocuments(hashKeysReader(log), ({ uuid }) => uuid);

  function findPerson(project: number, uuid: string): number {
    const slot = projects.find(project);
    return slot === -1 ? -1 : persons.find(slot, hash(project, uuid), uuid);
  }
  function findId(project: number, distinctId: string): number {
    const slot = projects.find(project);
    return slot === -1 ? -1 : ids.find(slot, hash(project, distinctId), distinctId);
  }
  function findHashKeys(project: number, uuid: string): number {
    if (hashKeys.table.rows.length === 0) return -1;
    const slot = projects.find(project);
    return slot === -1 ? -1 : hashKeys.find(slot, hash(project, uuid), uuid);
  }
  function findGroup(project: number, type: number, key: string): number {
    const slot = projects.find(project);
    const name = groupKey(type, key);
    return slot === -1 ? -1 : groups.find(slot, hash(project, name), name);
  }

  const tables = [persons, groups, ids, hashKeys];

  return {
    projects,
    persons,
    groups,
    ids,
    hashKeys,
    /** Rows, or -1. */
    findPerson,
    findId,
    findHashKeys,
    findGroup,
    /** Applies one change, whose line is at the place. @throws Error for an unknown person */
    apply: createApply({ projects, persons, groups, ids, hashKeys }, hash),
    clear() {
      for (const part of [projects, ...tables]) part.clear();
    },
    /** Later changes can be reverted until `settle`. */
    mark() {
      projects.mark();
      for (const { table } of tables) table.mark();
    },
    settle() {
      projects.settle();
      for (const { table } of tables) table.settle();
    },
    /** Reverts the changes since `mark`. */
    revert() {
      for (const part of [projects, ...tables]) part.revert();
    },
  };
}

/** Rows and caches of people.ndjson. */
export type PersonStoreState = ReturnType<typeof createPersonStoreState>;

/** The rows point to a damaged or wrong line: they must be rebuilt from the log. */
export class StaleRows extends Error {
  constructor() {
    super("the rows over people.ndjson do not fit it");
    this.name = "StaleRows";
  }
}

/** The change at a place of the rows. @throws StaleRows */
function changeAt<K extends Change["kind"]>(
  log: LineLog,
  place: LinePlace,
  kinds: readonly K[],
): Extract<Change, { kind: K }> {
  const line = log.lineAt(place.offset, place.length);
  const change = line === undefined ? undefined : changeIn(line);
  const isExpected = (it: Change): it is Extract<Change, { kind: K }> => kinds.some((kind) => kind === it.kind);
  if (change && isExpected(change)) return change;
  throw new StaleRows();
}

const personReader = (log: LineLog) => (place: LinePlace) => changeAt(log, place, ["person"]).person;
const groupReader = (log: LineLog) => (place: LinePlace) => changeAt(log, place, ["group"]).group;
const hashKeysReader = (log: LineLog) => (place: LinePlace) => changeAt(log, place, ["hash_keys"]).keys;
const idReader = (log: LineLog) => (place: LinePlace) => changeAt(log, place, ["id", "personless"]).distinctId;

export const hasPersons = ({ projects }: PersonStoreState): boolean =>
  projects.entries.some(
    ({ persons, ids, personless, groups, groupTypes }) => persons + ids + personless + groups + groupTypes.length > 0,
  );
