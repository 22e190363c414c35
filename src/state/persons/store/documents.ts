import type { RowTable } from "../../journal/log/rows.ts";
import { firstOwnColumn, type LinePlace, LineRows } from "./rows.ts";

/** Recently used values by row number; two generations approximate the order of use. */
class Cache<T> {
  #young = new Map<number, T>();
  #old = new Map<number, T>();
  #load = 0;
  readonly #most: { count: number; weight: number };

  /** @param most Of a generation: values, and their weight in bytes */
  constructor(most: { count: number; weight: number }) {
    this.#most = most;
  }

  /** @param weight Bytes; heavy values are dropped sooner */
  set(row: number, value: T, weight: number): void {
    if (this.#young.size >= this.#most.count || this.#load >= this.#most.weight) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#load = 0;
    }
    this.#young.set(row, value);
    this.#load += weight;
  }

  get(row: number): T | undefined {
    const recent = this.#young.get(row);
    if (recent !== undefined) return recent;
    const earlier = this.#old.get(row);
    // its weight was counted before; now it only takes a place
    if (earlier !== undefined) this.set(row, earlier, 0);
    return earlier;
  }

  delete(row: number): void {
    this.#young.delete(row);
    this.#old.delete(row);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#load = 0;
  }
}

class CachedRows<T> {
  readonly table: LineRows;
  protected readonly cache: Cache<T>;
  readonly #read: (place: LinePlace) => T;

  constructor(ownColumns: number, most: { count: number; weight: number }, read: (place: LinePlace) => T) {
    this.table = new LineRows(ownColumns);
    this.cache = new Cache(most);
    this.#read = read;
  }

  at(row: number): T {
    const known = this.cache.get(row);
    if (known !== undefined) return known;
    const place = this.table.place(row);
    const value = this.#read(place);
    this.cache.set(row, value, typeof value === "string" ? value.length : place.length);
    return value;
  }

  kill(row: number): void {
    this.table.kill(row);
    this.cache.delete(row);
  }

  clear(): void {
    this.table.clear();
    this.cache.clear();
  }

  revert(): void {
    this.table.revert();
    this.cache.clear();
  }
}

/** Limits of parsed documents: 2 × 5,000, and lines of about 2 × 8 MB. */
const cachedDocuments = { count: 5_000, weight: 8 * 1024 * 1024 };
const cachedIds = { count: 5_000, weight: 1024 * 1024 };

const linkColumn = firstOwnColumn;

export class PersonDocuments<T> extends CachedRows<T> {
  readonly #keyOf: (document: T) => string;

  constructor(read: (place: LinePlace) => T, keyOf: (document: T) => string) {
    super(1, cachedDocuments, read);
    this.#keyOf = keyOf;
  }

  find(slot: number, hash: number, key: string): number {
    return this.table.find(hash, slot, (row) => this.#keyOf(this.at(row)) === key);
  }

  /** Stores a document whose newest line is at the place; row -1 adds a row. */
  put(known: number, slot: number, hash: number, document: T, place: LinePlace): void {
    const row = known === -1 ? this.table.add(hash, slot, place) : known;
    if (known !== -1) this.table.move(row, place);
    this.cache.set(row, document, place.length);
  }
}

interface IdEntry {
  slot: number;
  hash: number;
  distinctId: string;
  place: LinePlace;
}

const ownerColumn = firstOwnColumn;
const nextColumn = firstOwnColumn + 1;
/** Owners and links are stored as row + 1: 0 is no owner, or the end of a chain. */
const none = 0;

/**
 * Distinct ids: each is a row (20 bytes) that points to its person. The ids of a person are a chain, newest first, so
 * that another id, or a merge, rewrites nothing.
 */
export class IdTable extends CachedRows<string> {
  readonly #persons: RowTable;

  /** @param persons The rows with the first links of the chains */
  constructor(persons: RowTable, read: (place: LinePlace) => string) {
    super(2, cachedIds, read);
    this.#persons = persons;
  }

  find(slot: number, hash: number, distinctId: string): number {
    return this.table.find(hash, slot, (row) => this.at(row) === distinctId);
  }

  /** Row of its person; -1 for an id that was only on personless events. */
  person(row: number): number {
    return this.table.rows.get(row, ownerColumn) - 1;
  }

  #next(row: number): number {
    return this.table.rows.get(row, nextColumn);
  }

  #first(person: number): number {
    return this.#persons.get(person, linkColumn);
  }

  #link(row: number, person: number): void {
    this.table.rows.set(row, ownerColumn, person + 1);
    this.table.rows.set(row, nextColumn, this.#first(person));
    this.#persons.set(person, linkColumn, row + 1);
  }

  #unlink(row: number): void {
    const person = this.person(row);
    if (this.#first(person) === row + 1) {
      this.#persons.set(person, linkColumn, this.#next(row));
      return;
    }
    let before = this.#first(person) - 1;
    while (this.#next(before) !== row + 1) before = this.#next(before) - 1;
    this.table.rows.set(before, nextColumn, this.#next(row));
  }

  #chain(person: number): number[] {
    const rows: number[] = [];
    for (let at = this.#first(person); at !== none; at = this.#next(at - 1)) rows.push(at - 1);
    return rows;
  }

  addPersonless({ hash, slot, place, distinctId }: IdEntry): number {
    const row = this.table.add(hash, slot, place);
    this.cache.set(row, distinctId, distinctId.length);
    return row;
  }

  give(known: number, entry: IdEntry, person: number): void {
    const row = known === -1 ? this.addPersonless(entry) : known;
    if (known !== -1) {
      if (this.person(known) !== -1) this.#unlink(known);
      this.table.move(known, entry.place);
    }
    this.#link(row, person);
  }

  moveAll(from: number, into: number): void {
    const rows = this.#chain(from);
    const last = rows.at(-1);
    if (last === undefined) return;
    for (const row of rows) this.table.rows.set(row, ownerColumn, into + 1);
    this.table.rows.set(last, nextColumn, this.#first(into));
    this.#persons.set(into, linkColumn, this.#first(from));
    this.#persons.set(from, linkColumn, none);
  }

  rowsOf(person: number): number[] {
    return this.#chain(person).reverse();
  }

  textsOf(person: number): string[] {
    return this.rowsOf(person).map((row) => this.at(row));
  }
}
