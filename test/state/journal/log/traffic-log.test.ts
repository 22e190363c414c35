import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { CallRecord } from "../../../../src/kernel/http/call.ts";
import { FileBytes, MemoryBytes } from "../../../../src/kernel/store/bytes.ts";
import { DataFolderError } from "../../../../src/kernel/store/data-folder.ts";
import type { EventFacts } from "../../../../src/state/journal/event.ts";
import { entryWriter, type GivenReply, type ReceivedCall } from "../../../../src/state/journal/log/traffic-entry.ts";
import { TrafficLog, type TrafficLogOptions } from "../../../../src/state/journal/log/traffic-log.ts";
import type { EventKey, TrafficLine } from "../../../../src/state/journal/traffic.ts";
import { reset } from "../../../kernel/store/changing.ts";
import { newFolder } from "../../../support/folder.ts";
import { rewriteLine } from "../../../support/rewrite-line.ts";

const folder = newFolder();

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
  new TrafficLog({ bytes: new FileBytes(path), sidecars: sidecars(path), keysOf, name: path, ...more });

const inMemory = (more: Partial<TrafficLogOptions> = {}): TrafficLog =>
  new TrafficLog({ bytes: new MemoryBytes(), keysOf, ...more });

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
  const note: CallRecord = { project, text, events: facts, keys: items };
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

  test("reports listeners after the write, in order", async () => {
    const log = open();
    const reported: number[] = [];
    log.subscribe((it) => reported.push(it.n));
    log.append(entry([item("a")]));
    log.append(entry([item("b")]));
    expect(reported).toEqual([]);
    await log.written();
    expect(reported).toEqual([1, 2]);
    await log.close();
  });
});

describe("a log in a file", () => {
  async function filled(path: string, count: number): Promise<TrafficLog> {
    const log = inFile(path);
    for (let i = 0; i < count; i++) log.append(entry([item(`e${i}`, `u${i % 7}`)], { uuid: () => `id-${i}` }));
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

  test.each(["closed", "reset"])("%s before its events are indexed, nothing is read any more", async (end) => {
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
  });

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
      // index files would take most of the time, and have no part in it
      const log = inFile(cut, { sidecars: undefined, onNotice: (text) => notices.push(text) });
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

  describe("with damage", () => {
    const flip = (text: string) => text.replace('"status":200', '"status":201');
    /** The log of a damaged file, and `line: detail` of what it reports. */
    function reopened(path: string): { log: TrafficLog; found: string[] } {
      const found: string[] = [];
      const log = inFile(path, { onDamage: ({ line, detail }) => found.push(`${line}: ${detail}`) });
      return { log, found };
    }
    const deleteLines = (path: string, from: number, to: number) => {
      const lines = readFileSync(path, "utf8").split("\n");
      lines.splice(from - 1, to - from + 1);
      writeFileSync(path, lines.join("\n"));
    };

    const damages: [string, (path: string) => void, seqs: number[], found: string[]][] = [
      [
        "a flipped digit",
        (it) => rewriteLine(it, 3, flip),
        [1, 3, 4, 5],
        ["3: this line is damaged: request 2 with event 2 lost"],
      ],
      [
        "two damaged lines",
        (it) => {
          rewriteLine(it, 3, () => "{broken");
          rewriteLine(it, 4, () => "{broken");
        },
        [1, 4, 5],
        ["3: this line is damaged: requests 2 to 3 with events 2 to 3 lost"],
      ],
      [
        "deleted lines",
        (it) => deleteLines(it, 3, 4),
        [1, 4, 5],
        ["3: lines before this one are missing: requests 2 to 3 with events 2 to 3 lost"],
      ],
      [
        "a line twice",
        (it) => rewriteLine(it, 3, (text) => `${text}\n${text}`),
        [1, 2, 3, 4, 5],
        ["4: this line repeats request 2; it is skipped"],
      ],
      [
        "a line in another place",
        (it) => {
          const [, , second = ""] = readFileSync(it, "utf8").split("\n");
          deleteLines(it, 3, 3);
          rewriteLine(it, 4, (text) => `${text}\n${second}`);
        },
        [1, 2, 3, 4, 5],
        ["3: lines stand in another order"],
      ],
      [
        "a lost newline",
        (it) =>
          writeFileSync(
            it,
            readFileSync(it, "utf8")
              .replace('}\n{"crc":"', '}?{"crc":"')
              .replace("?", "\n")
              .replace(/\}\n(?=[^\n]*"n":3,)/, "}?"),
          ),
        [1, 3, 4, 5],
        ["3: this line is damaged: request 2 with event 2 lost"],
      ],
      [
        "a damaged last line",
        (it) => rewriteLine(it, 6, flip),
        [1, 2, 3, 4],
        ["6: this line is damaged; if it held the last request, that request is lost"],
      ],
    ];

    test.each(damages)("%s, without sidecars: the others keep their numbers", async (_name, damage, seqs, reports) => {
      const path = fresh();
      await (await filled(path, 5)).close();
      for (const file of Object.values(sidecars(path))) rmSync(file);
      damage(path);
      const { log, found } = reopened(path);
      expect(names(log)).toEqual(seqs.map((seq) => `${seq}:e${seq - 1}`));
      expect(found).toEqual(reports);
      expect([...log.requests({})].map((n) => log.line(n)?.n)).toEqual(seqs.toReversed());
      expect(log.counts()).toMatchObject({ requests: seqs.length, events: seqs.length });
      await log.close();
    });

    test.each(damages)("%s, covered by sidecars: found when it is read", async (_name, damage, seqs) => {
      const path = fresh();
      const log = await filled(path, 5);
      // So that the damage is not among the last bytes covered, which are compared at the start.
      for (let i = 0; i < 30; i++) log.append(entry([item("x".repeat(400))]));
      await log.close();
      damage(path);
      const { log: again, found } = reopened(path);
      const expected = _name === "a damaged last line" ? [1, 2, 3, 4] : seqs;
      expect(names(again, { until: 5 })).toEqual(expected.map((seq) => `${seq}:e${seq - 1}`));
      expect(names(again, { since: 5 })).toHaveLength(30);
      expect(found.length).toBeGreaterThan(0);
      const next = again.append(entry([item("after")]));
      expect(next).toBe(36);
      await again.close();
      const { log: third } = reopened(path);
      expect(names(third, { until: 5 })).toEqual(expected.map((seq) => `${seq}:e${seq - 1}`));
      expect(third.line(36)?.n).toBe(36);
      await third.close();
    });

    test("what the sidecars cover is checked after the start, and reported at each start", async () => {
      const path = fresh();
      const log = await filled(path, 40);
      await log.close();
      rewriteLine(path, 3, flip);
      for (let run = 0; run < 2; run++) {
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
        const { log: again, found } = reopened(path);
        vi.advanceTimersByTime(2_000);
        vi.useRealTimers();
        expect(found).toEqual([
          expect.stringMatching(run === 0 ? /^3: .*request 2 with event 2 lost/ : /request 2 lost/),
        ]);
        await again.close();
      }
    });

    const bitsOf = (file: string) => Array.from({ length: 24 }, (_, i) => (i * 7919) % (statSync(file).size * 8));
    test.each(["requests", "events"] as const)("a flipped bit in the sidecar of %s costs nothing", async (which) => {
      const path = fresh();
      const log = inFile(path);
      for (let i = 0; i < 40; i++) log.append(entry(Array.from({ length: 500 }, (_, j) => item(`e${j % 3}`, `u${i}`))));
      await log.close();
      const file = sidecars(path)[which];
      const [whole, written] = [readFileSync(file), readFileSync(path)];
      for (const bit of bitsOf(file)) {
        const damaged = Buffer.from(whole);
        damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        writeFileSync(file, damaged);
        const again = inFile(path);
        expect(again.counts()).toMatchObject({ requests: 40, events: 20_000 });
        expect([...again.scan({ distinct_id: "u39", event: "e0" })]).toHaveLength(167);
        expect(again.append(entry([item("after")]))).toBe(41);
        await again.close();
        writeFileSync(path, written);
      }
    });

    test.each([
      ["a damaged first line", (text: string) => text.replace("traffic", "trafic"), ":1: its first line is damaged"],
      ["a byte order mark", (text: string) => `\ufeff${text}`, ":1: it begins with a byte order mark"],
      [
        "an unknown version",
        (text: string) => text.replace(/^.*/, '{"log":"phx-sim traffic","version":2,"birth":1,"n":1,"seq":1}'),
        ":1: it has version 2, and this phx-sim knows version 1",
      ],
      ["a file of something else", () => "PAR1\n", ":1: it is not a traffic log of phx-sim"],
    ])("%s is refused, and the file is left as it is", async (_name, change, message) => {
      const path = fresh();
      await (await filled(path, 3)).close();
      writeFileSync(path, change(readFileSync(path, "utf8")));
      const before = readFileSync(path);
      expect(() => inFile(path)).toThrow(`${path}${message}`);
      expect(() => inFile(path)).toThrow(DataFolderError);
      expect(readFileSync(path)).toEqual(before);
    });

    test("the hint of a damaged first line holds one that fits", async () => {
      const path = fresh();
      const log = await filled(path, 3);
      reset(log, folder);
      log.append(entry([item("late")]));
      await log.close();
      rewriteLine(path, 1, () => "{}");
      const error: unknown = (() => {
        try {
          return inFile(path);
        } catch (thrown) {
          return thrown;
        }
      })();
      const hint = error instanceof DataFolderError ? error.hint : "";
      rewriteLine(path, 1, () => /\{.*?\}/.exec(hint)?.[0] ?? "");
      const { log: again, found } = reopened(path);
      expect([names(again), found]).toEqual([["4:late"], []]);
      await again.close();
    });

    test("lines of older versions have no checksum: their shape is checked", async () => {
      const path = fresh();
      await (await filled(path, 4)).close();
      for (const file of Object.values(sidecars(path))) rmSync(file);
      const plain = readFileSync(path, "utf8").replaceAll(/^\{"crc":"\w+",/gm, "{");
      writeFileSync(path, plain.replace('"at":0', '"at":1e300'));
      const { log, found } = reopened(path);
      expect(names(log)).toEqual(["2:e1", "3:e2", "4:e3"]);
      expect(found).toEqual(["2: this line is damaged: request 1 with event 1 lost"]);
      await log.close();
    });
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
  let full = false;
  class Disk extends MemoryBytes {
    override append(chunk: Buffer) {
      if (full) throw new Error("ENOSPC");
      return super.append(chunk);
    }
  }
  const log = new TrafficLog({ bytes: new Disk(), keysOf });
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

test("a file lets go of the oldest requests and of their rows; numbers, look-ups and a restart hold", async () => {
  const path = fresh();
  const open = () => inFile(path, { keep: { bytes: 4 * 1024 * 1024 } });
  const log = open();
  const total = 50_000;
  for (let i = 1; i <= total; i++) {
    log.append(entry([item(`e${i % 7}`, `u${i}`)], { uuid: () => `id-${i}`, at: i }));
    if (i % 500 === 0) await log.written();
  }
  const isTrimmed = () => log.counts().evicted_requests > 2 * 16_384 && statSync(path).size <= 4 * 1024 * 1024;
  await vi.waitUntil(isTrimmed, { timeout: 30_000 });
  const kept = log.counts().events;
  const first = total - kept + 1;
  const check = (it: TrafficLog) => {
    const seqs = [...it.scan({})].map(({ seq }) => seq);
    expect([seqs[0], seqs.at(-1), seqs.length]).toEqual([first, total, kept]);
    expect(it.seen(1, `id-${first}`)).toBe(true);
    expect(it.seen(1, `id-${total}`)).toBe(true);
    expect(it.seen(1, `id-${first - 1}`)).toBe(false);
    expect(it.line(first - 1)).toBeUndefined();
    expect(it.head(first)).toMatchObject({ n: first, carried: 1 });
    expect([...it.scan({ distinct_id: `u${total - 5}` })].map(({ seq }) => seq)).toEqual([total - 5]);
    expect([...it.requests({})].length).toBe(kept);
    expect(it.lost(1)).toBe(true);
    expect(it.lost(first)).toBe(false);
    const times = { after: 0, before: first + 2 };
    expect([...it.byTime(times)].flatMap((ref) => (ref ? [ref.seq] : []))).toEqual([first, first + 1]);
  };
  check(log);
  expect(statSync(path).size).toBeLessThanOrEqual(4 * 1024 * 1024);
  await log.close();
  const reopened = open();
  check(reopened);
  await reopened.close();
  for (const it of Object.values(sidecars(path))) rmSync(it);
  const rebuilt = open();
  check(rebuilt);
  await rebuilt.close();
});

test("in memory the oldest requests make room, visibly", async () => {
  const bytes = new MemoryBytes();
  const log = inMemory({ bytes, keep: { bytes: 2_000 } });
  for (let i = 0; i < 40; i++) {
    log.append(entry([item(`e${i}`)], { uuid: () => `id-${i}` }));
    await log.written();
    // what is held begins with a whole line
    const [first = ""] = bytes.read(bytes.start, bytes.length).toString().split("\n");
    expect(JSON.parse(first)).toEqual(expect.any(Object));
  }
  const { evicted_requests, requests } = log.counts();
  expect(evicted_requests).toBeGreaterThan(20);
  expect(log.line(1)).toBeUndefined();
  expect(names(log)).toHaveLength(requests - evicted_requests);
  expect(names(log).at(-1)).toBe("40:e39");
});
