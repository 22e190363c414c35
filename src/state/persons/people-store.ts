import type { Bytes } from "../../kernel/store/bytes.ts";
import type { SwitchPart } from "../../kernel/store/switch.ts";
import type { Unit } from "../../kernel/store/unit.ts";
import type { People } from "./people.ts";
import type { Person } from "./person.ts";
import { keyHash } from "./store/apply.ts";
import { folderHome, memoryHome } from "./store/home.ts";
import {
  type Change,
  clearLine,
  goneLine,
  groupLine,
  groupTypeLine,
  type HashKeys,
  hashKeysLine,
  idLine,
  personLine,
  personlessLine,
  removedLine,
} from "./store/line.ts";
import type { ProjectEntry } from "./store/projects.ts";
import { createQueries, type Queries } from "./store/query.ts";
import { openShelf, type PeopleFiles, type ShelfOptions } from "./store/shelf.ts";
import type { PeopleState } from "./store/state.ts";

export interface PeopleOptions extends Partial<ShelfOptions> {
  /** Data folder for people.ndjson and people.idx; without it everything stays in memory. */
  folder?: string;
}

/** Numbers of stored things; `ids` have a person, `personless` ones do not. */
type PeopleCounts = Omit<ProjectEntry, "project" | "groupTypes">;

/** Stored people and queries. Changes are visible at once; `unit.write` writes them to the disk. */
export interface PeopleStore extends People, Queries {
  /** Removes a stored person, if it exists, and its ids. */
  remove(person: Pick<Person, "project" | "uuid">): void;
  counts(project?: number): PeopleCounts;
  /** Calls the listener with each change, before it is on the disk; undefined if anything may have changed. */
  onChange(listener: (change: Change | undefined) => void): void;
  /** Removes the people of a project. */
  clear(project: number): void;
  /** Copies the current content as lines of people.ndjson. */
  copyInto(target: Bytes): void;
  /** Replaces all stored lines with others. @throws DataFolderError if a line cannot be read */
  replacing(lines: Bytes): SwitchPart;
  /** The changes since they were last settled; `write` uses one call. */
  readonly unit: Unit;
  /** Writes changes and the index, and closes the file. A second call has no effect. */
  close(): void;
}

const megabyte = 1024 * 1024;
const defaults = {
  onNotice: () => {},
  onDamage: () => {},
  hash: keyHash,
  compactFrom: 64 * megabyte,
  indexFrom: megabyte / 4,
} satisfies ShelfOptions;

/**
 * Opens the people of a data folder, or an empty store in memory. Reads people.idx and later lines; the whole log only
 * without a fitting index.
 * @throws DataFolderError if the log cannot be opened, or is not one
 */
export function openPeople(options: PeopleOptions = {}): PeopleStore {
  const home = options.folder === undefined ? memoryHome() : folderHome(options.folder);
  const shelf = openShelf(home, {
    onNotice: options.onNotice ?? defaults.onNotice,
    onDamage: options.onDamage ?? defaults.onDamage,
    guard: options.guard,
    hash: options.hash ?? defaults.hash,
    compactFrom: options.compactFrom ?? defaults.compactFrom,
    indexFrom: options.indexFrom ?? defaults.indexFrom,
  });
  return {
    ...steady(shelf, createQueries(shelf)),
    ...steady(shelf, lookUps(shelf)),
    ...steady(shelf, changes(shelf)),
    onChange: shelf.onChange,
    unit: {
      write() {
        if (shelf.log.waiting < home.flushFrom) return;
        shelf.log.flush();
        shelf.keepCompact();
      },
      settle: shelf.settle,
      rollBack: shelf.rollBack,
    },
    copyInto: shelf.copyInto,
    replacing: shelf.replacing,
    close: shelf.close,
  };
}

/** The same functions, which rebuild the rows if they meet a damaged line. */
function steady<T extends object>(shelf: PeopleFiles, parts: T): T {
  const steadied = Object.entries(parts).map(([name, act]) => [
    name,
    (...args: unknown[]) => shelf.steadily(() => act(...args)),
  ]);
  // the same functions, wrapped
  return Object.fromEntries(steadied) as T;
}

type LookUps = Pick<
  PeopleStore,
  "personOf" | "isPersonless" | "distinctIds" | "hashKeysOf" | "group" | "groupTypes" | "counts"
>;

function lookUps(shelf: PeopleFiles): LookUps {
  return {
    personOf(project, distinctId) {
      const { state } = shelf;
      const row = ownerOf(state, project, distinctId);
      return row === -1 ? undefined : state.persons.at(row);
    },
    isPersonless(project, distinctId) {
      const { state } = shelf;
      const row = state.findId(project, distinctId);
      return row !== -1 && state.ids.person(row) === -1;
    },
    distinctIds({ project, uuid }) {
      const { state } = shelf;
      const row = state.findPerson(project, uuid);
      return row === -1 ? [] : state.ids.rowsOf(row).map(state.ids.text);
    },
    hashKeysOf: (person) => hashKeysOf(shelf.state, person),
    group(project, type, key) {
      const { state } = shelf;
      const row = state.findGroup(project, type, key);
      return row === -1 ? undefined : state.groups.at(row);
    },
    groupTypes: (project) => typesOf(shelf.state, project),
    counts: (project) => countsOf(shelf.state, project),
  };
}

type Whole = "onChange" | "copyInto" | "replacing" | "unit" | "close";
type Changes = Omit<PeopleStore, keyof LookUps | keyof Queries | Whole>;

function changes(shelf: PeopleFiles): Changes {
  const { record } = shelf;

  /** A line that refers to an unknown person would make the file unreadable. */
  function mustExist({ project, uuid }: Pick<Person, "project" | "uuid">): void {
    if (shelf.state.findPerson(project, uuid) === -1)
      throw new Error(`project ${project} has no person ${uuid}`);
  }

  const save = (person: Person): void => record(personLine(person), { kind: "person", person });

  function give({ project, uuid }: Person, distinctId: string): void {
    const { state } = shelf;
    const owner = ownerOf(state, project, distinctId);
    if (owner !== -1 && state.persons.at(owner).uuid === uuid) return;
    record(idLine(project, distinctId, uuid), { kind: "id", project, distinctId, uuid });
  }

  function addHashKeys({ project, uuid }: Pick<Person, "project" | "uuid">, added: HashKeys["keys"]): void {
    const known = hashKeysOf(shelf.state, { project, uuid });
    const keys = new Map([...added, ...known]);
    if (keys.size === known.size) return;
    const change = { project, uuid, keys };
    record(hashKeysLine(change), { kind: "hash_keys", keys: change });
  }

  return {
    rememberPersonless(project, distinctId) {
      if (shelf.state.findId(project, distinctId) !== -1) return;
      record(personlessLine(project, distinctId), { kind: "personless", project, distinctId });
    },
    create(person, distinctIds) {
      save(person);
      for (const distinctId of distinctIds) give(person, distinctId);
    },
    update(person) {
      mustExist(person);
      save(person);
    },
    attach(person, distinctId) {
      mustExist(person);
      give(person, distinctId);
    },
    addHashKeys(person, keys) {
      mustExist(person);
      addHashKeys(person, keys);
    },
    merge(from, into) {
      mustExist(from);
      save(into);
      if (from.uuid === into.uuid) return;
      addHashKeys(into, hashKeysOf(shelf.state, from));
      const { project, uuid } = from;
      record(goneLine(project, uuid, into.uuid), { kind: "gone", project, uuid, into: into.uuid });
    },
    remove({ project, uuid }) {
      if (shelf.state.findPerson(project, uuid) === -1) return;
      record(removedLine(project, uuid), { kind: "removed", project, uuid });
    },
    saveGroup: (group) => record(groupLine(group), { kind: "group", group }),
    addGroupType(project, name) {
      if (typesOf(shelf.state, project).includes(name)) return;
      record(groupTypeLine(project, name), { kind: "group_type", project, name });
    },
    clear(project) {
      if (shelf.state.projects.find(project) === -1) return;
      record(clearLine(project), { kind: "clear", project });
    },
  };
}

const noTypes: readonly string[] = Object.freeze([]);

const typesOf = (state: PeopleState, project: number): readonly string[] =>
  state.projects.known(project)?.groupTypes ?? noTypes;

const noKeys: HashKeys["keys"] = new Map();

function hashKeysOf(state: PeopleState, { project, uuid }: Pick<Person, "project" | "uuid">) {
  const row = state.findHashKeys(project, uuid);
  return row === -1 ? noKeys : state.hashKeys.at(row).keys;
}

/** Row of the person that has the id, or -1. */
function ownerOf(state: PeopleState, project: number, distinctId: string): number {
  const row = state.findId(project, distinctId);
  return row === -1 ? -1 : state.ids.person(row);
}

function countsOf(state: PeopleState, project?: number): PeopleCounts {
  const sum = { persons: 0, ids: 0, personless: 0, groups: 0 };
  for (const entry of state.projects.entries) {
    if (project !== undefined && entry.project !== project) continue;
    sum.persons += entry.persons;
    sum.ids += entry.ids;
    sum.personless += entry.personless;
    sum.groups += entry.groups;
  }
  return sum;
}
