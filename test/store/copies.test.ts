import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/kernel/json.ts";
import type { EventKey, TrafficLine } from "../../src/model/traffic.ts";
import { type Bytes, fileBytes, memoryBytes } from "../../src/store/bytes.ts";
import { openPeople, type PeopleStore } from "../../src/store/people.ts";
import { type CopiedLine, openTrafficLog, type TrafficLog } from "../../src/store/traffic-log.ts";
import { contentOf, group, person } from "./people-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "phx-copies-"));
afterAll(() => rmSync(folder, { recursive: true }));

let folders = 0;
const fresh = () => mkdtempSync(join(folder, `${++folders}-`));

/** Lines of these tests carry their events' names in the body. */
const keysOf = (line: TrafficLine): EventKey[] =>
  (line.body as string[]).map((event) => ({ event, distinct_id: "u" }));

function lineOf(names: readonly string[], more: JsonObject = {}): TrafficLine {
  const events = names.map((name) => ({ uuid: `uuid-${name}`, time: 0, person: null }));
  const facts = { n: 900, at: 0, method: "POST", target: "/e/", peer: "::1", status: 200, us: 1, project: 1 };
  return { ...facts, ...more, seq: 4_000, events, headers: [], body: [...names] } as TrafficLine;
}

const copied = (names: readonly string[], isCleared = false): CopiedLine => ({
  line: lineOf(names),
  isCleared,
});

const open = (bytes: Bytes, file?: string): TrafficLog =>
  openTrafficLog({
    bytes,
    keysOf,
    ...(file !== undefined && { sidecars: { requests: `${file}.r`, events: `${file}.e` } }),
  });

const seen = (log: TrafficLog) =>
  [...log.scan({})].map(({ seq, line, index }) => `${line.n}/${seq} ${keysOf(line)[index]?.event}`);

describe("lines of another log", () => {
  test("get the next numbers, keep what they say, and are told to nobody", () => {
    const log = open(memoryBytes());
    log.subscribe(() => expect.unreachable());
    log.load([copied(["a", "b"]), copied(["c"])]);
    log.load([copied(["d"])]);
    expect(seen(log)).toEqual(["1/1 a", "1/2 b", "2/3 c", "3/4 d"]);
    expect([log.lastSeq, log.lastRequest, log.seen(1, "uuid-c"), log.seen(2, "uuid-c")]).toEqual([
      4,
      3,
      true,
      false,
    ]);
  });

  test("that were cleared are hidden, also after a restart without the index", async () => {
    const file = join(fresh(), "log");
    const log = open(fileBytes(file), file);
    log.load([copied(["a"], true), copied(["b"])]);
    await log.close();
    for (const end of ["r", "e"]) rmSync(`${file}.${end}`);
    const again = open(fileBytes(file), file);
    expect([seen(again), again.seen(1, "uuid-a")]).toEqual([["2/2 b"], false]);
    await again.close();
  });

  test("are copied out as they are", () => {
    const log = open(memoryBytes());
    log.load([copied(["a"], true), copied(["b"])]);
    const texts = [...log.texts()].map(({ text, isCleared }) => [JSON.parse(text).body, isCleared]);
    expect(texts).toEqual([
      [["a"], true],
      [["b"], false],
    ]);
    log.forget();
    expect([...log.texts()]).toEqual([]);
  });

  test("are all there or none, when the disk refuses them", () => {
    const bytes = memoryBytes();
    const log = open(bytes);
    log.load([copied(["a"])]);
    const size = bytes.size;
    const append = bytes.append;
    bytes.append = () => {
      throw new Error("disk full");
    };
    expect(() => log.load([copied(["b"]), copied(["c"])])).toThrow("disk full");
    bytes.append = append;
    expect([seen(log), bytes.size, log.seen(1, "uuid-b")]).toEqual([["1/1 a"], size, false]);
    log.load([copied(["d"])]);
    expect(seen(log)).toEqual(["1/1 a", "2/2 d"]);
  });
});

describe("what is forgotten", () => {
  test("is that of one project, or all, and can be shown again", () => {
    const log = open(memoryBytes());
    log.load([
      { line: lineOf(["a"]), isCleared: false },
      { line: lineOf(["b"], { project: 2 }), isCleared: false },
    ]);
    const mark = log.mark();
    log.forget(2);
    expect([seen(log), [...log.requests({})], log.line(2)]).toEqual([["1/1 a"], [1], undefined]);
    log.forget();
    expect([seen(log), log.counts().requests, log.counts().events]).toEqual([[], 0, 0]);
    expect(log.restore(mark)).toBe(true);
    expect([seen(log), [...log.requests({})]]).toEqual([
      ["1/1 a", "2/2 b"],
      [2, 1],
    ]);
  });

  test("a mark of an emptied log shows nothing", () => {
    const log = open(memoryBytes());
    log.load([copied(["a"])]);
    const mark = log.mark();
    log.reset();
    log.load([copied(["b"])]);
    expect([log.restore(mark), seen(log)]).toEqual([false, []]);
  });
});

describe.each([
  ["in memory", () => openPeople()],
  ["in a folder", () => openPeople({ folder: fresh() })],
])("people %s", (_, make) => {
  function filled(): PeopleStore {
    const people = make();
    people.create(person(1, { plan: "pro" }), ["a", "b"]);
    people.create(person(2), ["c"]);
    people.merge(person(2), { ...person(1, { plan: "max" }), version: 3 });
    people.create(person(3, {}, 2), ["a"]);
    people.addHashKeys(person(3, {}, 2), new Map([["flag", "old-id"]]));
    people.rememberPersonless(1, "nobody");
    people.addGroupType(1, "company");
    people.saveGroup(group(0, "acme", { tier: "gold" }));
    return people;
  }

  test("copied into another store they are the same", async () => {
    const lines = memoryBytes();
    const people = filled();
    people.copyInto(lines);
    const other = make();
    other.create(person(9), ["gone"]);
    other.replace(lines);
    expect(await contentOf(other)).toEqual(await contentOf(people));
    expect(other.hashKeysOf(person(3, {}, 2))).toEqual(new Map([["flag", "old-id"]]));
    expect([other.isPersonless(1, "nobody"), other.personOf(1, "gone")]).toEqual([true, undefined]);
    expect(other.distinctIds(person(1))).toEqual(people.distinctIds(person(1)));
    other.close();
    people.close();
  });

  test.each([
    ["what is no line", "{\n"],
    ["an id of nobody", '{"kind":"id","project":1,"distinct_id":"x","person":"nobody"}\n'],
    ["an unknown kind", '{"kind":"thing"}\n'],
  ])("%s is refused, and nothing has changed", async (_what, text) => {
    const people = filled();
    const before = await contentOf(people);
    const lines = memoryBytes();
    people.copyInto(lines);
    lines.append(Buffer.from(text));
    expect(() => people.replace(lines)).toThrow(/people\.ndjson:\d+ cannot be read/);
    expect(await contentOf(people)).toEqual(before);
    people.close();
  });
});

test("replaced people are on disk at once", async () => {
  const place = fresh();
  const people = openPeople({ folder: place });
  people.create(person(1), ["a"]);
  people.flush();
  const lines = memoryBytes();
  people.copyInto(lines);
  people.create(person(2), ["b"]);
  people.flush();
  people.replace(lines);
  expect(readFileSync(join(place, "people.ndjson"), "utf8")).not.toContain('"b"');
  people.close();
  const again = openPeople({ folder: place });
  expect(again.counts()).toMatchObject({ persons: 1, ids: 1 });
  again.close();
});
