import { setImmediate as nextTurn } from "node:timers/promises";
import type { Group, Person } from "../model/person.ts";
import type { LineLog } from "./people-log.ts";
import type { PeopleState } from "./people-state.ts";

/** Absent keys do not restrict; newest first, `limit` 100 and `offset` 0 unless told. */
export interface PersonQuery {
  project?: number;
  distinct_id?: string;
  /** Part of the email, the name or a distinct id; case does not matter. */
  search?: string;
  limit?: number;
  offset?: number;
}

export interface GroupQuery {
  project?: number;
  /** Index of the group type. */
  type?: number;
  limit?: number;
  offset?: number;
}

export interface ListedPerson extends Person {
  /** Oldest first. */
  distinct_ids: string[];
}

export interface Listing<T> {
  results: T[];
  /** Are there further ones behind these? */
  more: boolean;
}

/** Rows looked at before other work gets its turn: about 5 ms when each is read from the disk. */
const turnRows = 1_000;

function* newestFirst(length: number): Generator<number> {
  for (let row = length - 1; row >= 0; row--) yield row;
}

interface Selection<T> {
  rows: Iterable<number>;
  fits(row: number): boolean;
  show(row: number): T;
  /** Do the row numbers still mean what they meant? Asked after other work had its turn. */
  isValid(): boolean;
}

/** Undefined when the rows became others meanwhile. */
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

export interface Queries {
  persons(query?: PersonQuery): Promise<Listing<ListedPerson>>;
  person(project: number, uuid: string): ListedPerson | undefined;
  groups(query?: GroupQuery): Promise<Listing<Group>>;
}

/** The questions that people ask about what is stored. `epoch` changes whenever row numbers lose their meaning. */
export function createQueries(state: PeopleState, log: LineLog, epoch: () => number): Queries {
  const { persons, groups, ids, projects } = state;

  const idsOf = (row: number): string[] => ids.rowsOf(row).map(ids.text);
  const listed = (row: number): ListedPerson => ({ ...persons.at(row), distinct_ids: idsOf(row) });

  /** The slot that a row must have; undefined when any will do, -1 when none can. */
  const slotOf = (project: number | undefined): number | undefined =>
    project === undefined ? undefined : projects.find(project);

  function living(of: typeof persons | typeof groups, slot: number | undefined): (row: number) => boolean {
    return (row) => of.table.isAlive(row) && (slot === undefined || of.slot(row) === slot);
  }

  /** The line is searched as text first: most persons need not be parsed. */
  function matches(needle: string): (row: number) => boolean {
    const lower = needle.toLowerCase();
    const written = JSON.stringify(lower).slice(1, -1);
    const has = (value: unknown) => typeof value === "string" && value.toLowerCase().includes(lower);
    return (row) => {
      const line = log.lineAt(persons.table.offset(row), persons.length(row)).toLowerCase();
      if (line.includes(written)) {
        const { properties } = persons.at(row);
        if (has(properties.email) || has(properties.name)) return true;
      }
      return ids.rowsOf(row).some((id) => has(ids.text(id)));
    };
  }

  function rowsOfId(project: number | undefined, distinctId: string): number[] {
    const asked = project === undefined ? projects.entries.map((entry) => entry.project) : [project];
    return asked
      .map((of) => state.findId(of, distinctId))
      .map((row) => (row === -1 ? -1 : ids.person(row)))
      .filter((row) => row !== -1);
  }

  /** Asks again when everything was cleared or moved while it looked. */
  async function steady<T>(
    ask: (isValid: () => boolean) => Promise<Listing<T> | undefined>,
  ): Promise<Listing<T>> {
    for (;;) {
      const started = epoch();
      const found = await ask(() => epoch() === started);
      if (found) return found;
    }
  }

  return {
    persons(query: PersonQuery = {}): Promise<Listing<ListedPerson>> {
      const isMatch = query.search ? matches(query.search) : () => true;
      return steady((isValid) => {
        const isLiving = living(persons, slotOf(query.project));
        const rows =
          query.distinct_id === undefined
            ? newestFirst(persons.table.length)
            : rowsOfId(query.project, query.distinct_id);
        const fits = (row: number) => isLiving(row) && isMatch(row);
        return pageOf({ rows, fits, show: listed, isValid }, query);
      });
    },
    person(project: number, uuid: string): ListedPerson | undefined {
      const row = state.findPerson(project, uuid);
      return row === -1 ? undefined : listed(row);
    },
    groups(query: GroupQuery = {}): Promise<Listing<Group>> {
      return steady((isValid) => {
        const isLiving = living(groups, slotOf(query.project));
        const isType = (row: number) => query.type === undefined || groups.at(row).type === query.type;
        const fits = (row: number) => isLiving(row) && isType(row);
        return pageOf({ rows: newestFirst(groups.table.length), fits, show: groups.at, isValid }, query);
      });
    },
  };
}
