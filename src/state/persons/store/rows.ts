import { createHashIndex } from "../../journal/log/hash-index.ts";
import { RowTable } from "../../journal/log/rows.ts";

/** The place of a line in people.ndjson; the length includes the newline. */
export interface LinePlace {
  offset: number;
  length: number;
}

const hashColumn = 0;
const lowColumn = 1;
/** Slot (20 bits), size class (4 bits), upper bits of the offset (8 bits). */
const whereColumn = 2;
export const firstOwnColumn = 3;

const slotLimit = 2 ** 20;
const word = 2 ** 32;
const highMask = 0xff;
const classBits = 8;
const slotBits = 12;
/** Upper offset bits of a removed row: offsets end at a terabyte. */
const dead = 0xff;

const smallestClass = 7;
const sizeClass = (length: number): number => Math.min(15, Math.max(0, 32 - Math.clz32(length - 1) - smallestClass));
const classLength = (of: number): number => 1 << (of + smallestClass);

/**
 * A table of stored lines, 12 bytes a row and the caller's columns: the hash of the key, the offset of the newest
 * line, the project's slot and the line's size, rounded up to a power of two. Keys and documents stay on disk: a
 * look-up compares the stored line.
 */
export class LineRows {
  readonly rows: RowTable;
  /** Bytes of the current lines, by their size classes: correct within a third. */
  living = 0;
  #markedLiving = 0;
  #index: ReturnType<typeof createHashIndex>;

  constructor(ownColumns: number) {
    this.rows = new RowTable(firstOwnColumn + ownColumns);
    this.#index = this.#newIndex();
  }

  /** Loaded rows are indexed in slices after the start; until then the hash column is scanned. */
  #newIndex() {
    const { rows } = this;
    const scan = (hash: number, from: number, to: number) => rows.find(hashColumn, hash, -1, 0, from, to);
    return createHashIndex((row) => rows.get(row, hashColumn), rows.length, scan);
  }

  #where(row: number): number {
    return this.rows.get(row, whereColumn);
  }

  #lengthOf(row: number): number {
    return classLength((this.#where(row) >>> classBits) & 15);
  }

  #weight(row: number): number {
    return this.#lengthOf(row) * 0.75;
  }

  #put(row: number, slot: number, { offset, length }: LinePlace): void {
    const high = Math.floor(offset / word);
    this.rows.set(row, lowColumn, offset % word);
    this.rows.set(row, whereColumn, ((slot << slotBits) | (sizeClass(length) << classBits) | high) >>> 0);
    this.living += this.#weight(row);
  }

  add(hash: number, slot: number, place: LinePlace): number {
    const row = this.rows.add();
    this.rows.set(row, hashColumn, hash);
    this.#put(row, slot, place);
    this.#index.add(hash, row);
    return row;
  }

  /** The first row of the slot with this hash that passes the test, or -1. Slot -1: of an unknown project. */
  find(hash: number, slot: number, test: (row: number) => boolean): number {
    if (slot === -1) return -1;
    return this.#index.find(hash, (row) => this.slot(row) === slot && this.isAlive(row) && test(row));
  }

  slot(row: number): number {
    return this.#where(row) >>> slotBits;
  }

  place(row: number): LinePlace {
    const offset = (this.#where(row) & highMask) * word + this.rows.get(row, lowColumn);
    return { offset, length: this.#lengthOf(row) };
  }

  move(row: number, place: LinePlace): void {
    this.living -= this.#weight(row);
    this.#put(row, this.slot(row), place);
  }

  isAlive(row: number): boolean {
    return (this.#where(row) & highMask) !== dead;
  }

  /** Rows that were not removed (of a slot, if given). */
  *alive(slot?: number): Generator<number> {
    for (let row = 0; row < this.rows.length; row++)
      if (this.isAlive(row) && (slot === undefined || this.slot(row) === slot)) yield row;
  }

  /** Marks the row as removed: it stays in the table, but is never found again. */
  kill(row: number): void {
    this.living -= this.#weight(row);
    this.rows.set(row, whereColumn, (this.#where(row) | dead) >>> 0);
  }

  clear(): void {
    this.rows.truncate(0);
    this.#index.clear();
    this.living = 0;
  }

  mark(): void {
    this.rows.mark();
    this.#markedLiving = this.living;
  }

  settle(): void {
    this.rows.settle();
  }

  revert(): void {
    // the index may still have removed rows: their hashes show it
    this.rows.revert();
    this.living = this.#markedLiving;
  }

  loaded(): void {
    this.#index = this.#newIndex();
  }
}

export interface ProjectEntry {
  project: number;
  persons: number;
  ids: number;
  personless: number;
  groups: number;
  groupTypes: readonly string[];
}

/** Projects by slot: a small number for the tables' columns. */
export class ProjectSlots {
  readonly entries: ProjectEntry[] = [];
  readonly #slots = new Map<number, number>();
  /** Number of projects at the mark, and the earlier values of those that changed since. */
  #marked = 0;
  #before = new Map<ProjectEntry, ProjectEntry>();

  slot(project: number): number {
    const known = this.#slots.get(project);
    if (known !== undefined) return known;
    if (this.entries.length === slotLimit) throw new RangeError(`people of more than ${slotLimit} projects`);
    this.#slots.set(project, this.entries.length);
    return this.entries.push({ project, persons: 0, ids: 0, personless: 0, groups: 0, groupTypes: [] }) - 1;
  }

  /** -1 for a project without people, also earlier. */
  find(project: number): number {
    return this.#slots.get(project) ?? -1;
  }

  known(project: number): ProjectEntry | undefined {
    return this.entries[this.find(project)];
  }

  entry(slot: number): ProjectEntry {
    const entry = this.entries[slot];
    if (!entry) throw new RangeError(`no project slot ${slot}`);
    if (slot < this.#marked && !this.#before.has(entry)) this.#before.set(entry, { ...entry });
    return entry;
  }

  mark(): void {
    this.#marked = this.entries.length;
    this.#before = new Map();
  }

  settle(): void {
    this.#marked = 0;
    this.#before = new Map();
  }

  revert(): void {
    for (const { project } of this.entries.splice(this.#marked)) this.#slots.delete(project);
    for (const [entry, old] of this.#before) Object.assign(entry, old);
    this.settle();
  }

  clear(): void {
    this.entries.length = 0;
    this.#slots.clear();
  }

  load(loaded: readonly ProjectEntry[]): void {
    for (const entry of loaded) this.entries[this.slot(entry.project)] = entry;
  }
}
