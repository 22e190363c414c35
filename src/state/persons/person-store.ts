import type { Bytes } from "../../kernel/store/bytes.ts";
import type { SwitchPart } from "../../kernel/store/switch.ts";
import type { Unit } from "../../kernel/store/unit.ts";
import type { Person } from "./person.ts";
import type { PersonData } from "./person-data.ts";
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
import { openPersonFiles, type PersonFiles, type PersonFilesOptions } from "./store/person-files.ts";
import type { ProjectEntry } from "./store/projects.ts";
import { createQueries, type Queries } from "./store/query.ts";
import type { PersonStoreState } from "./store/state.ts";

export interface PersonStoreOptions extends Partial<PersonFilesOptions> {
  /** Data folder for people.ndjson and people.idx; without it everything stays in memory. */
  folder?: string;
}

/** Numbers of stored things; `ids` have a person, `personless` ones do not. */
type PersonCounts = Omit<ProjectEntry, "project" | "groupTypes">;

/** Stored people and queries. Changes are visible at once; `unit.write` writes them to the disk. */
export interface PersonStore extends PersonData, Queries {
  /** Removes a stored person, if it exists, and its ids. */
  remove(person: Pick<Person, "project" | "uuid">): void;
  counts(project?: number): PersonCounts;
  /** Calls the listener with each change, before it is on the disk; undefined if anything may have changed. */
  onChange(listener: (change: Change | undefined) => void): void;
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
} satisfies PersonFilesOptions;

/**
 * Opens the people of a data folder, or an empty store in memory. Reads people.idx and later lines; the whole log only
 * without a fitting index.
 * @throws DataFolderError if the log cannot be opened, or is not one
 */
export function openPersonStore(options: PersonStoreOptions = {}): PersonStore {
  const home = options.folder === undefined ? memoryHome() : folderHome(options.folder);
  const files = openPersonFiles(home, {
    onNotice: options.onNotice ?? defaults.onNotice,
    onDamage: options.onDamage ?? defaults.onDamage,
    guard: options.guard,
    hash: options.hash ?? defaults.hash,
    compactFrom: options.compactFrom ?? defaults.compactFrom,
    indexFrom: options.indexFrom ?? defaults.indexFrom,
  });
  return {
    ...steady(files, createQueries(files)),
    ...steady(files, lookUps(files)),
    ...steady(files, changes(files)),
    onChange: files.onChange,
    unit: {
      write() {
        if (files.log.waiting < home.flushFrom) return;
        files.log.flush();
        files.keepCompact();
      },
      settle: files.settle,
      rollBack: files.rollBack,
    },
    copyInto: files.copyInto,
    replacing: files.replacing,
    close: files.close,
  };
}

/** The same functions, which rebuild the rows if they meet a damaged line. */
function steady<T extends object>(files: PersonFiles, parts: T): T {
  const steadied = Object.entries(parts).map(([name, act]) => [
    name,
    (...args: unknown[]) => files.steadily(() => act(...args)),
  ]);
  // the same functions, wrapped
  return Object.fromEntries(steadied) as T;
}

type LookUps = Pick<
  PersonStore,
  "personOf" | "isPersonless" | "distinctIds" | "hashKeysOf" | "group" | "groupTypes" | "counts"
>;

function lookUps(files: PersonFiles): LookUps {
  return {
    personOf(project, distinctId) {
      const { state } = files;
      const row = ownerOf(state, project, distinctId);
      return row === -1 ? undefined : state.persons.at(row);
    },
    isPersonless(project, distinctId) {
      const { state } = files;
      const row = state.findId(project, distinctId);
      return row !== -1 && state.ids.person(row) === -1;
    },
    distinctIds({ project, uuid }) {
      const { state } = files;
      const row = state.findPerson(project, uuid);
      return row === -1 ? [] : state.ids.rowsOf(row).map(state.ids.text);
    },
    hashKeysOf: (person) => hashKeysOf(files.state, person),
    group(project, type, key) {
      const { state } = files;
      const row = state.findGroup(project, type, key);
      return row === -1 ? undefined : state.groups.at(row);
    },
    groupTypes: (project) => typesOf(files.state, project),
    counts: (project) => countsOf(files.state, project),
  };
}

type Whole = "onChange" | "copyInto" | "replacing" | "unit" | "close";
type Changes = Omit<PersonStore, keyof LookUps | keyof Queries | Whole>;

function changes(files: PersonFiles): Changes {
  const { record } = files;

  /** A line that refers to an unknown person would make the file unreadable. */
  function mustExist({ project, uuid }: Pick<Person, "project" | "uuid">): void {
    if (files.state.findPerson(project, uuid) === -1) throw new Error(`project ${project} has no person ${uuid}`);
  }

  const save = (person: Person): void => record(personLine(person), { kind: "person", person });

  function give({ project, uuid }: Person, distinctId: string): void {
    const { state } = files;
    const owner = ownerOf(state, project, distinctId);
    if (owner !== -1 && state.persons.at(owner).uuid === uuid) return;
    record(idLine(project, distinctId, uuid), { kind: "id", project, distinctId, uuid });
  }

  function addHashKeys({ project, uuid }: Pick<Person, "project" | "uuid">, added: HashKeys["keys"]): void {
    const known = hashKeysOf(files.state, { project, uuid });
    const keys = new Map([...added, ...known]);
    if (keys.size === known.size) return;
    const change = { project, uuid, keys };
    record(hashKeysLine(change), { kind: "hash_keys", keys: change });
  }

  return {
    rememberPersonless(project, distinctId) {
      if (files.state.findId(project, distinctId) !== -1) return;
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
      addHashKeys(into, hashKeysOf(files.state, from));
      const { project, uuid } = from;
      record(goneLine(project, uuid, into.uuid), { kind: "gone", project, uuid, into: into.uuid });
    },
    remove({ project, uuid }) {
      if (files.state.findPerson(project, uuid) === -1) return;
      record(removedLine(project, uuid), { kind: "removed", project, uuid });
    },
    saveGroup: (group) => record(groupLine(group), { kind: "group", group }),
    addGroupType(project, name) {
      if (typesOf(files.state, project).includes(name)) return;
      record(groupTypeLine(project, name), { kind: "group_type", project, name });
    },
    clear(project) {
      if (files.state.projects.find(project) === -1) return;
      record(clearLine(project), { kind: "clear", project });
    },
  };
}

const noTypes: readonly string[] = Object.freeze([]);

const typesOf = (state: PersonStoreState, project: number): readonly string[] =>
  state.projects.known(project)?.groupTypes ?? noTypes;

const noKeys: HashKeys["keys"] = new Map();

function hashKeysOf(state: PersonStoreState, { project, uuid }: Pick<Person, "project" | "uuid">) {
  const row = state.findHashKeys(project, uuid);
  return row === -1 ? noKeys : state.hashKeys.at(row).keys;
}

/** Row of the person that has the id, or -1. */
function ownerOf(state: PersonStoreState, project: number, distinctId: string): number {
  const row = state.findId(project, distinctId);
  return row === -1 ? -1 : state.ids.person(row);
}

function countsOf(state: PersonStoreState, project?: number): PersonCounts {
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
