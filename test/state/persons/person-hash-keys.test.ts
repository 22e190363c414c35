import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPersonStore, type PersonStore, type PersonStoreOptions } from "../../../src/state/persons/person-store.ts";
import { flush } from "../../kernel/store/changing.ts";
import { newFolder } from "../../support/folder.ts";
import { person } from "./person-fixture.ts";

const [ann, bob, cid] = [person(1), person(2), person(3)];
const elsewhere = person(1, {}, 2);
const keys = (record: Record<string, string>) => new Map(Object.entries(record));
const hostile = new Map([
  ["__proto__", "p"],
  ["constructor", "é ☃ \u2028"],
]);

/** What each of the persons has in the end. */
type Story = [
  name: string,
  act: (people: PersonStore) => void,
  expected: { ann?: Record<string, string>; bob?: Record<string, string>; elsewhere?: Record<string, string> },
];

const stories: Story[] = [
  ["nothing was stored", () => {}, {}],
  ["one key", (p) => p.addHashKeys(ann, keys({ a: "1" })), { ann: { a: "1" } }],
  [
    "more keys; those that are there stay",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.addHashKeys(ann, keys({ a: "2", b: "2" }));
      p.addHashKeys(ann, keys({ b: "3" }));
    },
    { ann: { a: "1", b: "2" } },
  ],
  [
    "persons and projects apart",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.addHashKeys(bob, keys({ a: "2" }));
      p.addHashKeys(elsewhere, keys({ a: "3" }));
    },
    { ann: { a: "1" }, bob: { a: "2" }, elsewhere: { a: "3" } },
  ],
  [
    "a merge: the surviving person keeps its own and takes what it lacks",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1", b: "1" }));
      p.addHashKeys(bob, keys({ b: "2", c: "2" }));
      p.merge(ann, bob);
    },
    { bob: { a: "1", b: "2", c: "2" } },
  ],
  [
    "a merge into a person without keys",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.merge(ann, bob);
    },
    { bob: { a: "1" } },
  ],
  [
    "a merge of a person without keys",
    (p) => {
      p.addHashKeys(bob, keys({ a: "1" }));
      p.merge(ann, bob);
    },
    { bob: { a: "1" } },
  ],
  [
    "merges in a row",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.merge(ann, cid);
      p.addHashKeys(cid, keys({ a: "3", b: "3" }));
      p.merge(cid, bob);
    },
    { bob: { a: "1", b: "3" } },
  ],
  [
    "a person that is removed, and comes again",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.remove(ann);
      p.create(ann, ["a"]);
    },
    {},
  ],
  [
    "a person that was merged away, and comes again with keys of its own",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.merge(ann, bob);
      p.create(ann, ["a"]);
      p.addHashKeys(ann, keys({ a: "9" }));
    },
    { ann: { a: "9" }, bob: { a: "1" } },
  ],
  [
    "a project that is cleared",
    (p) => {
      p.addHashKeys(ann, keys({ a: "1" }));
      p.addHashKeys(elsewhere, keys({ a: "3" }));
      p.clear(1);
      p.create(ann, []);
    },
    { elsewhere: { a: "3" } },
  ],
  ["keys of any name", (p) => p.addHashKeys(ann, hostile), { ann: Object.fromEntries(hostile) }],
];

function begin(options: PersonStoreOptions): PersonStore {
  const people = openPersonStore(options);
  for (const it of [ann, bob, cid, elsewhere]) people.create(it, []);
  return people;
}

function check(people: PersonStore, { ann: a = {}, bob: b = {}, elsewhere: e = {} }: Story[2]): void {
  const found = [ann, bob, elsewhere].map((it) => Object.fromEntries(people.hashKeysOf(it)));
  expect(found).toEqual([a, b, e]);
}

describe.each(stories)("%s", (_name, act, expected) => {
  test("in memory", () => {
    const people = begin({});
    act(people);
    check(people, expected);
  });

  test.each<[string, PersonStoreOptions]>([
    ["after a restart", {}],
    ["after a restart with an index", { indexFrom: 0 }],
    ["after a restart that rewrites", { compactFrom: 0 }],
    ["with equal hashes", { hash: () => 7 }],
  ])("%s", (_way, more) => {
    const folder = newFolder();
    const people = begin({ folder, ...more });
    act(people);
    people.close();
    for (let round = 0; round < 2; round++) {
      const again = openPersonStore({ folder, ...more });
      check(again, expected);
      again.close();
    }
  });
});

test("adding what is there writes nothing", () => {
  const folder = newFolder();
  const people = begin({ folder });
  people.addHashKeys(ann, keys({ a: "1" }));
  flush(people);
  const { size } = statSync(join(folder, "people.ndjson"));
  people.addHashKeys(ann, keys({ a: "2" }));
  people.addHashKeys(ann, new Map());
  people.merge(ann, bob);
  people.addHashKeys(bob, keys({ a: "3" }));
  people.close();
  const added = readFileSync(join(folder, "people.ndjson"), "utf8").slice(size).trimEnd().split("\n");
  expect(added.map((line) => JSON.parse(line).kind)).toEqual(["person", "hash_keys", "gone"]);
});

test("a mostly dead log is rewritten with them", () => {
  const folder = newFolder();
  const people = begin({ folder });
  people.addHashKeys(ann, keys({ a: "1" }));
  for (let i = 0; i < 100; i++) people.update(person(1, { i }));
  people.close();
  const before = statSync(join(folder, "people.ndjson")).size;
  const again = openPersonStore({ folder, compactFrom: 0 });
  expect(statSync(join(folder, "people.ndjson")).size).toBeLessThan(before / 3);
  check(again, { ann: { a: "1" } });
  again.close();
});

test("the index has them: the log is not read for them again", () => {
  const folder = newFolder();
  const people = begin({ folder, indexFrom: 0 });
  people.addHashKeys(ann, keys({ a: "1" }));
  people.close();
  expect(existsSync(join(folder, "people.idx"))).toBe(true);
  const again = openPersonStore({ folder, indexFrom: 0 });
  again.addHashKeys(ann, keys({ b: "2" }));
  check(again, { ann: { a: "1", b: "2" } });
  again.close();
});

test("a person that does not exist has none and gets none", () => {
  const people = openPersonStore();
  expect(people.hashKeysOf(ann).size).toBe(0);
  expect(() => people.addHashKeys(ann, keys({ a: "1" }))).toThrow(/has no person/);
});

test.each([
  ["keys of no one", '{"kind":"hash_keys","project":1,"person":"v","keys":{}}', /refer to persons that are lost/],
  [
    "keys that are no texts",
    `{"kind":"hash_keys","project":1,"person":"${ann.uuid}","keys":{"a":1}}`,
    /must hold strings/,
  ],
])("%s are reported", (_name, line, message) => {
  const folder = newFolder();
  begin({ folder }).close();
  appendFileSync(join(folder, "people.ndjson"), `${line}\n`);
  const found: string[] = [];
  openPersonStore({ folder, onDamage: ({ detail }) => found.push(detail) }).close();
  expect(found).toEqual([expect.stringMatching(message)]);
});
