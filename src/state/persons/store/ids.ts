import type { Rows } from "../../journal/log/rows.ts";
import { createCache, linkColumn } from "./documents.ts";
import { createLineRows, firstOwnColumn, type LinePlace } from "./rows.ts";

export interface IdEntry {
  slot: number;
  hash: number;
  distinctId: string;
  place: LinePlace;
}

const ownerColumn = firstOwnColumn;
const nextColumn = firstOwnColumn + 1;
/** Owners and links are stored as row + 1: 0 is no owner, or the end of a chain. */
const none = 0;
const cached = { count: 5_000, weight: 1024 * 1024 };

/** @param persons The rows with the first links of the chains */
export function createIdTable(persons: Rows, read: (place: LinePlace) => string) {
  const table = createLineRows(2);
  const cache = createCache<string>(cached.count, cached.weight);

  const owner = (row: number): number => table.rows.get(row, ownerColumn) - 1;
  const next = (row: number): number => table.rows.get(row, nextColumn);
  const first = (person: number): number => persons.get(person, linkColumn);

  function text(row: number): string {
    const known = cache.get(row);
    if (known !== undefined) return known;
    const found = read(table.place(row));
    cache.set(row, found, found.length);
    return found;
  }

  function link(row: number, person: number): void {
    table.rows.set(row, ownerColumn, person + 1);
    table.rows.set(row, nextColumn, first(person));
    persons.set(person, linkColumn, row + 1);
  }

  function unlink(row: number): void {
    const person = owner(row);
    if (first(person) === row + 1) {
      persons.set(person, linkColumn, next(row));
      return;
    }
    let before = first(person) - 1;
    while (next(before) !== row + 1) before = next(before) - 1;
    table.rows.set(before, nextColumn, next(row));
  }

  function chain(person: number): number[] {
    const rows: number[] = [];
    for (let at = first(person); at !== none; at = next(at - 1)) rows.push(at - 1);
    return rows;
  }

  function add({ hash, slot, place, distinctId }: IdEntry): number {
    const row = table.add(hash, slot, place);
    cache.set(row, distinctId, distinctId.length);
    return row;
  }

  return {
    table,
    text,
    /** Row of the id in the project's slot, or -1. */
    find: (slot: number, hash: number, distinctId: string) => table.find(hash, slot, (row) => text(row) === distinctId),
    /** Row of its person; -1 for an id that was only on personless events. */
    person: owner,
    addPersonless: add,
    /** Moves the id to a person. Row -1 adds a row. */
    give(known: number, entry: IdEntry, person: number) {
      if (known === -1) return link(add(entry), person);
      if (owner(known) !== -1) unlink(known);
      table.move(known, entry.place);
      link(known, person);
    },
    /** Moves every id of one person to another. */
    moveAll(from: number, into: number) {
      const rows = chain(from);
      const last = rows.at(-1);
      if (last === undefined) return;
      for (const row of rows) table.rows.set(row, ownerColumn, into + 1);
      table.rows.set(last, nextColumn, first(into));
      persons.set(into, linkColumn, first(from));
      persons.set(from, linkColumn, none);
    },
    /** Rows of a person's ids, oldest first. */
    rowsOf: (person: number) => chain(person).reverse(),
    kill(row: number) {
      table.kill(row);
      cache.delete(row);
    },
    clear() {
      table.clear();
      cache.clear();
    },
    /** Reverts changes since the table's `mark`. */
    revert() {
      table.revert();
      cache.clear();
    },
  };
}

/**
 * Distinct ids: each is a row (20 bytes) that points to its person. The ids of a person are a chain, newest first, so
 * that another id, or a merge, rewrites nothing.
 */
export type IdTable = ReturnType<typeof createIdTable>;
