import type { Group, Person } from "./person.ts";

/**
 * Stored persons and groups, as ingest and the flag engine need them. The store implements it
 * (store/people.ts). Documents handed out are never changed in place: pass a new one to save it.
 */
export interface People {
  personOf(project: number, distinctId: string): Person | undefined;
  /** Was the id seen on a personless event, without having a person? */
  isPersonless(project: number, distinctId: string): boolean;
  rememberPersonless(project: number, distinctId: string): void;
  /** Stores a new person that owns these ids. */
  create(person: Person, distinctIds: readonly string[]): void;
  /** Stores a new version of a person (same uuid). */
  update(person: Person): void;
  /** Gives one more id to a stored person. */
  attach(person: Person, distinctId: string): void;
  /**
   * Stores `into`, moves every id of `from` to it and removes `from`. Hash keys move, too, where `into` has
   * none for the flag.
   */
  merge(from: Person, into: Person): void;
  distinctIds(person: Person): string[];
  /** What flags with experience continuity hash for the person instead of an id, by the flag's key. */
  hashKeysOf(person: Pick<Person, "project" | "uuid">): ReadonlyMap<string, string>;
  /** Adds hash keys to a stored person; those that it has for a flag already stay. */
  addHashKeys(person: Pick<Person, "project" | "uuid">, keys: ReadonlyMap<string, string>): void;
  group(project: number, type: number, key: string): Group | undefined;
  saveGroup(group: Group): void;
  /** Names of the project's group types; the position is the type's index. */
  groupTypes(project: number): readonly string[];
  addGroupType(project: number, name: string): void;
}
