import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { EventFacts } from "../../src/model/event.ts";
import type { EventKey, Note, TrafficLine } from "../../src/model/traffic.ts";
import { fileBytes, memoryBytes } from "../../src/store/bytes.ts";
import { DataFolderError } from "../../src/store/data-folder.ts";
import { entryWriter, type GivenReply, type ReceivedCall } from "../../src/store/traffic-entry.ts";
import { openTrafficLog, type TrafficLog, type TrafficLogOptions } from "../../src/store/traffic-log.ts";
import { reset } from "./changing.ts";

const folder = mkdtempSync(join(tmpdir(), "phx-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const fresh = () => join(folder, String(++files));

interface Item {
  event: string;
  distinct_id: string;
}

/** Bodies in these tests are arrays of items. */
const keysOf = (line: TrafficLine): EventKey[] => line.body as unknown as Item[] as EventKey[];

const sidecars = (path: string) => ({ requests: `${path}.r.idx`, events: `${path}.e.idx` });

const inFile = (path: string, more: Partial<TrafficLogOptions> = {}): TrafficLog =>
  openTrafficLog({ bytes: fileBytes(path), sidecars: sidecars(path), keysOf, name: path, ...more });

const inMemory = (more: Partial<TrafficLogOptions> = {}): TrafficLog =>
  openTrafficLog({ bytes: memoryBytes(), keysOf, ...more });

const entryOf = entryWriter();

function entry(items: Item[], { project = 1, drop = false, uuid = (i: number) => `u${i}`, at = 0 } = {}) {
  const text = JSON.stringify(items);
  const facts = items.map((_, i): EventFacts => {
    const it: EventFacts = { uuid: uuid(i), time: at, person: "p" };
    return drop ? { ...it, dropped: "missing_distinct_id" } : it;
  });
  const call: ReceivedCall = {
    method: "POST",
    target: "/batch/",
    rawHeaders: ["Host", "x"],
    body: Buffer.from(text),
    peer: "127.0.0.1",
    at,
    started: performance.now(),
  };
  const reply: GivenReply = { status: 200, headers: ["content-type", "application/json"], body: "{}" };
  const note: Note = { project, text, events: facts, keys: items };
  return entryOf(call, reply, note);
}

const names = (log: TrafficLog, filter: Parameters<TrafficLog["scan"]>[0] = {}) =>
  [...log.scan(filter)].map(({ seq, line, index }) => `${seq}:${keysOf(line)[index]?.event}`);

const item = (event: string, distinct_id = "u"): Item => ({ event, distinct_id });

test.each([true, false])("reset forgets everything; numbering goes on (in a file: %s)", async (isFile) => {
  const log = isFile ? inFile(fresh()) : inMemory();
  log.append(entry([item("a")]));
  reset(log, isFile ? folder : undefined);
  expect(names(log)).toEqual([]);
  expect(log.seen(1, "u0")).toBe(false);
  log.append(entry([item("b")]));
  await log.written();
  expect(names(log)).toEqual(["2:b"]);
  expect(log.line(2)?.n).toBe(2);
  await log.close();
});

describe.each([
  ["in memory", () => inMemory()],
  ["in a file", () => inFile(fresh())],
])("a log %s", (_, open) => {
  test("numbers requests and events in order of arrival", async () => {
    const log = open();
    expect(log.append(entry([item("a"), item("b")]))).toBe(1);
    expect(log.append(entry([item("c")]))).toBe(2);
    expect([log.lastRequest, log.lastSeq]).toEqual([2, 3]);
    await log.written();
    expect(names(log)).toEqual(["1:a", "2:b", "3:c"]);
    await log.close();
  });

  test("shows what was appended before it is written", async () => {
    const log = open();
    log.append(entry([item("a")]));
    expect(names(log)).toEqual(["1:a"]);
    expect(log.line(1)?.status).toBe(200);
    await log.close();
  });

  const rows: [string, Parameters<TrafficLog["scan"]>[0], string[]][] = [
    ["all", {}, ["1:a", "2:b", "3:a", "4:d", "5:a"]],
    ["backwards", { order: "desc" }, ["5:a", "4:d", "3:a", "2:b", "1:a"]],
    ["by name", { event: "a" }, ["1:a", "3:a", "5:a"]],
    ["by name, backwards", { event: "a", order: "desc" }, ["5:a", "3:a", "1:a"]],
    ["by person", { distinct_id: "v" }, ["2:b", "3:a"]],
    ["by both", { event: "a", distinct_id: "v" }, ["3:a"]],
    ["by project", { project: 2 }, ["5:a"]],
    ["dropped", { outcome: "dropped" }, ["4:d"]],
    ["kept", { outcome: "kept" }, ["1:a", "2:b", "3:a", "5:a"]],
    ["since", { since: 3 }, ["4:d", "5:a"]],
    ["until", { until: 2 }, ["1:a", "2:b"]],
    ["since the end", { since: 5 }, []],
    ["an unknown name", { event: "zzz" }, []],
  ];
  test.each(rows)("scans %s", async (_name, filter, expected) => {
    const log = open();
    log.append(entry([item("a"), item("b", "v"), item("a", "v")]));
    log.append(entry([item("d")], { drop: true }));
    log.append(entry([item("a")], { project: 2 }));
    await log.written();
    expect(names(log, filter)).toEqual(expected);
    await log.close();
  });

  test("knows the uuids of kept events, per project", async () => {
    const log = open();
    log.append(entry([item("a")], { uuid: () => "x" }));
    log.append(entry([item("b")], { uuid: () => "y", drop: true }));
    expect([log.seen(1, "x"), log.seen(2, "x"), log.seen(1, "y"), log.seen(1, "z")]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    await log.close();
  });

  test("clears events of a project; numbering goes on", async () => {
    const log = open();
    log.append(entry([item("a")]));
    log.append(entry([item("b")], { project: 2 }));
    expect(log.clearEvents(1)).toBe(1);
    expect(names(log)).toEqual(["2:b"]);
    log.append(entry([item("c")]));
    expect(names(log)).toEqual(["2:b", "3:c"]);
    await log.close();
  });

  test("counts", async () => {
    const log = open();
    log.append(entry([item("a"), item("b")]));
    log.append(entry([item("c")], { drop: true }));
    expect(log.counts()).toMatchObject({ requests: 2, events: 3, kept: 2, dropped: 1, evicted_requests: 0 });
    await log.close();
  });

  test("tells listeners after the write, in order", async () => {
    const log = open();
    const told: number[] = [];
    log.subscribe((it) => told.push(it.n));
    log.append(entry([item("a")]));
    log.append(entry([item("b")]));
    expect(told).toEqual([]);
    await log.written();
    expect(told).toEqual([1, 2]);
    await log.close();
  });
});

describe("a log in a file", () => {
  async function filled(path: string, count: number): Promise<TrafficLog> {
    const log = inFile(path);
    for (let i = 0; i < count; i++)
      log.append(entry([item(`e${i}`, `u${i % 7}`)], { uuid: () => `id-${i}` }));
    await log.written();
    return log;
  }

  test("is in the file before written() resolves, one JSON line a request", async () => {
    const path = fresh();
    const log = await filled(path, 3);
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect(lines.slice(1).map((it) => it.n)).toEqual([1, 2, 3]);
    await log.close();
  });

  test("comes back with the sidecars, and the same without them", async () => {
    const path = fresh();
    await (await filled(path, 50)).close();
    for (const lost of [[], [sidecars(path).events], Object.values(sidecars(path))]) {
      for (const file of lost) rmSync(file);
      const log = inFile(path);
      expect(log.counts().events).toBe(50);
      expect(names(log, { event: "e33" })).toEqual(["34:e33"]);
      expect(log.seen(1, "id-49")).toBe(true);
      await log.close();
    }
  });

  test("a sidecar that lags (kill -9) is caught up from the log", async () => {
    const path = fresh();
    await (await filled(path, 20)).close();
    const kept = Object.values(sidecars(path));
    for (const file of kept) copyFileSync(file, `${file}.old`);
    const log = inFile(path);
    for (let i = 20; i < 45; i++) log.append(entry([item(`e${i}`)], { uuid: () => `id-${i}` }));
    await log.close();
    for (const file of kept) copyFileSync(`${file}.old`, file);
    const again = inFile(path);
    expect(again.counts().events).toBe(45);
    expect(names(again, { since: 43 })).toEqual(["44:e43", "45:e44"]);
    expect(again.seen(1, "id-44")).toBe(true);
    await again.close();
  });

  test.each(["closed", "reset"])(
    "%s before its events are indexed, nothing is read any more",
    async (end) => {
      const path = fresh();
      await (await filled(path, 50)).close();
      vi.useFakeTimers({ toFake: ["setTimeout"] });
      try {
        const log = inFile(path);
        if (end === "reset") reset(log, folder);
        await log.close();
        vi.runAllTimers();
        expect(vi.getTimerCount()).toBe(0);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  test("a damaged sidecar is ignored", async () => {
    const path = fresh();
    await (await filled(path, 5)).close();
    writeFileSync(sidecars(path).events, "not an index");
    const log = inFile(path);
    expect(names(log)).toHaveLength(5);
    await log.close();
  });

  test("cut at every byte of the last lines: the unfinished line goes, nothing else", async () => {
    const path = fresh();
    await (await filled(path, 4)).close();
    const whole = readFileSync(path);
    const from = whole.lastIndexOf(0x0a, whole.lastIndexOf(0x0a, whole.length - 2) - 1) + 1;
    for (let size = from; size <= whole.length; size++) {
      const cut = fresh();
      writeFileSync(cut, whole);
      truncateSync(cut, size);
      const notices: string[] = [];
      const log = inFile(cut, { onNotice: (text) => notices.push(text) });
      const complete = whole.subarray(0, size).toString().split("\n").length - 2;
      expect(log.counts().events).toBe(complete);
      expect(statSync(cut).size).toBe(whole.subarray(0, size).lastIndexOf(0x0a) + 1);
      expect(notices).toHaveLength(whole[size - 1] === 0x0a ? 0 : 1);
      log.append(entry([item("after")]));
      await log.close();
      expect(
        readFileSync(cut, "utf8")
          .trimEnd()
          .split("\n")
          .every((text) => JSON.parse(text)),
      ).toBe(true);
    }
  });

  test("a damaged line in the middle is told with file and line", async () => {
    const path = fresh();
    await (await filled(path, 3)).close();
    for (const file of Object.values(sidecars(path))) rmSync(file);
    const lines = readFileSync(path, "utf8").split("\n");
    lines[2] = "{broken";
    writeFileSync(path, lines.join("\n"));
    expect(() => inFile(path)).toThrow(DataFolderError);
    expect(() => inFile(path)).toThrow(`${path}:3: this line is damaged`);
  });

  test("cleared events stay cleared when the sidecars did not know (kill -9)", async () => {
    const path = fresh();
    // More than a page of rows: the first page was saved long before the clear.
    const many = Array.from({ length: 20_000 }, () => item("old"));
    const log = inFile(path);
    log.append(entry(many));
    await log.close();
    const kept = Object.values(sidecars(path));
    for (const file of kept) copyFileSync(file, `${file}.old`);
    const clearing = inFile(path);
    clearing.clearEvents();
    await clearing.close();
    for (const file of kept) copyFileSync(`${file}.old`, file);
    await inFile(path).close();
    const again = inFile(path);
    expect(names(again)).toEqual([]);
    await again.close();
  });

  test("cleared events stay cleared", async () => {
    const path = fresh();
    const log = await filled(path, 3);
    log.clearEvents();
    log.append(entry([item("new")]));
    await log.close();
    const again = inFile(path);
    expect(names(again)).toEqual(["4:new"]);
    await again.close();
    for (const file of Object.values(sidecars(path))) rmSync(file);
    const rebuilt = inFile(path);
    expect(names(rebuilt)).toEqual(["4:new"]);
    await rebuilt.close();
  });
});

test("a disk that refuses: the answer fails, nothing is found later, the log goes on", async () => {
  const bytes = memoryBytes();
  let full = false;
  const log = openTrafficLog({
    bytes: {
      ...bytes,
      get size() {
        return bytes.size;
      },
      get start() {
        return bytes.start;
      },
      append(chunk) {
        if (full) throw new Error("ENOSPC");
        return bytes.append(chunk);
      },
    },
    keysOf,
  });
  log.append(entry([item("a")]));
  await log.written();
  full = true;
  log.append(entry([item("lost")], { uuid: () => "lost" }));
  await expect(log.written()).rejects.toThrow("ENOSPC");
  full = false;
  expect([names(log), log.seen(1, "lost"), log.lastSeq]).toEqual([["1:a"], false, 1]);
  log.append(entry([item("b")]));
  await log.written();
  expect(names(log)).toEqual(["1:a", "2:b"]);
});

test("in memory the oldest requests make room, visibly", async () => {
  const log = inMemory({ keepBytes: 2_000 });
  for (let i = 0; i < 40; i++) {
    log.append(entry([item(`e${i}`)], { uuid: () => `id-${i}` }));
    await log.written();
  }
  const { evicted_requests, requests } = log.counts();
  expect(evicted_requests).toBeGreaterThan(20);
  expect(log.line(1)).toBeUndefined();
  expect(names(log)).toHaveLength(requests - evicted_requests);
  expect(names(log).at(-1)).toBe("40:e39");
});
