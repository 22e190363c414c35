import { setImmediate as nextTurn } from "node:timers/promises";
import type { Group, Person } from "../person.ts";
import type { LineLog } from "./log.ts";
import type { PersonFiles } from "./person-files.ts";
import type { LineRows } from "./rows.ts";
import type { PersonStoreState } from "./state.ts";

/** The newest first (default: `limit` 100, `offset` 0). */
export interface PersonQuery {
  project?: number;
  distinct_id?: string;
  search?: string;
  where?(person: ListedPerson): boolean;
  limit?: number;
  offset?: number;
}

export interface GroupQuery {
  project?: number;
  type?: number;
  where?(group: Group): boolean;
  limit?: number;
  offset?: number;
}

export interface ListedPerson extends Person {
  distinct_ids: string[];
}

export interface Listing<T> {
  results: T[];
  more: boolean;
}

/** Rows between breaks for other work: about 5 ms if each is read from the disk. */
const turnRows = 1_000;

function* newestFirst({ rows }: LineRows): Generator<number> {
  for (let row = rows.length - 1; row >= 0; row--) yield row;
}

interface Selection<T> {
  rows: Iterable<number>;
  fits(row: number): boolean;
  show(row: number): T;
  isValid(): boolean;
}

async function pageOf<T>(
  { rows, fits, show, isValid }: Selection<T>,
  { limit = 100, offset = 0 }: { limit?: number; offset?: number },
): Promise<Listing<T> | undefined> {
  const results: T[] = [];
  let looked = 0;
  let matched = 0;
  for (const row of rows) {
    if (++looked % turnRows === 0) {
      await nextTurn();
      if (!isValid()) return undefined;
    }
    if (!fits(row) || matched++ < offset) continue;
    if (results.length === limit) return { results, more: true };
    results.push(show(row));
  }
  return { results, more: false };
}

function allOf<T>(
  state: PersonStoreState,
  part: { readonly table: LineRows; at(row: number): T },
  project: number,
): T[] {
  const slot = state.projects.find(project);
  return Array.from(part.table.alive(slot), (row) => part.at(row)).reverse();
}

export function createQueries(files: PersonFiles) {
  /** Repeats the query if rows were cleared or moved meanwhile, or a line is damaged. */
  async function steady<T>(ask: (isValid: () => boolean) => Promise<Listing<T> | undefined>): Promise<Listing<T>> {
    for (;;) {
      const { epoch } = files;
      const found = await ask(() => files.epoch === epoch).catch((error) => files.renewed(error));
      if (found) return found;
    }
  }

  return {
    persons: (query: PersonQuery = {}) =>
      steady((isValid) => {
        const { state, log } = files;
        const rows =
          query.distinct_id === undefined
            ? newestFirst(state.persons.table)
            : rowsOfId(state, query.project, query.distinct_id);
        const isLiving = living(state.persons.table, state, query.project);
        const isMatch = query.search ? matches(state, log, query.search) : () => true;
        const holds = (row: number) => query.where?.(listed(state, row)) ?? true;
        const fits = (row: number) => isLiving(row) && isMatch(row) && holds(row);
        return pageOf({ rows, fits, show: (row) => listed(state, row), isValid }, query);
      }),
    person(project: number, uuid: string) {
      const { state } = files;
      const row = state.findPerson(project, uuid);
      return row === -1 ? undefined : listed(state, row);
    },
    groups: (query: GroupQuery = {}) =>
      steady((isValid) => {
        const { state } = files;
        const { table } = state.groups;
        const at = (row: number) => state.groups.at(row);
        const isLiving = living(table, state, query.project);
        const isType = (row: number) => query.type === undefined || at(row).type === query.type;
        const holds = (row: number) => query.where?.(at(row)) ?? true;
        const fits = (row: number) => isLiving(row) && isType(row) && holds(row);
        return pageOf({ rows: newestFirst(table), fits, show: at, isValid }, query);
      }),
    allPersons: (project: number) => allOf(files.state, files.state.persons, project),
    allGroups: (project: number) => allOf(files.state, files.state.groups, project),
  };
}

const listed = ({ persons, ids }: PersonStoreState, row: number): ListedPerson => ({
  ...persons.at(row),
  distinct_ids: ids.textsOf(row),
});

function living(table: LineRows, { projects }: PersonStoreState, project?: number): (row: number) => boolean {
  const slot = project === undefined ? undefined : projects.find(project);
  return (row) => table.isAlive(row) && (slot === undefined || table.slot(row) === slot);
}

/** Searches the line as text first: most persons need no parsing. */
function matches({ persons, ids }: PersonStoreState, log: LineLog, search: string): (row: number) => boolean {
  const part = search.toLowerCase();
  const written = JSON.stringify(part).slice(1, -1);
  const has = (value: unknown) => typeof value === "string" && value.toLowerCase().includes(part);
  return (row) => {
    const { offset, length } = persons.table.place(row);
    if (log.lineAt(offset, length)?.toLowerCase().includes(written) !== false) {
      const { email, name } = persons.at(row).properties;
      if (has(email) || has(name)) return true;
    }
    return ids.textsOf(row).some(has);
  };
}

/** Rows of the persons with the id: at most one in each project. */
function rowsOfId(state: PersonStoreState, project: number | undefined, distinctId: string): number[] {
  const projects = project === undefined ? state.projects.entries.map((entry) => entry.project) : [project];
  return projects.map((of) => state.ownerOf(of, distinctId)).filter((row) => row !== -1);
}
