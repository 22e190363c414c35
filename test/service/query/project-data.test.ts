import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { FileBytes, MemoryBytes } from "../../../src/kernel/store/bytes.ts";
import type { EventTable } from "../../../src/service/query/table.ts";
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
  ...{ bytes: new FileBytes(path), name: path },
  sidecars: { requests: `${path}.requests`, events: `${path}.events` },
});

/** Events `from` to `to`, of three names, five users and three plans. */
const some = (from: number, to: number, more: Partial<SentEvent> = {}): SentEvent[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({
    ...{ event: `e${(from + i) % 3}`, id: `u${(from + i) % 5}` },
    properties: { plan: `p${(from + i) % 3}`, n: from + i },
    ...more,
  }));

const plan = { properties: ["plan"] };

const seqsOf = (table: EventTable) => valuesOf(table.seq, table);

describe.each([
  ["in memory", (): Partial<TrafficLogOptions> => ({})],
  ["in a file", () => inFile()],
])("columns of a journal %s", (_, logOptions) => {
  test("grow as events arrive, and a table stays as it is", async () => {
    const { capture, table, log } = openJournal({ log: logOptions() });
    expect(table(plan).length).toBe(0);
    await capture(some(1, 3));
    const first = table(plan);
    const before = valuesOf(first.property("plan"), first);
    for (let k = 0; k < 6; k++) await capture(some(1 + k * 50, (k + 1) * 50));
    expect(table(plan).length).toBe(303);
    await capture([{ event: "e", id: "new", properties: { plan: { nested: [1] } } }]);
    table({ properties: ["n", "plan"] });
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
    expect(seqsOf(table(plan))).toEqual([1, 2, 3, 7, 9, 11]);
    expect(seqsOf(table(plan, 2))).toEqual([4, 5, 6]);
    expect(table(plan, 3).length).toBe(0);
    await log.close();
  });

  test("follow what is cleared, forgotten, restored and replaced", async () => {
    const { capture, table, log } = openJournal({ log: logOptions() });
    const place = logOptions().bytes ? folder : undefined;
    await capture(some(1, 3));
    await capture(some(4, 6), { project: 2 });
    const marked = log.mark();
    const held = table(plan);
    table(plan, 2);
    log.clearEvents(2);
    expect(table(plan).length).toBe(3);
    expect(table(plan, 2).length).toBe(0);
    await capture(some(7, 8), { project: 2 });
    expect(seqsOf(table(plan, 2))).toEqual([7, 8]);
    log.forget();
    expect(table(plan).length).toBe(0);
    await capture(some(9, 9));
    expect(seqsOf(table(plan))).toEqual([9]);
    putInPlace(log.restoring(marked), place);
    expect(seqsOf(table(plan))).toEqual([1, 2, 3]);
    expect(seqsOf(table(plan, 2))).toEqual([4, 5, 6]);
    reset(log, place);
    expect(table(plan).length).toBe(0);
    await capture(some(10, 11));
    expect(seqsOf(table(plan))).toEqual([10, 11]);
    expect(held.event(3)).toBeUndefined();
    expect(valuesOf(held.name, held)).toEqual(["e1", "e2", "e0"]);
    await log.close();
  });

  test("are right when events go, or come, while they are read", async () => {
    const { capture, table, interrupt, log } = openJournal({ log: logOptions() });
    const place = logOptions().bytes ? folder : undefined;
    for (let k = 0; k < 5; k++) await capture(some(1, 20));
    interrupt(() => log.clearEvents());
    expect(table(plan).length).toBe(0);
    await capture(some(1, 5));
    const marked = log.mark();
    table(plan);
    log.clearEvents();
    await capture(some(6, 7));
    interrupt(() => putInPlace(log.restoring(marked), place));
    expect(table(plan).length).toBe(5);
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
    const { capture, table, seqs, log } = openJournal({ log: { units: [unit] } });
    await capture(some(1, 2));
    log.append(request(some(3, 5)));
    isFull = true;
    expect(seqs()).toEqual([1, 2]);
    await expect(log.written()).rejects.toThrow("ENOSPC");
    isFull = false;
    await capture(some(6, 7));
    expect(seqsOf(table(plan))).toEqual([1, 2, 3, 4]);
  });
});

describe("events that were evicted", () => {
  test("leave a table from its front, in memory", async () => {
    const { capture, table, log, parsed } = openJournal({ log: { keep: { bytes: 20_000 } } });
    const firsts: (number | undefined)[] = [];
    for (let k = 0; k < 60; k++) {
      await capture(some(k, k + 4));
      firsts.push(table(plan).seq(0));
    }
    expect(firsts[0]).toBe(1);
    expect(firsts.at(-1)).toBe(log.firstHeldSeq);
    expect(log.firstHeldSeq).toBeGreaterThan(200);
    expect(table(plan).length).toBeLessThan(100);
    expect(parsed()).toBeLessThan(25_000);
  });

  test("leave it when a file is trimmed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { capture, table, log } = openJournal({ log: { ...inFile(), keep: { bytes: 20_000 } } });
    for (let k = 0; k < 40; k++) await capture(some(k, k + 4));
    expect(table(plan).length).toBe(200);
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    while (log.firstSeq === 1) await new Promise(setImmediate);
    expect(table(plan).seq(0)).toBe(log.firstSeq);
    await capture(some(1, 3));
    table({ properties: ["n"] });
    await log.close();
  });
});

describe("a file", () => {
  test("gives the same columns after a restart, with and without its index", async () => {
    const options = inFile();
    const first = openJournal({ log: options });
    for (let k = 0; k < 5; k++) await first.capture(some(k, k + 9));
    first.log.clearEvents(2);
    const seqs = seqsOf(first.table(plan));
    await first.log.close();
    for (const isIndexed of [true, false]) {
      const { log, table } = openJournal({
        log: isIndexed ? inFile(options.name) : { bytes: new FileBytes(options.name ?? "") },
      });
      expect(seqsOf(table(plan))).toEqual(seqs);
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
    expect(table(plan).length).toBe(3 * requests);
    await log.close();
  });
});

describe("persons", () => {
  const people = { personProperties: ["email", "plan"] };

  test("are those of now", async () => {
    const { capture, table, people: store } = openJournal();
    await capture(some(1, 12));
    table(people);
    const [ann, bob] = [person(1, { email: "ann" }), person(2, { email: "bob", plan: "pro" })];
    store.create(ann, ["u1"]);
    store.create(bob, ["u2", "u3"]);
    table(people);
    store.update({ ...ann, properties: { email: "ann@x" } });
    table(people);
    store.merge(ann, { ...bob, properties: { email: "both" } });
    table(people);
    await capture(some(13, 20));
    table(people);
    store.attach(bob, "u4");
    table(people);
    store.remove(bob);
    table(people);
    store.create(person(3, { plan: 1 }), ["u1"]);
    table(people);
    store.clear(1);
    table(people);
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
    const found = table(people);
    expect(valuesOf(found.person, found)).toEqual([ann.uuid, bob.uuid, ""]);
    expect(valuesOf(found.personProperty("email"), found)).toEqual([undefined, "bob", undefined]);
  });

  test("follow another store", async () => {
    const { capture, table, people: store } = openJournal();
    await capture(some(1, 50));
    table(people);
    const { people: other } = openJournal();
    other.create(person(9, { email: "other" }), ["u1", "u2"]);
    const lines = new MemoryBytes();
    other.copyInto(lines);
    store.replacing(lines).take();
    const found = table(people);
    expect(valuesOf(found.personProperty("email"), found)).toContain("other");
  });

  test("of another project change nothing", async () => {
    const { capture, table, people: store } = openJournal();
    await capture(some(1, 5));
    const before = table(people);
    const uuids = valuesOf(before.person, before);
    store.create(person(1, { email: "other" }, 2), ["u1"]);
    expect(valuesOf(table(people).person, before)).toEqual(uuids);
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
  table(needs);
  people.saveGroup(group(0, "acme", { size: 5 }));
  const first = table(needs);
  expect(valuesOf(first.groupProperty(0, "size"), first)).toEqual([5, undefined, 5, undefined]);
  people.saveGroup(group(0, "acme", { size: [1] }));
  table(needs);
  await capture([{ event: "e", id: "u", facts: { groups: { "0": "new" } } }]);
  people.saveGroup(group(0, "new", { size: 7 }));
  table(needs);
});

test("lines beyond the limit of those that stay parsed give the same values", async () => {
  const { capture, table, log } = openJournal({ most: 2_000 });
  for (let k = 0; k < 20; k++) await capture(some(1, 20), { shape: k % 2 ? "v1" : "legacy" });
  const found = table({ properties: ["plan", "n"] });
  expect(found.length).toBe(400);
  expect(found.event(399)?.properties.n).toBe(20);
  await log.close();
});

test("only what is new is read", async () => {
  const { capture, table, people, questions, log } = openJournal();
  const all = { personProperties: ["email"], groupProperties: [{ group: 0, name: "size" }] };
  people.create(person(1, { email: "ann" }), ["u1"]);
  await capture(some(1, 3));
  table(all);
  questions.length = 0;
  table(all);
  expect(questions).toEqual(["state"]);
  const reads = vi.spyOn(log, "lines");
  await capture(some(4, 6));
  table(all);
  expect(reads.mock.lastCall?.[0]).toMatchObject({ since: 3, until: 6 });
});
