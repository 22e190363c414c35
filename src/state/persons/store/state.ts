import { fnv1a } from "../../../kernel/base/hash.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import type { Group, Person } from "../person.ts";
import { IdTable, PersonDocuments } from "./documents.ts";
import { type Change, changeIn, groupTypeLine, type HashKeys, idLine } from "./line.ts";
import { LineLog } from "./log.ts";
import { type LinePlace, type LineRows, ProjectSlots } from "./rows.ts";

export type KeyHash = (project: number, key: string) => number;

/** The same name in two projects has two hashes. */
export const keyHash: KeyHash = (project, key) => fnv1a(key, Math.imul(project ^ 0x9e3779b9, 0x01000193));

const groupKey = (type: number, key: string): string => `${type}:${key}`;

/** The rows point to a damaged or wrong line: they must be rebuilt from the log. */
export class StaleRows extends Error {
  constructor() {
    super("the rows over people.ndjson do not fit it");
    this.name = "StaleRows";
  }
}

type Kind = Change["kind"];
type OfKind<K extends Kind> = Extract<Change, { kind: K }>;

export class PersonStoreState {
  readonly projects = new ProjectSlots();
  readonly persons: PersonDocuments<Person>;
  readonly groups: PersonDocuments<Group>;
  readonly ids: IdTable;
  readonly hashKeys: PersonDocuments<HashKeys>;
  readonly #tables: readonly (PersonDocuments<Person> | PersonDocuments<Group> | PersonDocuments<HashKeys> | IdTable)[];
  readonly #log: LineLog;
  readonly #hash: KeyHash;

  constructor(log: LineLog, hash: KeyHash) {
    this.#log = log;
    this.#hash = hash;
    this.persons = new PersonDocuments(
      (place) => this.#changeAt(place, "person").person,
      (person) => person.uuid,
    );
    this.groups = new PersonDocuments(
      (place) => this.#changeAt(place, "group").group,
      (group) => groupKey(group.type, group.key),
    );
    this.ids = new IdTable(this.persons.table.rows, (place) => this.#changeAt(place, "id", "personless").distinctId);
    this.hashKeys = new PersonDocuments(
      (place) => this.#changeAt(place, "hash_keys").keys,
      ({ uuid }) => uuid,
    );
    this.#tables = [this.persons, this.groups, this.ids, this.hashKeys];
  }

  #changeAt<K extends Kind>({ offset, length }: LinePlace, ...kinds: readonly K[]): OfKind<K> {
    const line = this.#log.lineAt(offset, length);
    const change = line === undefined ? undefined : changeIn(line);
    const isExpected = (it: Change): it is OfKind<K> => kinds.some((kind) => kind === it.kind);
    if (change && isExpected(change)) return change;
    throw new StaleRows();
  }

  /** Row of a person, or -1. An unknown project has the slot -1, and no row has that. */
  findPerson(project: number, uuid: string): number {
    return this.persons.find(this.projects.find(project), this.#hash(project, uuid), uuid);
  }

  findId(project: number, distinctId: string): number {
    return this.ids.find(this.projects.find(project), this.#hash(project, distinctId), distinctId);
  }

  ownerOf(project: number, distinctId: string): number {
    const row = this.findId(project, distinctId);
    return row === -1 ? -1 : this.ids.person(row);
  }

  findHashKeys(project: number, uuid: string): number {
    if (this.hashKeys.table.rows.length === 0) return -1;
    return this.hashKeys.find(this.projects.find(project), this.#hash(project, uuid), uuid);
  }

  findGroup(project: number, type: number, key: string): number {
    const name = groupKey(type, key);
    return this.groups.find(this.projects.find(project), this.#hash(project, name), name);
  }

  #knownPerson(project: number, uuid: string): number {
    const row = this.findPerson(project, uuid);
    if (row === -1) throw new Error(`project ${project} has no person ${uuid}`);
    return row;
  }

  /** Applies one change, whose line is at the place. @throws Error for an unknown person */
  apply(change: Change, place: LinePlace): void {
    // the applier has the kind of the change, which the compiler cannot infer
    (this.#appliers[change.kind] as (change: Change, place: LinePlace) => void)(change, place);
  }

  readonly #appliers: { [K in Kind]: (change: OfKind<K>, place: LinePlace) => void } = {
    person: ({ person }, place) => {
      const { project, uuid } = person;
      const slot = this.projects.slot(project);
      const hash = this.#hash(project, uuid);
      const row = this.persons.find(slot, hash, uuid);
      if (row === -1) this.projects.entry(slot).persons++;
      this.persons.put(row, slot, hash, person, place);
    },
    id: ({ project, distinctId, uuid }, place) => {
      const person = this.#knownPerson(project, uuid);
      const slot = this.projects.slot(project);
      const counts = this.projects.entry(slot);
      const hash = this.#hash(project, distinctId);
      const row = this.ids.find(slot, hash, distinctId);
      const wasPersonless = row !== -1 && this.ids.person(row) === -1;
      if (row === -1 || wasPersonless) counts.ids++;
      if (wasPersonless) counts.personless--;
      this.ids.give(row, { slot, hash, distinctId, place }, person);
    },
    personless: ({ project, distinctId }, place) => {
      const slot = this.projects.slot(project);
      const hash = this.#hash(project, distinctId);
      if (this.ids.find(slot, hash, distinctId) !== -1) return;
      this.projects.entry(slot).personless++;
      this.ids.addPersonless({ slot, hash, distinctId, place });
    },
    hash_keys: ({ keys }, place) => {
      const { project, uuid } = keys;
      this.#knownPerson(project, uuid);
      const row = this.findHashKeys(project, uuid);
      this.hashKeys.put(row, this.projects.slot(project), this.#hash(project, uuid), keys, place);
    },
    gone: ({ project, uuid, into }) => {
      if (uuid === into) throw new Error(`person ${uuid} cannot be merged into itself`);
      const from = this.#knownPerson(project, uuid);
      this.ids.moveAll(from, this.#knownPerson(project, into));
      this.#killPerson(from, project, uuid);
    },
    removed: ({ project, uuid }) => {
      const row = this.#knownPerson(project, uuid);
      const counts = this.projects.entry(this.projects.slot(project));
      for (const id of this.ids.rowsOf(row)) {
        this.ids.kill(id);
        counts.ids--;
      }
      this.#killPerson(row, project, uuid);
    },
    group: ({ group }, place) => {
      const { project, type, key } = group;
      const slot = this.projects.slot(project);
      const row = this.findGroup(project, type, key);
      if (row === -1) this.projects.entry(slot).groups++;
      this.groups.put(row, slot, this.#hash(project, groupKey(type, key)), group, place);
    },
    group_type: ({ project, name }) => {
      const entry = this.projects.entry(this.projects.slot(project));
      if (!entry.groupTypes.includes(name)) entry.groupTypes = [...entry.groupTypes, name];
    },
    clear: ({ project }) => {
      const slot = this.projects.find(project);
      if (slot === -1) return;
      for (const it of this.#tables) for (const row of it.table.alive(slot)) it.kill(row);
      Object.assign(this.projects.entry(slot), { persons: 0, ids: 0, personless: 0, groups: 0, groupTypes: [] });
    },
  };

  #killPerson(row: number, project: number, uuid: string): void {
    this.persons.kill(row);
    const keys = this.findHashKeys(project, uuid);
    if (keys !== -1) this.hashKeys.kill(keys);
    this.projects.entry(this.projects.slot(project)).persons--;
  }

  clear(): void {
    for (const part of [this.projects, ...this.#tables]) part.clear();
  }

  mark(): void {
    this.projects.mark();
    for (const { table } of this.#tables) table.mark();
  }

  settle(): void {
    this.projects.settle();
    for (const { table } of this.#tables) table.settle();
  }

  revert(): void {
    for (const part of [this.projects, ...this.#tables]) part.revert();
  }

  /** Bytes of the lines that are not superseded. */
  get living(): number {
    return this.#tables.reduce((sum, { table }) => sum + table.living, 0);
  }
}

export const personsIn = ({ projects }: PersonStoreState): number =>
  projects.entries.reduce((sum, { persons }) => sum + persons, 0);

export const hasPersons = ({ projects }: PersonStoreState): boolean =>
  projects.entries.some(
    ({ persons, ids, personless, groups, groupTypes }) => persons + ids + personless + groups + groupTypes.length > 0,
  );

/** Superseded bytes for each current one from which a rewrite is worthwhile. */
const tolerated = 4;

export const isWasteful = (state: PersonStoreState, size: number): boolean => size > (tolerated + 1) * state.living;

const piece = 1024 * 1024;

/** Copies the current lines: each person before its ids, then the rest. */
export function compactInto(target: Bytes, state: PersonStoreState, log: LineLog): void {
  const copy = new LineLog(target, piece);
  const { persons, groups, ids, hashKeys, projects } = state;
  const copyLine = (table: LineRows, row: number) => {
    const { offset, length } = table.place(row);
    const line = log.lineAt(offset, length);
    if (line === undefined) throw new StaleRows();
    copy.append(line);
  };
  for (const row of persons.table.alive()) {
    copyLine(persons.table, row);
    // new lines: a merge moves ids without changing their lines
    const { project, uuid } = persons.at(row);
    for (const id of ids.textsOf(row)) copy.append(idLine(project, id, uuid));
  }
  for (const row of ids.table.alive()) if (ids.person(row) === -1) copyLine(ids.table, row);
  for (const { table } of [hashKeys, groups]) for (const row of table.alive()) copyLine(table, row);
  for (const { project, groupTypes } of projects.entries)
    for (const name of groupTypes) copy.append(groupTypeLine(project, name));
  copy.flush();
}
