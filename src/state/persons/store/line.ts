import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import type { Group, Person } from "../person.ts";

/** The values that flags with experience continuity hash for a person, by the flag's key. */
export interface HashKeys {
  readonly project: number;
  readonly uuid: string;
  readonly keys: ReadonlyMap<string, string>;
}

/** A change of people.ndjson; later lines win. */
export type Change =
  | { kind: "person"; person: Person }
  | { kind: "id"; project: number; distinctId: string; uuid: string }
  | { kind: "personless"; project: number; distinctId: string }
  | { kind: "gone"; project: number; uuid: string; into: string }
  | { kind: "removed"; project: number; uuid: string }
  | { kind: "hash_keys"; keys: HashKeys }
  | { kind: "group"; group: Group }
  | { kind: "group_type"; project: number; name: string }
  | { kind: "clear"; project: number };

export const personLine = (person: Person): string => `{"kind":"person",${JSON.stringify(person).slice(1)}`;

export const idLine = (project: number, distinctId: string, uuid: string): string =>
  `{"kind":"id","project":${project},"distinct_id":${JSON.stringify(distinctId)},"person":"${uuid}"}`;

export const personlessLine = (project: number, distinctId: string): string =>
  `{"kind":"personless","project":${project},"distinct_id":${JSON.stringify(distinctId)}}`;

export const goneLine = (project: number, uuid: string, into: string): string =>
  `{"kind":"gone","project":${project},"uuid":"${uuid}","merged_into":"${into}"}`;

export const removedLine = (project: number, uuid: string): string =>
  `{"kind":"removed","project":${project},"uuid":"${uuid}"}`;

/** All hash keys of the person; replaces an earlier line. */
export const hashKeysLine = ({ project, uuid, keys }: HashKeys): string =>
  `{"kind":"hash_keys","project":${project},"person":"${uuid}","keys":${JSON.stringify(Object.fromEntries(keys))}}`;

export const groupLine = (group: Group): string => `{"kind":"group",${JSON.stringify(group).slice(1)}`;

export const groupTypeLine = (project: number, name: string): string =>
  `{"kind":"group_type","project":${project},"name":${JSON.stringify(name)}}`;

export const clearLine = (project: number): string => `{"kind":"clear","project":${project}}`;

const text = (line: JsonObject, key: string): string => {
  const value = own(line, key);
  if (typeof value !== "string") throw new Error(`"${key}" must be a string`);
  return value;
};

const number = (line: JsonObject, key: string): number => {
  const value = own(line, key);
  if (typeof value !== "number") throw new Error(`"${key}" must be a number`);
  return value;
};

const object = (line: JsonObject, key: string): JsonObject => {
  const value = own(line, key);
  if (!isObject(value)) throw new Error(`"${key}" must be an object`);
  return value;
};

const texts = (line: JsonObject, key: string): ReadonlyMap<string, string> => {
  const entries = Object.entries(object(line, key));
  const isText = (entry: [string, Json]): entry is [string, string] => typeof entry[1] === "string";
  if (!entries.every(isText)) throw new Error(`"${key}" must hold strings`);
  return new Map(entries);
};

const readers: Record<Change["kind"], (line: JsonObject) => Change> = {
  person: (line) => ({
    kind: "person",
    person: {
      project: number(line, "project"),
      uuid: text(line, "uuid"),
      created_at: number(line, "created_at"),
      is_identified: own(line, "is_identified") === true,
      version: number(line, "version"),
      properties: object(line, "properties"),
    },
  }),
  id: (line) => ({
    kind: "id",
    project: number(line, "project"),
    distinctId: text(line, "distinct_id"),
    uuid: text(line, "person"),
  }),
  personless: (line) => ({
    kind: "personless",
    project: number(line, "project"),
    distinctId: text(line, "distinct_id"),
  }),
  gone: (line) => ({
    kind: "gone",
    project: number(line, "project"),
    uuid: text(line, "uuid"),
    into: text(line, "merged_into"),
  }),
  removed: (line) => ({ kind: "removed", project: number(line, "project"), uuid: text(line, "uuid") }),
  hash_keys: (line) => ({
    kind: "hash_keys",
    keys: { project: number(line, "project"), uuid: text(line, "person"), keys: texts(line, "keys") },
  }),
  group: (line) => ({
    kind: "group",
    group: {
      project: number(line, "project"),
      type: number(line, "type"),
      key: text(line, "key"),
      created_at: number(line, "created_at"),
      properties: object(line, "properties"),
    },
  }),
  group_type: (line) => ({ kind: "group_type", project: number(line, "project"), name: text(line, "name") }),
  clear: (line) => ({ kind: "clear", project: number(line, "project") }),
};

const isKind = (kind: Json | undefined): kind is Change["kind"] =>
  typeof kind === "string" && Object.hasOwn(readers, kind);

export function changeIn(line: string): Change | undefined {
  try {
    return readLine(line);
  } catch {
    return undefined;
  }
}

/** @throws Error with the mistake, without its place */
export function readLine(line: string): Change {
  const value: Json = JSON.parse(line);
  if (!isObject(value)) throw new Error("the line is not an object");
  const kind = own(value, "kind");
  if (!isKind(kind)) throw new Error(`unknown "kind": ${JSON.stringify(kind) ?? "missing"}`);
  return readers[kind](value);
}
