import type { Bytes } from "../../kernel/store/bytes.ts";
import type { Person } from "./person.ts";
import type { PersonData } from "./person-data.ts";
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
import { PersonFiles, type PersonFilesOptions } from "./store/person-files.ts";
import { createQueries } from "./store/query.ts";
import type { ProjectEntry } from "./store/rows.ts";
import { keyHash, type PersonStoreState } from "./store/state.ts";

export interface PersonStoreOptions extends Partial<PersonFilesOptions> {
  /** Data folder for people.ndjson and people.idx; without it everything stays in memory. */
  folder?: string;
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
export function openPersonStore(options: PersonStoreOptions = {}) {
  const home = options.folder === undefined ? memoryHome() : folderHome(options.folder);
  const files = new PersonFiles(home, {
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
    /** Calls the listener with each change, before it is on the disk; undefined if anything may have changed. */
    onChange: (listener: (change: Change | undefined) => void) => files.onChange(listener),
    /** The changes since they were last settled; `write` uses one call. */
    unit: {
      write() {
        if (files.log.waiting < home.flushFrom) return;
        files.log.flush();
        files.keepCompact();
      },
      settle: () => files.settle(),
      rollBack: () => files.rollBack(),
    },
    copyInto: (target: Bytes) => files.copyInto(target),
    /** Replaces all stored lines with others. @throws DataFolderError if a line cannot be read */
    replacing: (lines: Bytes) => files.replacing(lines),
    /** Writes changes and the index, and closes the file. A second call has no effect. */
    close: () => files.close(),
  };
}

/** Stored people and queries. Changes are visible at once; `unit.write` writes them to the disk. */
export type PersonStore = ReturnType<typeof openPersonStore>;

/** The same functions, which rebuild the rows if they meet a damaged line. */
function steady<T extends object>(files: PersonFiles, parts: T): T {
  const steadied = Object.entries(parts).map(([name, act]) => [
    name,
    (...args: unknown[]) => files.steadily(() => act(...args)),
  ]);
  // the same functions, wrapped
  return Object.fromEntries(steadied) as T;
}

type LookUps = Pick<PersonData, "personOf" | "isPersonless" | "distinctIds" | "hashKeysOf" | "group" | "groupTypes">;

function lookUps(files: PersonFiles): LookUps & { counts(project?: number): PersonCounts } {
  return {
    personOf(project, distinctId) {
      const { state } = files;
      const row = state.ownerOf(project, distinctId);
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
      return row === -1 ? [] : state.ids.textsOf(row);
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

interface Changes extends Omit<PersonData, keyof LookUps> {
  remove(person: Pick<Person, "project" | "uuid">): void;
  clear(project: number): void;
}

function changes(files: PersonFiles): Changes {
  const record = (line: string, change: Change) => files.record(line, change);

  /** A line that refers to an unknown person would make the file unreadable. */
  function mustExist({ project, uuid }: Pick<Person, "project" | "uuid">): void {
    if (files.state.findPerson(project, uuid) === -1) throw new Error(`project ${project} has no person ${uuid}`);
  }

  const save = (person: Person): void => record(personLine(person), { kind: "person", person });

  function give({ project, uuid }: Person, distinctId: string): void {
    const { state } = files;
    const owner = state.ownerOf(project, distinctId);
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

/** Numbers of stored things; `ids` have a person, `personless` ones do not. */
type PersonCounts = Omit<ProjectEntry, "project" | "groupTypes">;

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
