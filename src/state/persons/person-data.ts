import type { Group, Person } from "./person.ts";

/** What capture and the flag engine need of persons and groups. Documents never change in place: a change stores a new one. */
export interface PersonData {
  personOf(project: number, distinctId: string): Person | undefined;
  /** True if the id was on personless events and has no person. */
  isPersonless(project: number, distinctId: string): boolean;
  rememberPersonless(project: number, distinctId: string): void;
  create(person: Person, distinctIds: readonly string[]): void;
  update(person: Person): void;
  attach(person: Person, distinctId: string): void;
  /** Stores `into`, moves all ids of `from` to it, and hash keys of flags without one, and removes `from`. */
  merge(from: Person, into: Person): void;
  distinctIds(person: Person): string[];
  /** The values that flags with experience continuity hash instead of an id, by the flag's key. */
  hashKeysOf(person: Pick<Person, "project" | "uuid">): ReadonlyMap<string, string>;
  /** Adds hash keys to a stored person; existing ones stay. */
  addHashKeys(person: Pick<Person, "project" | "uuid">, keys: ReadonlyMap<string, string>): void;
  group(project: number, type: number, key: string): Group | undefined;
  saveGroup(group: Group): void;
  /** Names of the project's group types; the position is the type's index. */
  groupTypes(project: number): readonly string[];
  addGroupType(project: number, name: string): void;
}
