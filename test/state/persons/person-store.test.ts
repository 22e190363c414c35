import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { openPersonStore, type PersonStore, type PersonStoreOptions } from "../../../src/state/persons/person-store.ts";
import { flush } from "../../kernel/store/changing.ts";
import { newFolder } from "../../support/folder.ts";
import { contentOf, group, person } from "./person-fixture.ts";

const ann = person(1, { email: "ann@example.com", name: "Ann Lee" });
const bob = person(2, { email: "BOB@example.com" });
const cid = person(3, { plan: "é ☃ \u2028 \ud800" });
const elsewhere = person(1, { email: "ann@elsewhere.com" }, 2);
const hostile = JSON.parse('{"__proto__": {"x": 1}, "constructor": "c", "a": {"__proto__": 2}}') as JsonObject;

/** What a story leads to: the ids that are asked for, and whose they are. */
type Story = [
  name: string,
  act: (people: PersonStore) => void,
  owners: Record<string, number | "personless" | "nobody">,
  ids: Record<number, string[]>,
];

const stories: Story[] = [
  ["nothing was stored", () => {}, { a: "nobody" }, { 1: [] }],
  ["a person with two ids", (p) => p.create(ann, ["a", "b"]), { a: 1, b: 1, c: "nobody" }, { 1: ["a", "b"] }],
  ["a person without ids", (p) => p.create(ann, []), { a: "nobody" }, { 1: [] }],
  ["the same id twice", (p) => p.create(ann, ["a", "a"]), { a: 1 }, { 1: ["a"] }],
  [
    "an id that is attached later",
    (p) => {
      p.create(ann, ["a"]);
      p.attach(ann, "b");
      p.attach(ann, "b");
    },
    { a: 1, b: 1 },
    { 1: ["a", "b"] },
  ],
  [
    "an id that moves from the middle, the start and the end of a person's ids",
    (p) => {
      p.create(ann, ["a", "b", "c", "d"]);
      p.create(bob, ["e"]);
      for (const id of ["b", "d", "a"]) p.attach(bob, id);
    },
    { a: 2, b: 2, c: 1, d: 2, e: 2 },
    { 1: ["c"], 2: ["e", "b", "d", "a"] },
  ],
  [
    "a merge moves every id",
    (p) => {
      p.create(ann, ["a1", "a2"]);
      p.create(bob, ["b1", "b2"]);
      p.merge(ann, { ...bob, is_identified: true });
    },
    { a1: 2, a2: 2, b1: 2, b2: 2 },
    { 1: [], 2: ["b1", "b2", "a1", "a2"] },
  ],
  [
    "merges in a row",
    (p) => {
      p.create(ann, ["a"]);
      p.create(bob, ["b"]);
      p.create(cid, ["c"]);
      p.merge(ann, bob);
      p.merge(bob, cid);
      p.attach(cid, "d");
    },
    { a: 3, b: 3, c: 3, d: 3 },
    { 1: [], 2: [], 3: ["c", "b", "a", "d"] },
  ],
  [
    "a merge of a person without ids, and into itself",
    (p) => {
      p.create(ann, []);
      p.create(bob, ["b"]);
      p.merge(ann, bob);
      p.merge(bob, bob);
    },
    { b: 2 },
    { 1: [], 2: ["b"] },
  ],
  [
    "a person that comes back after it was merged away",
    (p) => {
      p.create(ann, ["a"]);
      p.create(bob, ["b"]);
      p.merge(ann, bob);
      p.create(ann, ["new"]);
    },
    { a: 2, b: 2, new: 1 },
    { 1: ["new"], 2: ["b", "a"] },
  ],
  [
    "a removed person takes its ids along",
    (p) => {
      p.create(ann, ["a1", "a2"]);
      p.create(bob, ["b"]);
      flush(p);
      p.attach(ann, "a3");
      p.remove(ann);
      p.remove(ann);
      p.remove(cid);
    },
    { a1: "nobody", a2: "nobody", a3: "nobody", b: 2 },
    { 1: [], 2: ["b"] },
  ],
  [
    "the ids of a removed person can be used again, by itself or by others",
    (p) => {
      p.create(ann, ["a", "b", "c", "d"]);
      p.remove(ann);
      p.rememberPersonless(1, "d");
      p.create(bob, ["b"]);
      p.create(ann, ["a"]);
    },
    { a: 1, b: 2, c: "nobody", d: "personless" },
    { 1: ["a"], 2: ["b"] },
  ],
  [
    "a person that took others over is removed",
    (p) => {
      p.rememberPersonless(1, "x");
      p.create(ann, ["a"]);
      p.create(bob, ["b"]);
      p.attach(ann, "x");
      p.merge(ann, bob);
      p.remove(bob);
      p.create(elsewhere, ["a"]);
    },
    { a: "nobody", b: "nobody", x: "nobody" },
    { 1: [], 2: [] },
  ],
  [
    "a personless id, which stays so until it gets a person",
    (p) => {
      p.rememberPersonless(1, "x");
      p.rememberPersonless(1, "x");
      p.rememberPersonless(1, "y");
      p.create(ann, ["y"]);
      p.rememberPersonless(1, "y");
    },
    { x: "personless", y: 1 },
    { 1: ["y"] },
  ],
  [
    "ids that look alike, are odd or are names of the language",
    (p) => p.create(ann, ["", " ", "\n", "__proto__", "constructor", "é", "e\u0301", "\ud800", '"\\', "☃".repeat(200)]),
    { "": 1, " ": 1, "\n": 1, "\ud800": 1, "\ud801": "nobody", '"\\': 1 },
    { 1: ["", " ", "\n", "__proto__", "constructor", "é", "e\u0301", "\ud800", '"\\', "☃".repeat(200)] },
  ],
  [
    "the same id in two projects",
    (p) => {
      p.create(ann, ["a"]);
      p.create(elsewhere, ["a", "z"]);
    },
    { a: 1, z: "nobody" },
    { 1: ["a"] },
  ],
  [
    "a project that was cleared beside one that was not",
    (p) => {
      p.create(elsewhere, ["a"]);
      p.create(ann, ["a"]);
      p.rememberPersonless(2, "x");
      p.rememberPersonless(1, "x");
      p.clear(2);
      p.clear(3);
    },
    { a: 1, x: "personless" },
    { 1: ["a"] },
  ],
  [
    "a cleared project that is used again",
    (p) => {
      p.create(elsewhere, ["kept"]);
      p.create(ann, ["a", "b"]);
      p.clear(1);
      p.create(ann, ["b"]);
    },
    { a: "nobody", b: 1 },
    { 1: ["b"] },
  ],
  [
    "everything was cleared",
    (p) => {
      p.create(ann, ["a"]);
      p.saveGroup(group(0, "acme"));
      p.addGroupType(1, "company");
      flush(p);
      p.clear(1);
    },
    { a: "nobody" },
    { 1: [] },
  ],
  [
    "the only project was cleared",
    (p) => {
      p.create(ann, ["a"]);
      p.addGroupType(1, "company");
      p.clear(1);
    },
    { a: "nobody" },
    { 1: [] },
  ],
];

const ways: [name: string, options: () => PersonStoreOptions][] = [
  ["in memory", () => ({})],
  ["in memory, colliding hashes", () => ({ hash: () => 7 })],
  ["in a folder", () => ({ folder: newFolder() })],
  ["in a folder, colliding hashes", () => ({ folder: newFolder(), hash: (project) => project })],
  ["in a folder with an index", () => ({ folder: newFolder(), indexFrom: 1 })],
  ["in a folder with an index, colliding hashes", () => ({ folder: newFolder(), indexFrom: 1, hash: () => 0 })],
];

const opened: PersonStore[] = [];
function open(options: PersonStoreOptions): PersonStore {
  const people = openPersonStore(options);
  opened.push(people);
  return people;
}
afterEach(() => {
  for (const people of opened.splice(0)) people.close();
});

/** The store, and the same opened again where there is something to open. */
async function* lives(options: PersonStoreOptions, act: (people: PersonStore) => void): AsyncGenerator<PersonStore> {
  const first = open(options);
  act(first);
  yield first;
  flush(first);
  yield first;
  if (options.folder === undefined) return;
  const before = await contentOf(first);
  first.close();
  const again = open(options);
  expect(await contentOf(again)).toEqual(before);
  yield again;
}

describe.each(ways)("people %s", (_, options) => {
  test.each(stories)("%s", async (_name, act, owners, ids) => {
    for await (const people of lives(options(), act)) {
      for (const [id, owner] of Object.entries(owners)) {
        const uuid = typeof owner === "number" ? person(owner).uuid : undefined;
        expect([id, people.personOf(1, id)?.uuid]).toEqual([id, uuid]);
        expect([id, people.isPersonless(1, id)]).toEqual([id, owner === "personless"]);
      }
      for (const [n, list] of Object.entries(ids)) expect(people.distinctIds(person(Number(n)))).toEqual(list);
    }
  });

  test("the newest version of a person counts", async () => {
    const act = (people: PersonStore) => {
      people.create(ann, ["a"]);
      people.create(bob, ["b"]);
      flush(people);
      for (let version = 1; version < 5; version++) people.update({ ...ann, version, properties: { version } });
    };
    for await (const people of lives(options(), act)) {
      expect(people.personOf(1, "a")).toEqual({ ...ann, version: 4, properties: { version: 4 } });
      expect(people.personOf(1, "b")).toEqual(bob);
    }
  });

  test("keys of the language are ordinary property names", async () => {
    const act = (people: PersonStore) => people.create({ ...ann, properties: hostile }, ["a"]);
    for await (const people of lives(options(), act)) {
      expect(JSON.stringify(people.personOf(1, "a")?.properties)).toBe(JSON.stringify(hostile));
      expect(Object.getPrototypeOf(people.personOf(1, "a")?.properties)).toBe(Object.prototype);
    }
  });

  test("groups and their types", async () => {
    const act = (people: PersonStore) => {
      people.addGroupType(1, "company");
      people.addGroupType(1, "__proto__");
      people.addGroupType(1, "company");
      people.addGroupType(2, "team");
      people.saveGroup(group(0, "acme", { seats: 1 }));
      people.saveGroup(group(1, "acme", { seats: 2 }));
      people.saveGroup(group(0, "acme", { seats: 3 }, 2));
      people.saveGroup(group(0, "acme", { seats: 4 }));
    };
    for await (const people of lives(options(), act)) {
      expect(people.groupTypes(1)).toEqual(["company", "__proto__"]);
      expect(people.groupTypes(2)).toEqual(["team"]);
      expect(people.groupTypes(3)).toEqual([]);
      expect(people.group(1, 0, "acme")?.properties).toEqual({ seats: 4 });
      expect(people.group(1, 1, "acme")?.properties).toEqual({ seats: 2 });
      expect(people.group(2, 0, "acme")?.properties).toEqual({ seats: 3 });
      expect(people.group(1, 0, "other")).toBeUndefined();
      expect(people.counts(1).groups).toBe(2);
    }
  });

  test("counts follow every change", async () => {
    const act = (people: PersonStore) => {
      people.create(ann, ["a", "b"]);
      people.create(bob, ["c"]);
      people.rememberPersonless(1, "x");
      people.rememberPersonless(1, "y");
      people.attach(bob, "x");
      people.merge(ann, bob);
      people.create(elsewhere, ["a"]);
      people.create(cid, ["d", "e"]);
      people.remove(cid);
      people.saveGroup(group(0, "acme"));
      people.saveGroup(group(0, "acme"));
    };
    for await (const people of lives(options(), act)) {
      expect(people.counts(1)).toEqual({ persons: 1, ids: 4, personless: 1, groups: 1 });
      expect(people.counts(2)).toEqual({ persons: 1, ids: 1, personless: 0, groups: 0 });
      expect(people.counts()).toEqual({ persons: 2, ids: 5, personless: 1, groups: 1 });
      expect(people.counts(3)).toEqual({ persons: 0, ids: 0, personless: 0, groups: 0 });
    }
  });

  test.each([
    ["update", (people: PersonStore) => people.update(bob)],
    ["attach", (people: PersonStore) => people.attach(bob, "b")],
    ["merge", (people: PersonStore) => people.merge(bob, ann)],
  ])("%s of a person that is not stored is refused and leaves no trace", async (_verb, act) => {
    const failing = (people: PersonStore) => {
      people.create(ann, ["a"]);
      expect(() => act(people)).toThrow(`project 1 has no person ${bob.uuid}`);
    };
    for await (const people of lives(options(), failing)) expect(people.counts()).toMatchObject({ persons: 1, ids: 1 });
  });
});

describe("questions", () => {
  const filled = () => {
    const people = open({});
    people.create(ann, ["a", "Device-1"]);
    people.create(bob, ["b"]);
    people.create(elsewhere, ["a"]);
    people.create(person(4), ["d"]);
    people.create(person(5, { email: "gone@example.com" }), ["e"]);
    people.merge(person(5), person(4, { name: 'quo"te' }));
    people.create(person(6, { email: "removed@example.com" }), ["f"]);
    people.remove(person(6));
    for (const key of ["k1", "k2", "k3"]) people.saveGroup(group(key === "k2" ? 1 : 0, key));
    return people;
  };
  const name = (it: { project: number; uuid: string }) => `${it.project}/${Number(it.uuid.slice(-12))}`;

  test.each([
    [{}, ["1/4", "2/1", "1/2", "1/1"], false],
    [{ project: 1 }, ["1/4", "1/2", "1/1"], false],
    [{ project: 9 }, [], false],
    [{ limit: 2 }, ["1/4", "2/1"], true],
    [{ limit: 2, offset: 2 }, ["1/2", "1/1"], false],
    [{ project: 1, limit: 1, offset: 1 }, ["1/2"], true],
    [{ offset: 9 }, [], false],
    [{ limit: 0 }, [], true],
    [{ distinct_id: "a" }, ["1/1", "2/1"], false],
    [{ distinct_id: "a", project: 2 }, ["2/1"], false],
    [{ distinct_id: "e" }, ["1/4"], false],
    [{ distinct_id: "none" }, [], false],
    [{ distinct_id: "f" }, [], false],
    [{ search: "removed@" }, [], false],
    [{ search: "example.COM" }, ["1/2", "1/1"], false],
    [{ search: "bob@" }, ["1/2"], false],
    [{ search: "lee" }, ["1/1"], false],
    [{ search: "device" }, ["1/1"], false],
    [{ search: 'quo"t' }, ["1/4"], false],
    [{ search: "properties" }, [], false],
    [{ search: "ann", project: 2 }, ["2/1"], false],
  ])("persons %j", async (query, expected, more) => {
    const found = await filled().persons(query);
    expect({ names: found.results.map(name), more: found.more }).toEqual({ names: expected, more });
  });

  test.each([
    [{}, ["k3", "k2", "k1"], false],
    [{ type: 0 }, ["k3", "k1"], false],
    [{ type: 0, limit: 1 }, ["k3"], true],
    [{ project: 2 }, [], false],
  ])("groups %j", async (query, expected, more) => {
    const found = await filled().groups(query);
    expect({ keys: found.results.map((it) => it.key), more: found.more }).toEqual({ keys: expected, more });
  });

  test("one person with its ids", () => {
    const people = filled();
    expect(people.person(1, ann.uuid)).toEqual({ ...ann, distinct_ids: ["a", "Device-1"] });
    expect(people.person(3, ann.uuid)).toBeUndefined();
    expect(people.person(1, person(5).uuid)).toBeUndefined();
  });

  test("a question that is overtaken by a clear answers with what there is then", async () => {
    const people = open({});
    for (let n = 0; n < 5_000; n++) people.create(person(n), [`u${n}`]);
    const asked = people.persons({ search: "no one has this" });
    people.clear(1);
    people.create(person(7, { name: "no one has this" }), ["u7"]);
    expect((await asked).results.map(name)).toEqual(["1/7"]);
  });
});
