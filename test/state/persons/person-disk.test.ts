import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import { DataFolderError } from "../../../src/kernel/store/data-folder.ts";
import { sealed } from "../../../src/kernel/store/lines.ts";
import { openPersonStore, type PersonStore, type PersonStoreOptions } from "../../../src/state/persons/person-store.ts";
import { memoryHome } from "../../../src/state/persons/store/home.ts";
import { LineLog } from "../../../src/state/persons/store/log.ts";
import { PersonFiles } from "../../../src/state/persons/store/person-files.ts";
import { keyHash } from "../../../src/state/persons/store/state.ts";
import { flush } from "../../kernel/store/changing.ts";
import { newFolder } from "../../support/folder.ts";
import { rewriteLine } from "../../support/rewrite-line.ts";
import { contentOf, group, person } from "./person-fixture.ts";

const logOf = (folder: string): string => join(folder, "people.ndjson");
const indexOf = (folder: string): string => join(folder, "people.idx");

async function contentIn(folder: string, options: PersonStoreOptions = {}) {
  const people = openPersonStore({ folder, ...options });
  const content = await contentOf(people);
  people.close();
  return content;
}

/** Each writes one line. */
const changes: ((people: PersonStore) => void)[] = [
  (p) => p.create(person(1, { name: "Zoë ☃" }), []),
  (p) => p.attach(person(1), "été"),
  (p) => p.create(person(2), []),
  (p) => p.attach(person(2), "b"),
  (p) => p.rememberPersonless(1, "x"),
  (p) => p.addGroupType(1, "company"),
  (p) => p.saveGroup(group(0, "acme", { seats: 1 })),
  (p) => p.update(person(2, { plan: "pro" })),
  (p) => p.create(person(1, {}, 2), []),
  (p) => p.clear(2),
];

describe("a crash", () => {
  test("at every byte: the lines before it are there, the torn one is cut off and reported", async () => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    const ends = [{ size: 0, content: await contentOf(people) }];
    for (const change of changes) {
      change(people);
      flush(people);
      ends.push({ size: statSync(logOf(folder)).size, content: await contentOf(people) });
    }
    people.close();
    const whole = readFileSync(logOf(folder));
    expect(whole.toString().split("\n").length - 1).toBe(changes.length);

    for (let cut = 0; cut <= whole.length; cut++) {
      writeFileSync(logOf(folder), whole.subarray(0, cut));
      const notices: string[] = [];
      const content = await contentIn(folder, { onNotice: (text) => notices.push(text) });
      const last = ends.findLast((end) => end.size <= cut);
      expect({ cut, content }).toEqual({ cut, content: last?.content });
      expect({ cut, reported: notices.length }).toEqual({ cut, reported: last?.size === cut ? 0 : 1 });
      expect(statSync(logOf(folder)).size).toBe(last?.size);
    }
  });

  test("between the two lines of a merge leaves both persons, and the merge can be done again", async () => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    people.create(person(1), ["a"]);
    people.create(person(2), ["b"]);
    people.merge(person(1), person(2, { merged: true }));
    people.close();
    const lines = readFileSync(logOf(folder), "utf8").trimEnd().split("\n");
    writeFileSync(logOf(folder), `${lines.slice(0, -1).join("\n")}\n`);

    const again = openPersonStore({ folder });
    expect(again.personOf(1, "a")?.uuid).toBe(person(1).uuid);
    again.merge(person(1), person(2, { merged: true }));
    again.close();
    expect((await contentIn(folder)).persons).toEqual([{ ...person(2, { merged: true }), distinct_ids: ["b", "a"] }]);
  });
});

describe("damaged lines", () => {
  const good =
    '{"kind":"person","project":1,"uuid":"u","created_at":1,"is_identified":false,"version":0,"properties":{}}';
  /** The damage that opening reports, as `line detail`. */
  function damageIn(folder: string): string[] {
    const found: string[] = [];
    openPersonStore({ folder, onDamage: ({ line, detail }) => found.push(`${line} ${detail}`) }).close();
    return found;
  }

  test.each([
    ["not JSON", "{oops", /^2 this line is damaged \(.*JSON.*\): its content is lost/],
    ["not an object", "[1]", /^2 .*\(the line is not an object\)/],
    ["no kind", "{}", /^2 .*\(unknown "kind": missing\)/],
    ["a kind that is a name of the language", '{"kind":"constructor"}', /unknown "kind": "constructor"/],
    ["a wrong type", '{"kind":"id","project":"1"}', /^2 .*\("project" must be a number\)/],
    ["properties that are a list", good.replace("{}", "[]"), /"properties" must be an object/],
    ["a wrong checksum", sealed(good).replace('"version":0', '"version":1'), /its checksum does not match/],
    [
      "an id of no one",
      '{"kind":"id","project":1,"distinct_id":"a","person":"v"}',
      /^2 1 line from this one on refer to persons that are lost/,
    ],
  ])("%s: it is reported with its line, and the others are read", (_name, line, message) => {
    const folder = newFolder();
    writeFileSync(logOf(folder), `${good}\n${line}\n${good.replace('"u"', '"w"')}\n`);
    expect(damageIn(folder)).toEqual([expect.stringMatching(message)]);
    const people = openPersonStore({ folder });
    expect(people.counts()).toMatchObject({ persons: 2, ids: 0 });
    people.close();
  });

  test.each([
    ["into itself", "u"],
    ["into no one", "v"],
  ])("a merge %s changes nothing", (_name, into) => {
    const folder = newFolder();
    writeFileSync(logOf(folder), `${good}\n{"kind":"gone","project":1,"uuid":"u","merged_into":"${into}"}\n`);
    expect(damageIn(folder)).toEqual([]);
    const people = openPersonStore({ folder });
    expect(people.counts()).toMatchObject({ persons: 1 });
    people.close();
  });

  test("ids of a person whose first line is damaged belong to it as soon as a later line has it", () => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    people.create(person(1), ["a"]);
    people.create(person(2), ["b"]);
    people.update(person(1, { later: true }));
    people.merge(person(2), person(1, { merged: true }));
    people.close();
    for (const line of [1, 3]) rewriteLine(logOf(folder), line, (text) => text.replace("person", "parson"));
    const found: unknown[] = [];
    const again = openPersonStore({ folder, onDamage: ({ line }) => found.push(line) });
    expect(found).toEqual([1, 3]);
    for (const id of ["a", "b"]) expect(again.personOf(1, id)).toMatchObject({ uuid: person(1).uuid });
    again.close();
  });

  test("empty lines are skipped and count as lines", () => {
    const folder = newFolder();
    writeFileSync(logOf(folder), `\n${good}\n\nbad\n`);
    expect(damageIn(folder)).toEqual([expect.stringMatching(/^4 /)]);
  });

  test.each([
    ["a byte order mark", `\ufeff${good}\n`, "people.ndjson:1: it begins with a byte order mark"],
    ["a file of something else", '{"log":1}\n{}\n', "people.ndjson:1: it is not a people log of phx-sim"],
  ])("%s is refused, and the file is left as it is", (_name, text, message) => {
    const folder = newFolder();
    writeFileSync(logOf(folder), text);
    expect(() => openPersonStore({ folder })).toThrow(message);
    expect(() => openPersonStore({ folder })).toThrow(DataFolderError);
    expect(readFileSync(logOf(folder), "utf8")).toBe(text);
  });

  test("a directory instead of the file", () => {
    const folder = newFolder();
    mkdirSync(logOf(folder));
    expect(() => openPersonStore({ folder })).toThrow(/people\.ndjson cannot be opened: it is a directory/);
  });
});

/** A folder with a log larger than what the index's print covers, and its index. */
function indexedFolder(): string {
  const folder = newFolder();
  const people = openPersonStore({ folder, indexFrom: 1 });
  people.addGroupType(1, "company");
  for (let n = 0; n < 50; n++) people.create(person(n, { n, text: "x".repeat(100) }), [`u${n}`, `v${n}`]);
  for (let n = 0; n < 10; n++) people.merge(person(n), person(n + 10, { merged: n }));
  people.rememberPersonless(1, "x");
  people.saveGroup(group(0, "acme"));
  people.close();
  return folder;
}

describe("the index file", () => {
  test("saves reading the log: a line that it covers is not looked at until it is needed", () => {
    const folder = indexedFolder();
    const text = readFileSync(logOf(folder), "utf8");
    writeFileSync(logOf(folder), text.replace('"kind":"group_type"', '"KIND":"GROUP_TYPE"'));
    const people = openPersonStore({ folder, indexFrom: 1 });
    expect(people.groupTypes(1)).toEqual(["company"]);
    expect(people.personOf(1, "v3")?.properties).toEqual({ merged: 3 });
    people.close();
    rmSync(indexOf(folder));
    const found: unknown[] = [];
    openPersonStore({ folder, onDamage: ({ line }) => found.push(line) }).close();
    expect(found).toEqual([1]);
  });

  test("a line that it covers turns out to be damaged: its person is as an earlier line has it", () => {
    const folder = indexedFolder();
    const lines = readFileSync(logOf(folder), "utf8").split("\n");
    const merged = lines.findIndex((it) => it.includes('"merged":3'));
    rewriteLine(logOf(folder), merged + 1, (text) => text.replace('"merged":3', '"merged":4'));
    const found: unknown[] = [];
    const people = openPersonStore({ folder, indexFrom: 1, onDamage: ({ line }) => found.push(line) });
    expect(people.personOf(1, "v13")?.properties).toMatchObject({ n: 13 });
    expect(people.personOf(1, "v12")?.properties).toEqual({ merged: 2 });
    expect(found).toEqual([merged + 1]);
    people.close();
  });

  test("what is refused after such a line was found is taken back, and the rest stays", async () => {
    const folder = indexedFolder();
    const lines = readFileSync(logOf(folder), "utf8").split("\n");
    const merged = lines.findIndex((it) => it.includes('"merged":3'));
    rewriteLine(logOf(folder), merged + 1, (text) => text.replace('"merged":3', '"merged":4'));
    const size = statSync(logOf(folder)).size;
    const people = openPersonStore({ folder, indexFrom: 1 });
    people.create(person(900), ["refused"]);
    expect(people.personOf(1, "v12")?.properties).toEqual({ merged: 2 });
    expect(people.personOf(1, "refused")).toBeDefined();
    people.unit.rollBack();
    expect(people.personOf(1, "refused")).toBeUndefined();
    expect(people.personOf(1, "v13")?.properties).toMatchObject({ n: 13 });
    expect(statSync(logOf(folder)).size).toBe(size);
    people.create(person(901), ["kept"]);
    flush(people);
    people.close();
    const again = openPersonStore({ folder });
    expect([again.personOf(1, "refused"), again.personOf(1, "kept")?.uuid]).toEqual([undefined, person(901).uuid]);
    again.close();
  });

  const damages: [name: string, damage: (folder: string) => void][] = [
    ["missing", (f) => rmSync(indexOf(f))],
    ["empty", (f) => truncateSync(indexOf(f), 0)],
    ["cut in the head", (f) => truncateSync(indexOf(f), 40)],
    ["cut in the rows", (f) => truncateSync(indexOf(f), 1_000)],
    ["cut at its last byte", (f) => truncateSync(indexOf(f), statSync(indexOf(f)).size - 1)],
    ["of another version", (f) => edit(indexOf(f), (bytes) => bytes.write("phx-people-0"))],
    ["with a broken head", (f) => edit(indexOf(f), (bytes) => bytes.fill(0x78, 30, 60))],
    ...[60, 200, 5_000, 100_000, 500_000].map((at): [string, (folder: string) => void] => [
      `with a flipped bit at ${at}`,
      (f) => edit(indexOf(f), (bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at)),
    ]),
    ["with zeros at its end", (f) => edit(indexOf(f), (bytes) => bytes.fill(0, bytes.length - 8))],
    ["of another log", (f) => copyFileSync(indexOf(otherFolder()), indexOf(f))],
  ];
  const edit = (file: string, change: (bytes: Buffer) => void) => {
    const bytes = readFileSync(file);
    change(bytes);
    writeFileSync(file, bytes);
  };
  const otherFolder = (): string => {
    const folder = newFolder();
    const people = openPersonStore({ folder, indexFrom: 1 });
    people.create(person(99), ["other"]);
    people.close();
    return folder;
  };

  test.each(damages)("%s: the log is read instead", async (_name, damage) => {
    const folder = indexedFolder();
    const before = await contentIn(folder, { indexFrom: 1 });
    damage(folder);
    expect(await contentIn(folder, { indexFrom: 1 })).toEqual(before);
  });

  test.each([
    [1, "a", 3_107_115_115],
    [2, "a", 2_839_114_496],
    [1, "user-1", 4_175_570_265],
  ])("the hash of project %i and %j stays what index files have", (project, key, hash) => {
    expect(keyHash(project, key)).toBe(hash);
  });

  test("is for its owner only", () => {
    expect(statSync(indexOf(indexedFolder())).mode & 0o777).toBe(0o600);
  });

  test("covers what was there when it was saved; later lines are read", async () => {
    const folder = indexedFolder();
    const people = openPersonStore({ folder, indexFrom: Number.POSITIVE_INFINITY });
    people.update(person(20, { later: true }));
    people.create(person(100), ["w"]);
    people.merge(person(21), person(100));
    people.attach(person(100), "x");
    const before = await contentOf(people);
    people.close();
    expect(await contentIn(folder)).toEqual(before);
    expect(before.persons[0]).toMatchObject({ uuid: person(100).uuid, distinct_ids: ["w", "u21", "v21", "x"] });
  });

  test("a log whose lines were moved is read anew", async () => {
    const folder = indexedFolder();
    rewriteLine(logOf(folder), 1, () => '{"kind":"group_type","project":1,"name":"organization"}');
    expect((await contentIn(folder)).types[0]).toEqual(["organization"]);
  });

  test("an unused index costs nothing: it is not written again, and a small log has none", () => {
    const folder = indexedFolder();
    const before = statSync(indexOf(folder)).mtimeMs;
    openPersonStore({ folder, indexFrom: 1 }).close();
    expect(statSync(indexOf(folder)).mtimeMs).toBe(before);
    const small = newFolder();
    const people = openPersonStore({ folder: small });
    people.create(person(1), ["a"]);
    people.close();
    expect(existsSync(indexOf(small))).toBe(false);
  });

  test("is saved while running, and a clear meanwhile wins", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const folder = newFolder();
    const people = openPersonStore({ folder, indexFrom: 1 });
    people.create(person(1), ["old"]);
    flush(people);
    vi.advanceTimersByTime(5_000);
    people.clear(1);
    people.create(person(2), ["new"]);
    flush(people);
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    while (!existsSync(indexOf(folder))) await nextTurn();
    const copy = newFolder();
    for (const file of ["people.ndjson", "people.idx"]) copyFileSync(join(folder, file), join(copy, file));
    expect(await contentIn(copy, { indexFrom: 1 })).toEqual(await contentOf(people));
    people.close();
  });

  test("that cannot be written is reported once, and everything else goes on", async () => {
    const folder = newFolder();
    mkdirSync(`${indexOf(folder)}.tmp`);
    const notices: string[] = [];
    const people = openPersonStore({ folder, indexFrom: 1, onNotice: (text) => notices.push(text) });
    people.create(person(1), ["a"]);
    const before = await contentOf(people);
    people.close();
    expect(notices).toEqual([expect.stringContaining("people.idx could not be written")]);
    expect(await contentIn(folder)).toEqual(before);
  });

  test("clearing removes it", () => {
    const folder = indexedFolder();
    const people = openPersonStore({ folder, indexFrom: 1 });
    people.clear(1);
    flush(people);
    expect(existsSync(indexOf(folder))).toBe(false);
    people.create(person(1), ["fresh"]);
    people.close();
    const again = openPersonStore({ folder, indexFrom: 1 });
    expect([again.personOf(1, "fresh")?.uuid, again.counts().persons]).toEqual([person(1).uuid, 1]);
    again.close();
  });

  test("rows of several pages, and look-ups while they are still being indexed", () => {
    const folder = newFolder();
    const count = 40_000;
    const people = openPersonStore({ folder });
    for (let n = 0; n < count; n++) people.create(person(n), [`u${n}`]);
    people.close();
    const again = openPersonStore({ folder });
    expect(again.counts()).toEqual({ persons: count, ids: count, personless: 0, groups: 0 });
    for (const n of [0, 16_383, 16_384, 32_768, count - 1]) {
      expect(again.personOf(1, `u${n}`)?.uuid).toBe(person(n).uuid);
    }
    expect(again.personOf(1, `u${count}`)).toBeUndefined();
    again.create(person(count), [`u${count}`]);
    expect(again.personOf(1, `u${count}`)?.uuid).toBe(person(count).uuid);
    again.close();
  });
});

describe("a log that is mostly superseded", () => {
  const wasteful = (people: PersonStore, versions: number) => {
    people.create(person(1), ["a"]);
    people.create(person(2), ["b", "c"]);
    people.merge(person(1), person(2));
    people.rememberPersonless(1, "x");
    people.addGroupType(1, "company");
    people.saveGroup(group(0, "acme"));
    for (let version = 0; version < versions; version++) people.update({ ...person(2), version });
  };

  test("is rewritten when it is opened, and says the same", async () => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    wasteful(people, 500);
    const before = await contentOf(people);
    people.close();
    const notices: string[] = [];
    const options = { folder, compactFrom: 10_000, onNotice: (text: string) => notices.push(text) };
    expect(await contentIn(folder, options)).toEqual(before);
    expect(statSync(logOf(folder)).size).toBeLessThan(2_000);
    expect(notices).toHaveLength(1);
    expect(await contentIn(folder, options)).toEqual(before);
    expect(notices).toHaveLength(1);
    expect(existsSync(`${logOf(folder)}.tmp`)).toBe(false);
  });

  test("is left alone when most of it is alive", async () => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    for (let n = 0; n < 200; n++) people.create(person(n), [`u${n}`]);
    people.close();
    const size = statSync(logOf(folder)).size;
    await contentIn(folder, { compactFrom: 10_000 });
    expect(statSync(logOf(folder)).size).toBe(size);
  });

  test("in memory is rewritten while running", () => {
    const files = new PersonFiles(memoryHome(), {
      onNotice() {},
      onDamage() {},
      hash: keyHash,
      compactFrom: 10_000,
      indexFrom: 0,
    });
    const line = (version: number) => JSON.stringify({ kind: "person", ...person(1), version });
    for (let version = 0; version < 500; version++) {
      const offset = files.log.append(line(version));
      files.state.apply({ kind: "person", person: { ...person(1), version } }, { offset, length: 200 });
    }
    files.log.flush();
    expect(files.log.bytes.size).toBeGreaterThan(50_000);
    files.keepCompact();
    expect(files.log.bytes.size).toBeLessThan(500);
    expect(files.state.persons.at(files.state.findPerson(1, person(1).uuid)).version).toBe(499);
    expect(files.epoch).toBe(1);
  });
});

describe("waiting lines", () => {
  /** Bytes on a disk that is full for the first that many writes. */
  class FullDisk extends MemoryBytes {
    left: number;
    constructor(times: number) {
      super();
      this.left = times;
    }
    override append(bytes: Buffer) {
      if (this.left-- > 0) throw new Error("ENOSPC");
      return super.append(bytes);
    }
  }

  test("survive a write that fails", () => {
    const log = new LineLog(new FullDisk(2));
    const offset = log.append("one");
    expect(() => log.flush()).toThrow("ENOSPC");
    const second = log.append("two");
    expect(() => log.flush()).toThrow("ENOSPC");
    expect([log.lineAt(offset, 4), log.lineAt(second, 4), log.waiting]).toEqual(["one", "two", 8]);
    log.flush();
    expect([log.lineAt(offset, 4), log.lineAt(second, 4), log.waiting]).toEqual(["one", "two", 0]);
  });

  test("are read back whatever their length, waiting or written", () => {
    const log = new LineLog(new MemoryBytes(), 5_000);
    const lines = [1, 10, 255, 256, 257, 4_000, 100_000, 3].map((length) => "é".repeat(length));
    const offsets = lines.map((line) => log.append(line));
    expect(offsets.map((offset) => log.lineAt(offset, 256))).toEqual(lines);
    log.flush();
    expect(offsets.map((offset) => log.lineAt(offset, 256))).toEqual(lines);
    expect(offsets.map((offset) => log.lineAt(offset, 1))).toEqual(lines);
  });
});

test("a hundred thousand people", () => {
  const people = openPersonStore({ folder: newFolder() });
  const count = 100_000;
  for (let n = 0; n < count; n++) {
    people.create(person(n, { n }), [`user-${n}`]);
    if (n % 100 === 0) flush(people);
  }
  for (let n = 0; n < count; n += 997) expect(people.personOf(1, `user-${n}`)?.properties).toEqual({ n });
  expect(people.personOf(1, "user-x")).toBeUndefined();
  expect(people.counts()).toMatchObject({ persons: count, ids: count });
  people.close();
});

describe("what the disk refused is taken back", () => {
  const acts: [what: string, act: (people: PersonStore) => void][] = [
    ["an update", (people) => people.update(person(1, { plan: "max" }))],
    ["a new person", (people) => people.create(person(7), ["new"])],
    ["a new person of a new project", (people) => people.create(person(7, {}, 9), ["new"])],
    ["an id that moves", (people) => people.attach(person(2), "a")],
    ["a merge", (people) => people.merge(person(1), person(2, { merged: true }))],
    ["hash keys", (people) => people.addHashKeys(person(1), new Map([["flag", "a"]]))],
    ["an id without a person", (people) => people.rememberPersonless(1, "passing")],
    ["a personless id that gets a person", (people) => people.attach(person(1), "nobody")],
    ["a group", (people) => people.saveGroup(group(0, "acme", { tier: "gold" }))],
    ["a group type", (people) => people.addGroupType(1, "team")],
    ["a person that is removed", (people) => people.remove(person(1))],
    ["a project that is cleared", (people) => people.clear(1)],
  ];
  const all = (people: PersonStore) => {
    for (const [, act] of acts.filter(([what]) => !/merge|removed/.test(what))) act(people);
  };

  test.each([...acts, ["all of it", all] as const])("%s", async (_what, act) => {
    const folder = newFolder();
    const people = openPersonStore({ folder });
    people.create(person(1, { plan: "pro" }), ["a", "b"]);
    people.create(person(2), ["c"]);
    people.rememberPersonless(1, "nobody");
    people.addGroupType(1, "company");
    people.saveGroup(group(0, "acme"));
    flush(people);
    const content = async () => [await contentOf(people), people.hashKeysOf(person(1))];
    const seen = async () => [...(await content()), readFileSync(logOf(folder), "utf8")];
    const before = await seen();
    act(people);
    expect(await content()).not.toEqual(before.slice(0, 2));
    people.unit.rollBack();
    expect(await seen()).toEqual(before);
    act(people);
    people.unit.write();
    people.unit.rollBack();
    expect(await seen()).toEqual(before);
    act(people);
    flush(people);
    const after = await contentOf(people);
    people.close();
    expect(await contentIn(folder)).toEqual(after);
  });
});
