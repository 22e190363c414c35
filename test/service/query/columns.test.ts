import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { fileBytes, memoryBytes } from "../../../src/kernel/store/bytes.ts";
import type { TrafficLogOptions } from "../../../src/state/journal/log/traffic-log.ts";
import { putInPlace, reset } from "../../kernel/store/changing.ts";
import { group, person } from "../../state/persons/person-fixture.ts";
import { newFolder } from "../../support/folder.ts";
import { openJournal, request, type SentEvent, valuesOf } from "./journal.ts";

const folder = newFolder();

afterEach(() => void vi.restoreAllMocks());

let files = 0;
/** Options of a journal in a file. */
const inFile = (path = join(folder, `${++files}.ndjson`)): Partial<TrafficLogOptions> => ({
  ...{ bytes: fileBytes(path), name: path },
  sidecars: { requests: `${path}.requests`, events: `${path}.events` },
});

/** Each step of a query then takes a turn of the event loop. */
function slowDown(): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 20;
    return now;
  });
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

/** Events `from` to `to`, of three names, five users and three plans. */
const some = (from: number, to: number, more: Partial<SentEvent> = {}): SentEvent[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    ...{ event: `e${(from + i) % 3}`, id: `u${(from + i) % 5}` },
    properties: { plan: `p${(from + i) % 3}`, n: from + i },
    ...more,
  }));

const plan = { properties: ["plan"] };

describe.each([
  ["in memory", (): Partial<TrafficLogOptions> => ({})],
  ["in a file", () => inFile()],
])("columns of a journal %s", (_, logOptions) => {
  test("grow as events arrive, and a table stays as it is", async () => {
    const { capture, table, log } = openJournal({ log: logOptions() });
    expect((await table(plan)).length).toBe(0);
    await capture(some(1, 3));
    const first = await table(plan);
    const before = valuesOf(first.property("plan"), first);
    for (let k = 0; k < 6; k++) await capture(some(1 + k * 50, (k + 1) * 50));
    expect((await table(plan)).length).toBe(303);
    await capture([{ event: "e", id: "new", properties: { plan: { nested: [1] } } }]);
    await table({ properties: ["n", "plan"] });
    expect(first.length).toBe(3);
    expect(valuesOf(first.property("plan"), first)).toEqual(before);
    await log.close();
  });

  test("hold the kept events of one project, without recordings", async () => {
    const { capture, table, log } = openJournal({ log: logOptions() });
    await capture(some(1, 3));
    await capture(some(4, 6), { project: 2 });
    await capture([
      ...some(7, 7),
      ...some(8, 8, { facts: { dropped: "missing_event_name", person: null } }),
      ...some(9, 9),
    ]);
    await capture(some(10, 10), { shape: "recording" });
    await capture(some(11, 11), { shape: "v1" });
    expect([...(await table(plan)).seqs]).toEqual([1, 2, 3, 7, 9, 11]);
    expect([...(await table(plan, 2)).seqs]).toEqual([4, 5, 6]);
    expect((await table(plan, 3)).length).toBe(0);
    await log.close();
  });

  test("follow what is cleared, forgotten, restored and replaced", async () => {
    const { capture, table, log } = openJournal({ log: logOptions() });
    const place = logOptions().bytes ? folder : undefined;
    await capture(some(1, 3));
    await capture(some(4, 6), { project: 2 });
    const marked = log.mark();
    const held = await table(plan);
    await table(plan, 2);
    log.clearEvents(2);
    expect((await table(plan)).length).toBe(3);
    expect((await table(plan, 2)).length).toBe(0);
    await capture(some(7, 8), { project: 2 });
    expect([...(await table(plan, 2)).seqs]).toEqual([7, 8]);
    log.forget();
    expect((await table(plan)).length).toBe(0);
    await capture(some(9, 9));
    expect([...(await table(plan)).seqs]).toEqual([9]);
    putInPlace(log.restoring(marked), place);
    expect([...(await table(plan)).seqs]).toEqual([1, 2, 3]);
    expect([...(await table(plan, 2)).seqs]).toEqual([4, 5, 6]);
    reset(log, place);
    expect((await table(plan)).length).toBe(0);
    await capture(some(10, 11));
    expect([...(await table(plan)).seqs]).toEqual([10, 11]);
    expect(held.event(0)).toBeUndefined();
    expect(valuesOf(held.names, held)).toEqual(["e1", "e2", "e0"]);
    await log.close();
  });

  test("are right when events go, or come, while they are read", async () => {
    const { capture, table, tables, log } = openJournal({ log: logOptions() });
    const place = logOptions().bytes ? folder : undefined;
    await capture(some(1, 2));
    await table();
    for (let k = 0; k < 10; k++) await capture(some(1, 20));
    slowDown();
    const first = tables.tableFor(1, { properties: ["n"] });
    await turns(6);
    log.clearEvents();
    await capture(some(1, 5));
    const second = table({ properties: ["plan", "n"] });
    await turns(2);
    await capture(some(6, 7));
    expect((await first).length).toBe(7);
    expect((await second).length).toBe(7);
    const marked = log.mark();
    const third = tables.tableFor(1, { properties: ["other"] });
    await turns(2);
    log.clearEvents();
    await turns(3);
    putInPlace(log.restoring(marked), place);
    expect((await third).length).toBe(7);
    await table({ properties: ["other", "plan"] });
    await log.close();
  });
});

describe("events that were refused", () => {
  test("are not in a table, whose seqs go to others", async () => {
    let isFull = false;
    const unit = {
      write() {
        if (isFull) throw new Error("ENOSPC");
      },
      settle() {},
      rollBack() {},
    };
    const { capture, table, tables, log } = openJournal({ log: { units: [unit] } });
    await capture(some(1, 2));
    log.append(request(some(3, 5)));
    isFull = true;
    expect([...(await tables.tableFor(1, plan)).seqs]).toEqual([1, 2]);
    await expect(log.written()).rejects.toThrow("ENOSPC");
    isFull = false;
    await capture(some(6, 7));
    expect([...(await table(plan)).seqs]).toEqual([1, 2, 3, 4]);
  });
});

describe("events that were evicted", () => {
  test("leave a table from its front, in memory", async () => {
    const { capture, table, log } = openJournal({ log: { keep: { bytes: 20_000 } } });
    const firsts: (number | undefined)[] = [];
    for (let k = 0; k < 60; k++) {
      await capture(some(k, k + 4));
      firsts.push((await table(plan)).seqs[0]);
    }
    expect(firsts[0]).toBe(1);
    expect(firsts.at(-1)).toBe(log.firstHeldSeq);
    expect(log.firstHeldSeq).toBeGreaterThan(200);
    const held = await table(plan);
    while (log.firstHeldSeq <= (held.seqs[0] ?? 0)) await capture(some(1, 20));
    expect(held.event(0)).toBeUndefined();
    expect(held.event(held.length - 1)?.seq).toBe(held.seqs[held.length - 1]);
  });

  test("leave the memory, too", async () => {
    const { capture, tables, log } = openJournal({ log: { keep: { bytes: 50_000 } } });
    const reads = vi.spyOn(log, "lines");
    const starts: (number | undefined)[] = [];
    for (let k = 0; k < 12; k++) {
      await capture(some(k * 400, k * 400 + 399));
      await tables.tableFor(1, plan);
      starts.push(reads.mock.lastCall?.[0].since);
    }
    // read from the start once most rows are evicted
    expect(starts.filter((it, k) => k > 0 && it === 0)).toHaveLength(1);
  });

  test("leave it while a column is read", async () => {
    const { capture, table, tables, log } = openJournal({ log: { keep: { bytes: 20_000 } } });
    for (let k = 0; k < 20; k++) await capture(some(k, k + 4));
    await table();
    slowDown();
    const reading = tables.tableFor(1, plan);
    await turns(3);
    const first = log.firstHeldSeq;
    while (log.firstHeldSeq < first + 10) await capture(some(1, 5));
    const found = await reading;
    const shown = Array.from({ length: found.length }, (_, row) => found.event(row)?.properties.plan);
    const read = valuesOf(found.property("plan"), found);
    expect(read.slice(-10)).toEqual(shown.slice(-10));
    expect(shown.every((it, row) => it === undefined || it === read[row])).toBe(true);
    await table(plan);
  });

  test("leave it when a file is trimmed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { capture, table, log } = openJournal({ log: { ...inFile(), keep: { bytes: 20_000 } } });
    for (let k = 0; k < 40; k++) await capture(some(k, k + 4));
    expect((await table(plan)).length).toBe(200);
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    while (log.firstSeq === 1) await turns(1);
    expect((await table(plan)).seqs[0]).toBe(log.firstSeq);
    await capture(some(1, 3));
    await table({ properties: ["n"] });
    await log.close();
  });
});

describe("a file", () => {
  test("gives the same columns after a restart, with and without its index", async () => {
    const options = inFile();
    const first = openJournal({ log: options });
    for (let k = 0; k < 5; k++) await first.capture(some(k, k + 9));
    first.log.clearEvents(2);
    const seqs = [...(await first.table(plan)).seqs];
    await first.log.close();
    for (const isIndexed of [true, false]) {
      const { log, table } = openJournal({
        log: isIndexed ? inFile(options.name) : { bytes: fileBytes(options.name ?? "") },
      });
      expect([...(await table(plan)).seqs]).toEqual(seqs);
      await log.close();
    }
  });

  /** A line without a checksum, as someone who edits the file may leave it. */
  function edited(line: string): string {
    const { crc: _, body, ...rest } = JSON.parse(line);
    return JSON.stringify({ body, ...rest }).replaceAll('":', '" : ');
  }

  test.each([
    ["is damaged", (line: string) => line.replace("distinct_id", "distinct-id"), 4],
    ["was edited", edited, 5],
  ])("whose third line %s: the other events are right", async (_, change, requests) => {
    const options = inFile();
    const path = options.name ?? "";
    const first = openJournal({ log: options });
    // so much that the index does not notice
    const properties = { plan: "p", pad: "x".repeat(2_000) };
    for (let k = 0; k < 5; k++) await first.capture(some(k, k + 2, { properties }));
    await first.log.close();
    const lines = readFileSync(path, "utf8").split("\n");
    lines[3] = change(lines[3] ?? "");
    writeFileSync(path, lines.join("\n"));
    const { log, table } = openJournal({ log: inFile(path) });
    expect((await table(plan)).length).toBe(3 * requests);
    await log.close();
  });
});

describe("persons", () => {
  const people = { personProperties: ["email", "plan"] };

  test("are those of now", async () => {
    const { capture, table, people: store } = openJournal();
    await capture(some(1, 12));
    await table(people);
    const [ann, bob] = [person(1, { email: "ann" }), person(2, { email: "bob", plan: "pro" })];
    store.create(ann, ["u1"]);
    store.create(bob, ["u2", "u3"]);
    const before = await table(people);
    const uuids = valuesOf(before.persons, before);
    store.update({ ...ann, properties: { email: "ann@x" } });
    await table(people);
    store.merge(ann, { ...bob, properties: { email: "both" } });
    await table(people);
    await capture(some(13, 20));
    await table(people);
    store.attach(bob, "u4");
    await table(people);
    store.remove(bob);
    await table(people);
    store.create(person(3, { plan: 1 }), ["u1"]);
    await table(people);
    store.clear(1);
    await table(people);
    expect(valuesOf(before.persons, before)).toEqual(uuids);
    expect(valuesOf(before.personProperty("email"), before)).toContain("ann");
  });

  test("are those of when the event arrived, if its id has none", async () => {
    const { capture, table, people: store } = openJournal();
    const [ann, bob] = [person(1, { email: "ann" }), person(2, { email: "bob" })];
    store.create(bob, ["b"]);
    await capture([
      { event: "e", id: "a", facts: { person: ann.uuid } },
      { event: "e", id: "a", facts: { person: bob.uuid } },
      { event: "e", id: "a", facts: { person: null } },
    ]);
    const found = await table(people);
    expect(valuesOf(found.persons, found)).toEqual([ann.uuid, bob.uuid, ""]);
    expect(valuesOf(found.personProperty("email"), found)).toEqual([undefined, "bob", undefined]);
  });

  test("follow changes that come while they are read, and another store", async () => {
    const { capture, table, tables, people: store } = openJournal();
    await capture(some(1, 50));
    slowDown();
    const reading = tables.tableFor(1, people);
    await turns(4);
    for (let n = 1; n <= 4; n++) store.create(person(n, { email: `${n}` }), [`u${n}`]);
    await reading;
    await table(people);
    const { people: other } = openJournal();
    other.create(person(9, { email: "other" }), ["u1", "u2"]);
    const lines = memoryBytes();
    other.copyInto(lines);
    store.replacing(lines).take();
    const found = await table(people);
    expect(valuesOf(found.personProperty("email"), found)).toContain("other");
  });

  test("of another project change nothing", async () => {
    const { capture, table, people: store } = openJournal();
    await capture(some(1, 5));
    const before = await table(people);
    store.create(person(1, { email: "other" }, 2), ["u1"]);
    expect(valuesOf((await table(people)).persons, before)).toEqual(valuesOf(before.persons, before));
  });
});

test("groups: their keys, and their properties of now", async () => {
  const needs = { groups: [0, 1], groupProperties: [{ group: 0, name: "size" }] };
  const { capture, table, people } = openJournal();
  await capture([
    { event: "e", id: "u", facts: { groups: { "0": "acme", "1": "eu" } } },
    { event: "e", id: "u", facts: { groups: { "0": "none" } } },
    { event: "e", id: "u", properties: { $group_0: "acme" } },
    { event: "e", id: "u" },
  ]);
  await table(needs);
  people.saveGroup(group(0, "acme", { size: 5 }));
  const first = await table(needs);
  expect(valuesOf(first.groupProperty(0, "size"), first)).toEqual([5, undefined, 5, undefined]);
  people.saveGroup(group(0, "acme", { size: [1] }));
  await table(needs);
  await capture([{ event: "e", id: "u", facts: { groups: { "0": "new" } } }]);
  people.saveGroup(group(0, "new", { size: 7 }));
  await table(needs);
  expect(valuesOf(first.groupProperty(0, "size"), first)).toEqual([5, undefined, 5, undefined]);
});

describe("memory", () => {
  const unique = (count: number): SentEvent[] =>
    Array.from({ length: count }, (_, i) => ({
      ...{ event: "e", id: "u" },
      properties: Object.fromEntries(["a", "b", "c"].map((it) => [it, `${i}${it}`.padEnd(1_000, "x")])),
    }));

  test("the column that was not used for the longest time goes first, and is read again", async () => {
    const { capture, table, tables, log } = openJournal({ budget: 1_200_000 });
    await capture(unique(200));
    const use = (name: string) => tables.tableFor(1, { properties: [name] });
    const reads = vi.spyOn(log, "lines");
    const held = await table({ properties: ["a"] });
    for (const name of ["b", "a", "c"]) await use(name);
    expect(reads).toHaveBeenCalledTimes(3);
    await use("a");
    await use("c");
    expect(reads).toHaveBeenCalledTimes(3);
    await use("b");
    expect(reads).toHaveBeenCalledTimes(4);
    expect(valuesOf(held.property("a"), held)[7]).toMatch(/^7ax/);
  });

  test("a query that needs too much is refused; others go on", async () => {
    const { capture, table, tables } = openJournal({ budget: 200_000 });
    await capture(unique(300));
    const refused = tables.tableFor(1, { properties: ["a"], persons: false });
    const served = table(plan);
    await expect(refused).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining('the property "a"'),
    });
    await served;
    await expect(tables.tableFor(1, { properties: ["plan", "b"] })).rejects.toThrow('"b"');
    await table(plan);
  });

  test("columns of a project that is not queried any more go, too", async () => {
    const { capture, table, log } = openJournal({ budget: 50_000 });
    for (let project = 1; project <= 20; project++) await capture(some(1, 100), { project });
    for (let project = 1; project <= 20; project++) await table(plan, project);
    const reads = vi.spyOn(log, "lines");
    await table(plan, 20);
    expect(reads).not.toHaveBeenCalled();
    await table(plan, 1);
    expect(reads).toHaveBeenCalled();
  });
});

test("queries at the same time share the reading", async () => {
  const { capture, table, log } = openJournal();
  for (let k = 0; k < 10; k++) await capture(some(1, 20));
  const reads = vi.spyOn(log, "lines");
  const needs = ["plan", "n", "plan", "other", "n"].map((name) => ({ properties: [name] }));
  await Promise.all(needs.map((it) => table(it)));
  expect(reads.mock.calls.length).toBeLessThanOrEqual(2);
  reads.mockClear();
  await Promise.all(needs.map((it) => table(it)));
  expect(reads).not.toHaveBeenCalled();
});

test("an aborted query ends at once; one that waits as well gets its table", async () => {
  const { capture, table, tables } = openJournal();
  for (let k = 0; k < 20; k++) await capture(some(1, 20));
  slowDown();
  const ending = new AbortController();
  const aborted = tables.tableFor(1, { properties: ["n"] }, ending.signal);
  const waiting = table(plan);
  await turns(2);
  ending.abort(new Error("gone"));
  await expect(aborted).rejects.toThrow("gone");
  expect((await waiting).length).toBe(400);
  await expect(tables.tableFor(1, {}, ending.signal)).rejects.toThrow("gone");
});

test("a query reads only what it needs", async () => {
  const { capture, tables } = openJournal();
  await capture(some(1, 2));
  const table = await tables.tableFor(1, { ...plan, persons: false });
  expect(() => table.property("n")).toThrow("n");
  expect(() => table.personProperty("plan")).toThrow("plan");
  expect(() => table.group(0)).toThrow("$group_0");
  expect(() => table.groupProperty(0, "plan")).toThrow("plan");
  expect(() => table.persons).toThrow("persons");
  expect(table.event(1)?.properties.n).toBe(2);
  expect(table.event(2)).toBeUndefined();
});
