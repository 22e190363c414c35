import { describe, expect, test } from "vitest";
import { MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import {
  clearLine,
  goneLine,
  groupLine,
  groupTypeLine,
  hashKeysLine,
  idLine,
  personLine,
  personlessLine,
  readLine,
  removedLine,
} from "../../../src/state/persons/store/line.ts";
import { LineLog } from "../../../src/state/persons/store/log.ts";
import type { LineRows } from "../../../src/state/persons/store/rows.ts";
import { type KeyHash, keyHash, PersonStoreState } from "../../../src/state/persons/store/state.ts";
import { group, person } from "./person-fixture.ts";

const uuid = (n: number): string => person(n).uuid;
const made = (n: number, project = 1): string => personLine(person(n, {}, project));
const id = (text: string, n: number, project = 1): string => idLine(project, text, uuid(n));
const merged = (n: number, into: number): string => goneLine(1, uuid(n), uuid(into));
const removed = (n: number): string => removedLine(1, uuid(n));
const seen = (text: string, project = 1): string => personlessLine(project, text);
const kept = (n: number, project = 1): string =>
  hashKeysLine({ project, uuid: uuid(n), keys: new Map([["flag", `key of ${n}`]]) });
const acme = (type: number, project = 1): string => groupLine(group(type, "acme", {}, project));

/** Persons, ids, personless ids, groups, and the names of group types of a project. */
type Counted = [persons: number, ids: number, personless: number, groups: number, types?: string[]];
/** Rows that are alive. */
type Alive = { persons: number; ids: number; groups: number; hashKeys: number };

const rows: [name: string, lines: string[], projects: Counted[], alive: Partial<Alive>][] = [
  ["a person, again and again", [made(1), made(1), made(2)], [[2, 0, 0, 0]], { persons: 2 }],
  ["an id that comes twice", [made(1), id("a", 1), id("a", 1)], [[1, 1, 0, 0]], { persons: 1, ids: 1 }],
  [
    "an id that goes to another person",
    [made(1), made(2), id("a", 1), id("b", 1), id("a", 2), id("b", 2)],
    [[2, 2, 0, 0]],
    { persons: 2, ids: 2 },
  ],
  [
    "personless ids, one of which gets a person",
    [seen("a"), seen("a"), seen("b"), made(1), id("a", 1), id("c", 1)],
    [[1, 2, 1, 0]],
    { persons: 1, ids: 3 },
  ],
  [
    "an id of a person that is seen without one",
    [made(1), id("a", 1), seen("a")],
    [[1, 1, 0, 0]],
    { persons: 1, ids: 1 },
  ],
  [
    "the same names in two projects",
    [made(1), id("a", 1), seen("b"), made(1, 2), seen("a", 2)],
    [
      [1, 1, 1, 0],
      [1, 0, 1, 0],
    ],
    { persons: 2, ids: 3 },
  ],
  [
    "a merge, and a removal, of persons of which some have keys",
    [made(1), made(2), made(3), made(4), id("a", 1), id("b", 2), kept(2), kept(3), merged(1, 2), removed(3)],
    [[2, 2, 0, 0]],
    { persons: 2, ids: 2, hashKeys: 1 },
  ],
  [
    "persons with keys, each of which goes",
    [made(1), made(2), made(3), made(4), kept(1), kept(2), kept(3), merged(1, 4), merged(2, 4), removed(3)],
    [[1, 0, 0, 0]],
    { persons: 1 },
  ],
  [
    "a removed person with several ids",
    [made(1), id("a", 1), id("b", 1), seen("c"), removed(1)],
    [[0, 0, 1, 0]],
    { ids: 1 },
  ],
  [
    "keys that are stored again",
    [made(1), made(2), kept(1), kept(2), kept(1)],
    [[2, 0, 0, 0]],
    { persons: 2, hashKeys: 2 },
  ],
  [
    "groups by type and key, and their types",
    [acme(0), acme(1), acme(0), groupTypeLine(1, "company"), groupTypeLine(1, "company")],
    [[0, 0, 0, 2, ["company"]]],
    { groups: 2 },
  ],
  [
    "a project that is cleared, and lives on",
    [
      ...[made(1), made(2), id("a", 1), seen("b"), kept(1), acme(0), groupTypeLine(1, "company"), removed(2)],
      ...[made(1, 2), id("a", 1, 2), kept(1, 2), acme(0, 2), groupTypeLine(2, "team")],
      ...[clearLine(1), clearLine(1), clearLine(3), made(3), seen("a")],
    ],
    [
      [1, 0, 1, 0],
      [1, 1, 0, 1, ["team"]],
    ],
    { persons: 2, ids: 2, groups: 1, hashKeys: 1 },
  ],
];

function stateAfter(lines: readonly string[], hash: KeyHash) {
  const log = new LineLog(new MemoryBytes());
  const state = new PersonStoreState(log, hash);
  for (const line of lines) {
    const offset = log.append(line);
    state.apply(readLine(line), { offset, length: log.end - offset });
  }
  return state;
}

/** How many rows are alive; what the table says about their bytes must fit. */
function aliveIn(table: LineRows): number {
  const alive = Array.from({ length: table.rows.length }, (_, row) => row).filter((row) => table.isAlive(row));
  const bytes = alive.reduce((sum, row) => sum + table.place(row).length * 0.75, 0);
  expect(table.living).toBe(bytes);
  return alive.length;
}

describe.each([
  ["hashes as they are", keyHash],
  ["equal hashes", () => 7],
] as const)("with %s", (_way, hash) => {
  test.each(rows)("%s", (_name, lines, projects, alive) => {
    const { projects: slots, persons, ids, groups, hashKeys } = stateAfter(lines, hash);
    expect(
      slots.entries.map((it): Counted => [it.persons, it.ids, it.personless, it.groups, [...it.groupTypes]]),
    ).toEqual(
      projects.map(([persons, ids, personless, groups, types = []]) => [persons, ids, personless, groups, types]),
    );
    expect({
      persons: aliveIn(persons.table),
      ids: aliveIn(ids.table),
      groups: aliveIn(groups.table),
      hashKeys: aliveIn(hashKeys.table),
    }).toEqual({ persons: 0, ids: 0, groups: 0, hashKeys: 0, ...alive });
  });

  test.each([
    ["an id of no one", [made(1), id("a", 2)], `project 1 has no person ${uuid(2)}`],
    ["an id of a person of another project", [made(1), id("a", 1, 2)], `project 2 has no person ${uuid(1)}`],
    ["keys of no one", [kept(1)], `project 1 has no person ${uuid(1)}`],
    ["a removal of no one", [made(2), removed(1)], `project 1 has no person ${uuid(1)}`],
    ["a merge into no one", [made(1), merged(1, 2)], `project 1 has no person ${uuid(2)}`],
    ["a merge into itself", [made(1), merged(1, 1)], "cannot be merged into itself"],
  ])("%s is refused", (_name, lines, message) => {
    expect(() => stateAfter(lines, hash)).toThrow(message);
  });
});

test.each([
  [1, "a", 3_107_115_115],
  [2, "a", 2_839_114_496],
  [1, "user-1", 4_175_570_265],
])("the hash of project %i and %j stays what indexes on disk have", (project, key, hash) => {
  expect(keyHash(project, key)).toBe(hash);
});
