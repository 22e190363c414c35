import type { People } from "../model/people.ts";
import { DataFolderError } from "./data-folder.ts";
import { linesOf, repairTail } from "./lines.ts";
import { compactInto, isWasteful } from "./people-compact.ts";
import { damagedLine, folderHome, memoryHome, type PeopleHome } from "./people-home.ts";
import {
  type Change,
  clearLine,
  goneLine,
  groupLine,
  groupTypeLine,
  idLine,
  personLine,
  personlessLine,
  readLine,
} from "./people-line.ts";
import { createLineLog, type LineLog } from "./people-log.ts";
import type { ProjectEntry } from "./people-projects.ts";
import { createQueries, type Queries } from "./people-query.ts";
import { createSidecar } from "./people-sidecar.ts";
import { createPeopleState, type KeyHash, keyHash, type PeopleState } from "./people-state.ts";

export interface PeopleOptions {
  /** Data folder for people.ndjson and people.idx; without it everything stays in memory. */
  folder?: string | undefined;
  /** Told about repairs and long work, in one sentence each. */
  onNotice?: ((text: string) => void) | undefined;
  /** Hash of a key in its project; tests force collisions. */
  hash?: KeyHash;
  /** Bytes from which a mostly dead log is rewritten. */
  compactFrom?: number;
  /** Bytes from which the log has an index file: a smaller log is read as fast. */
  indexFrom?: number;
}

/** How much is stored; `ids` have a person, `personless` ones do not. */
export type PeopleCounts = Omit<ProjectEntry, "project" | "groupTypes">;

/** Stored people, and what one can ask about them. Changes count at once; `flush` writes them down. */
export interface PeopleStore extends People, Queries {
  counts(project?: number): PeopleCounts;
  /** Forgets the people of a project, or all. */
  clear(project?: number): void;
  /**
   * Writes the changes since the last flush with one call; to be called once a turn, before answering.
   * @throws the system's error (disk full); the changes then wait for the next flush.
   */
  flush(): void;
  /** Flushes, saves the index, lets go of the file. Harmless when done twice. */
  close(): void;
}

const megabyte = 1024 * 1024;
const compactFrom = 64 * megabyte;
const indexFrom = megabyte / 4;
const saveEvery = 5_000;

/**
 * Opens the people of a data folder, or an empty store in memory. Reads people.idx and the lines
 * behind it; the whole log only when there is no index or it does not fit.
 * @throws DataFolderError when the log cannot be opened or a line of it cannot be read.
 */
export function openPeople(options: PeopleOptions = {}): PeopleStore {
  const home = options.folder === undefined ? memoryHome() : folderHome(options.folder);
  const shelf = openShelf(home, options);
  const { log, state } = shelf;

  /** Writes a line and takes it over, exactly as reading it back would. */
  function record(line: string, change: Change): void {
    const offset = log.append(line);
    state.apply(change, { offset, length: log.end - offset });
  }

  function mustExist(project: number, uuid: string): void {
    if (state.findPerson(project, uuid) === -1) throw new Error(`project ${project} has no person ${uuid}`);
  }

  const save: People["update"] = (person) => record(personLine(person), { kind: "person", person });

  const attach: People["attach"] = ({ project, uuid }, distinctId) => {
    const owner = personRow(state, project, distinctId);
    if (owner !== -1 && state.persons.at(owner).uuid === uuid) return;
    record(idLine(project, distinctId, uuid), { kind: "id", project, distinctId, uuid });
  };

  return {
    ...createQueries(state, log, () => shelf.epoch),
    personOf(project, distinctId) {
      const row = personRow(state, project, distinctId);
      return row === -1 ? undefined : state.persons.at(row);
    },
    isPersonless(project, distinctId) {
      const row = state.findId(project, distinctId);
      return row !== -1 && state.ids.person(row) === -1;
    },
    rememberPersonless(project, distinctId) {
      if (state.findId(project, distinctId) !== -1) return;
      record(personlessLine(project, distinctId), { kind: "personless", project, distinctId });
    },
    create(person, distinctIds) {
      save(person);
      for (const distinctId of distinctIds) attach(person, distinctId);
    },
    update(person) {
      mustExist(person.project, person.uuid);
      save(person);
    },
    attach(person, distinctId) {
      mustExist(person.project, person.uuid);
      attach(person, distinctId);
    },
    merge({ project, uuid }, into) {
      mustExist(project, uuid);
      save(into);
      if (uuid === into.uuid) return;
      record(goneLine(project, uuid, into.uuid), { kind: "gone", project, uuid, into: into.uuid });
    },
    distinctIds({ project, uuid }) {
      const row = state.findPerson(project, uuid);
      return row === -1 ? [] : state.ids.rowsOf(row).map(state.ids.text);
    },
    group(project, type, key) {
      const row = state.findGroup(project, type, key);
      return row === -1 ? undefined : state.groups.at(row);
    },
    saveGroup: (group) => record(groupLine(group), { kind: "group", group }),
    groupTypes: (project) => state.projects.known(project)?.groupTypes ?? noTypes,
    addGroupType(project, name) {
      if (this.groupTypes(project).includes(name)) return;
      record(groupTypeLine(project, name), { kind: "group_type", project, name });
    },
    counts: (project) => countsOf(state, project),
    clear(project) {
      if (project === undefined) return shelf.clear();
      if (state.projects.find(project) === -1) return;
      record(clearLine(project), { kind: "clear", project });
      if (isEmpty(state)) shelf.clear();
    },
    flush() {
      if (log.waiting < home.flushFrom) return;
      log.flush();
      shelf.keepCompact();
    },
    close: shelf.close,
  };
}

const noTypes: readonly string[] = Object.freeze([]);

/** Row of the person that has the id, or -1. */
function personRow(state: PeopleState, project: number, distinctId: string): number {
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

const isEmpty = (state: PeopleState): boolean =>
  Object.values(countsOf(state)).every((count) => count === 0) &&
  state.projects.entries.every((entry) => entry.groupTypes.length === 0);

/** The log, its rows and its index file, kept in step. */
interface Shelf {
  readonly log: LineLog;
  readonly state: PeopleState;
  /** Row numbers keep their meaning within an epoch. */
  readonly epoch: number;
  clear(): void;
  /** Rewrites a log in memory that is mostly dead. A file waits for the next start. */
  keepCompact(): void;
  close(): void;
}

function openShelf(home: PeopleHome, options: PeopleOptions): Shelf {
  const notice = options.onNotice ?? (() => {});
  const floor = options.compactFrom ?? compactFrom;
  const worthIndexing = options.indexFrom ?? indexFrom;
  const log = createLineLog(home.open());
  const state = createPeopleState(log, options.hash ?? keyHash);
  const sidecar = home.index === undefined ? undefined : createSidecar(home.index, state);
  let epoch = 0;
  let nextCheck = floor;
  let isOpen = true;

  function replay(from: number): void {
    for (const { offset, text } of linesOf(log.bytes, from)) {
      try {
        state.apply(readLine(text), { offset, length: Buffer.byteLength(text) + 1 });
      } catch (error) {
        throw error instanceof DataFolderError ? error : damagedLine(home.name, log.bytes, offset, error);
      }
    }
  }

  function compact(): void {
    const draft = home.draft();
    compactInto(draft, state, log);
    log.bytes.close();
    log.use(home.take(draft));
    epoch++;
    state.clear();
    sidecar?.drop();
    replay(0);
  }

  function saveIndex(now: boolean): void {
    const { bytes } = log;
    if (!sidecar || bytes.size < worthIndexing || bytes.size === sidecar.covered) return;
    if (now) sidecar.saveNow(bytes);
    else if (bytes.size - sidecar.covered >= Math.max(worthIndexing, sidecar.size / 8)) sidecar.save(bytes);
  }

  repairTail(log.bytes, home.name, notice);
  replay(sidecar?.load(log.bytes) ?? 0);
  if (isWasteful(state, log.bytes.size, floor)) {
    notice(`${home.name}: most of it is superseded; rewriting it`);
    compact();
  }
  const timer = sidecar && setInterval(() => saveIndex(false), saveEvery).unref();

  return {
    log,
    state,
    get epoch() {
      return epoch;
    },
    clear() {
      epoch++;
      log.clear();
      state.clear();
      sidecar?.drop();
    },
    keepCompact() {
      if (sidecar || log.bytes.size < nextCheck) return;
      if (isWasteful(state, log.bytes.size, floor)) compact();
      nextCheck = Math.max(floor, log.bytes.size * 2);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      log.flush();
      saveIndex(true);
      log.bytes.close();
    },
  };
}
