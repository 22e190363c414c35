import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { type Bytes, FileBytes, MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import { type CopiedLine, TrafficLog } from "../../../src/state/journal/log/traffic-log.ts";
import type { EventKey, TrafficLine } from "../../../src/state/journal/traffic.ts";
import { openPersonStore, type PersonStore } from "../../../src/state/persons/person-store.ts";
import { contentOf, group, person } from "../../state/persons/person-fixture.ts";
import { newFolder } from "../../support/folder.ts";
import { flush, putInPlace } from "./changing.ts";

/** Lines of these tests carry their events' names in the body. */
const keysOf = (line: TrafficLine): EventKey[] => (line.body as string[]).map((event) => ({ event, distinct_id: "u" }));

function lineOf(names: readonly string[], more: JsonObject = {}): TrafficLine {
  const events = names.map((name) => ({ uuid: `uuid-${name}`, time: 0, person: null }));
  const facts = { n: 900, at: 0, method: "POST", target: "/e/", peer: "::1", status: 200, us: 1, project: 1 };
  return { ...facts, ...more, seq: 4_000, events, headers: [], body: [...names] } as TrafficLine;
}

const copied = (names: readonly string[], isCleared = false): CopiedLine => ({ line: lineOf(names), isCleared });

const open = (bytes: Bytes, file?: string): TrafficLog =>
  new TrafficLog({
    bytes,
    keysOf,
    ...(file !== undefined && { name: file }),
    ...(file !== undefined && { sidecars: { requests: `${file}.r`, events: `${file}.e` } }),
  });

const seen = (log: TrafficLog) =>
  [...log.scan({})].map(({ seq, line, index }) => `${line.n}/${seq} ${keysOf(line)[index]?.event}`);

describe("lines of another log", () => {
  test("get the next numbers, keep what they say, and are sent to no listener", () => {
    const log = open(new MemoryBytes());
    log.subscribe(() => expect.unreachable());
    putInPlace(log.replacing([copied(["a", "b"]), copied(["c"])], true));
    expect(seen(log)).toEqual(["1/1 a", "1/2 b", "2/3 c"]);
    expect([log.seen(1, "uuid-c"), log.seen(2, "uuid-c")]).toEqual([true, false]);
    putInPlace(log.replacing([copied(["d"])], true));
    expect(seen(log)).toEqual(["3/4 d"]);
    expect([log.lastSeq, log.lastRequest, log.seen(1, "uuid-c")]).toEqual([4, 3, false]);
  });

  test.each([true, false])(
    "that were cleared are hidden, also after a restart without the index (%s)",
    async (keepsOld) => {
      const folder = newFolder();
      const file = join(folder, "traffic.ndjson");
      const log = open(new FileBytes(file), file);
      putInPlace(log.replacing([copied(["a"], true), copied(["b"])], keepsOld), folder);
      expect([seen(log), log.seen(1, "uuid-a")]).toEqual([["2/2 b"], false]);
      await log.close();
      for (const end of ["r", "e"]) rmSync(`${file}.${end}`);
      const again = open(new FileBytes(file), file);
      expect([seen(again), again.seen(1, "uuid-a")]).toEqual([["2/2 b"], false]);
      await again.close();
    },
  );

  test("are copied out as they are", () => {
    const log = open(new MemoryBytes());
    putInPlace(log.replacing([copied(["a"], true), copied(["b"])], true));
    const texts = [...log.texts()].map((it) => it && [JSON.parse(it.text).body, it.isCleared]);
    expect(texts).toEqual([
      [["a"], true],
      [["b"], false],
    ]);
    log.forget();
    expect([...log.texts()]).toEqual([]);
  });
});

describe("what is forgotten", () => {
  test("is that of one project, or all, and can be shown again", () => {
    const log = open(new MemoryBytes());
    const lines = [lineOf(["a"]), lineOf(["b"], { project: 2 })];
    putInPlace(
      log.replacing(
        lines.map((line) => ({ line, isCleared: false })),
        true,
      ),
    );
    const mark = log.mark();
    log.forget(2);
    expect([seen(log), [...log.requests({})], log.line(2)]).toEqual([["1/1 a"], [1], undefined]);
    log.forget();
    expect([seen(log), log.counts().requests, log.counts().events]).toEqual([[], 0, 0]);
    const shown = log.restoring(mark);
    putInPlace(shown);
    expect(shown.hasEvents).toBe(true);
    expect([seen(log), [...log.requests({})]]).toEqual([
      ["1/1 a", "2/2 b"],
      [2, 1],
    ]);
  });

  test("a mark of an emptied log shows nothing", () => {
    const log = open(new MemoryBytes());
    putInPlace(log.replacing([copied(["a"])], true));
    const mark = log.mark();
    putInPlace(log.replacing([copied(["b"])], false));
    const shown = log.restoring(mark);
    putInPlace(shown);
    expect([shown.hasEvents, seen(log)]).toEqual([false, []]);
  });
});

describe.each([
  ["in memory", undefined],
  ["in a folder", newFolder],
])("people %s", (_, newPlace) => {
  const make = (place?: string) => openPersonStore(place === undefined ? {} : { folder: place });
  function filled(): PersonStore {
    const people = make(newPlace?.());
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
    const lines = new MemoryBytes();
    const people = filled();
    people.copyInto(lines);
    const place = newPlace?.();
    const other = make(place);
    other.create(person(9), ["gone"]);
    flush(other);
    putInPlace(other.replacing(lines), place);
    expect(await contentOf(other)).toEqual(await contentOf(people));
    expect(other.hashKeysOf(person(3, {}, 2))).toEqual(new Map([["flag", "old-id"]]));
    expect([other.isPersonless(1, "nobody"), other.personOf(1, "gone")]).toEqual([true, undefined]);
    expect(other.distinctIds(person(1))).toEqual(people.distinctIds(person(1)));
    other.close();
    people.close();
  });

  test.each([
    ["what is no line", "{\n"],
    ["an id of no one", '{"kind":"id","project":1,"distinct_id":"x","person":"nobody"}\n'],
    ["an unknown kind", '{"kind":"thing"}\n'],
  ])("%s is refused, and nothing has changed", async (_what, text) => {
    const people = filled();
    const before = await contentOf(people);
    const lines = new MemoryBytes();
    people.copyInto(lines);
    lines.append(Buffer.from(text));
    expect(() => people.replacing(lines)).toThrow(/people\.ndjson:\d+ cannot be read/);
    expect(await contentOf(people)).toEqual(before);
    people.close();
  });
});

test("replaced people are on disk at once", async () => {
  const place = newFolder();
  const people = openPersonStore({ folder: place });
  people.create(person(1), ["a"]);
  flush(people);
  const lines = new MemoryBytes();
  people.copyInto(lines);
  people.create(person(2), ["b"]);
  flush(people);
  putInPlace(people.replacing(lines), place);
  expect(readFileSync(join(place, "people.ndjson"), "utf8")).not.toContain('"b"');
  people.close();
  const again = openPersonStore({ folder: place });
  expect(again.counts()).toMatchObject({ persons: 1, ids: 1 });
  again.close();
});
