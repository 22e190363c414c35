import { createCache } from "./people-cache.ts";
import { linkColumn } from "./people-documents.ts";
import { createLineRows, firstOwnColumn, type LineRows } from "./people-rows.ts";

/**
 * Distinct ids: each is a row of its own (20 bytes) that points to its person. The ids of a person
 * are a chain, newest first, so that one more id, or a merge, rewrites nothing.
 */
export interface IdTable {
  readonly table: LineRows;
  /** Row of the id in the project's slot, or -1. */
  find(slot: number, hash: number, distinctId: string): number;
  text(row: number): string;
  /** Row of its person, or -1 for an id that was only seen on personless events. */
  person(row: number): number;
  addPersonless(slot: number, hash: number, distinctId: string, offset: number): void;
  /** Gives the id to a person; it leaves the one it had. Row -1 makes a new row. */
  give(row: number, hash: number, distinctId: string, offset: number, person: number): void;
  /** Moves every id of one person to another. Returns how many. */
  moveAll(from: number, into: number): number;
  /** Rows of a person's ids, oldest first. */
  rowsOf(person: number): number[];
  /** The project's slot. */
  slot(row: number): number;
  clear(): void;
}

const ownerColumn = firstOwnColumn;
const nextColumn = firstOwnColumn + 1;
/** An owner with this bit is a project's slot: the id has no person. */
const personless = 0x80000000;
const cached = { count: 5_000, weight: 1024 * 1024 };

/** `persons` holds the chains' first links; links are row + 1, so that 0 ends a chain. */
export function createIdTable(
  persons: LineRows,
  slotOfPerson: (row: number) => number,
  read: (offset: number) => string,
): IdTable {
  const table = createLineRows(2);
  const cache = createCache<string>(cached.count, cached.weight);

  const owner = (row: number): number => table.rows.get(row, ownerColumn);
  const next = (row: number): number => table.rows.get(row, nextColumn);
  const first = (person: number): number => persons.rows.get(person, linkColumn);
  const isPersonless = (row: number): boolean => owner(row) >= personless;
  const slotOf = (row: number): number =>
    isPersonless(row) ? owner(row) - personless : slotOfPerson(owner(row));

  function text(row: number): string {
    const known = cache.get(row);
    if (known !== undefined) return known;
    const found = read(table.offset(row));
    cache.set(row, found, found.length);
    return found;
  }

  function link(row: number, person: number): void {
    table.rows.set(row, ownerColumn, person);
    table.rows.set(row, nextColumn, first(person));
    persons.rows.set(person, linkColumn, row + 1);
  }

  function unlink(row: number): void {
    const person = owner(row);
    if (first(person) === row + 1) {
      persons.rows.set(person, linkColumn, next(row));
      return;
    }
    let before = first(person) - 1;
    while (next(before) !== row + 1) before = next(before) - 1;
    table.rows.set(before, nextColumn, next(row));
  }

  function chain(person: number): number[] {
    const rows: number[] = [];
    for (let at = first(person); at !== 0; at = next(at - 1)) rows.push(at - 1);
    return rows;
  }

  return {
    table,
    text,
    slot: slotOf,
    find: (slot, hash, distinctId) =>
      table.find(hash, (row) => slotOf(row) === slot && text(row) === distinctId),
    person: (row) => (isPersonless(row) ? -1 : owner(row)),
    addPersonless(slot, hash, distinctId, offset) {
      const row = table.add(hash, offset);
      table.rows.set(row, ownerColumn, personless + slot);
      cache.set(row, distinctId, distinctId.length);
    },
    give(known, hash, distinctId, offset, person) {
      const row = known === -1 ? table.add(hash, offset) : known;
      if (known !== -1 && !isPersonless(row)) unlink(row);
      table.place(row, offset);
      link(row, person);
      cache.set(row, distinctId, distinctId.length);
    },
    moveAll(from, into) {
      const rows = chain(from);
      const last = rows.at(-1);
      if (last === undefined) return 0;
      for (const row of rows) table.rows.set(row, ownerColumn, into);
      table.rows.set(last, nextColumn, first(into));
      persons.rows.set(into, linkColumn, first(from));
      persons.rows.set(from, linkColumn, 0);
      return rows.length;
    },
    rowsOf: (person) => chain(person).reverse(),
    clear() {
      table.clear();
      cache.clear();
    },
  };
}
