import { beforeAll, describe, expect, test } from "vitest";
import type { CallRecord } from "../../../../src/kernel/http/call.ts";
import { MemoryBytes } from "../../../../src/kernel/store/bytes.ts";
import type { EventFacts } from "../../../../src/state/journal/event.ts";
import { entryWriter } from "../../../../src/state/journal/log/traffic-entry.ts";
import { type TimeFilter, TrafficLog } from "../../../../src/state/journal/log/traffic-log.ts";
import type { EventKey, TrafficLine } from "../../../../src/state/journal/traffic.ts";

const requests = 2_000;
const pad = "x".repeat(4_000);

/** What is read of the log. */
const read = { times: 0, bytes: 0 };

class CountingBytes extends MemoryBytes {
  override read(offset: number, length: number): Buffer {
    read.times++;
    read.bytes += length;
    return super.read(offset, length);
  }
}

const keysOf = (line: TrafficLine): EventKey[] => line.body as unknown as EventKey[];
let log: TrafficLog;

/** Events arrive in an order that is not that of their times. */
const timeOf = (i: number): number => (i % 2 === 0 ? i : 10_000 - i);

beforeAll(async () => {
  log = new TrafficLog({ bytes: new CountingBytes(), keysOf });
  const entryOf = entryWriter();
  for (let i = 0; i < requests; i++) {
    const items = [{ event: `e${i % 10}`, distinct_id: `u${i}`, pad: i % 100 === 0 ? pad.repeat(10) : pad }];
    const facts: EventFacts[] = [{ uuid: `uuid ${i}`, time: timeOf(i), person: null }];
    const note: CallRecord = { project: 1, text: JSON.stringify(items), events: facts, keys: items };
    if (i % 500 === 0) note.partition = "worker-7";
    const call = {
      ...{ method: "POST", target: "/batch/", rawHeaders: [], body: Buffer.alloc(0), peer: "127.0.0.1" },
      ...{ at: i, started: performance.now() },
    };
    log.append(entryOf(call, { status: 200, headers: [], body: "{}" }, note));
    await log.written();
  }
});

test("the keys of a request are read once for all its events", async () => {
  let times = 0;
  const own = new TrafficLog({
    bytes: new MemoryBytes(),
    keysOf(line) {
      times++;
      return keysOf(line);
    },
  });
  const keys = Array.from({ length: 50 }, (_, i) => ({ event: `e${i % 2}`, distinct_id: "u" }));
  const events = keys.map((_, i): EventFacts => ({ uuid: `uuid ${i}`, time: i, person: null }));
  const call = {
    ...{ method: "POST", target: "/batch/", rawHeaders: [], body: Buffer.alloc(0), peer: "127.0.0.1" },
    ...{ at: 1, started: performance.now() },
  };
  const answer = { status: 200, headers: [], body: "{}" };
  own.append(entryWriter()(call, answer, { project: 1, text: JSON.stringify(keys), events, keys }));
  await own.written();
  expect([...own.scan({ distinct_id: "u" })]).toHaveLength(50);
  expect([...own.scanInSteps({ event: "e1" })]).toHaveLength(25);
  expect(times).toBe(1);
});

/** The result, and how much of the log was read for it. */
function reading<T>(look: () => T): { result: T; times: number; bytes: number } {
  Object.assign(read, { times: 0, bytes: 0 });
  const result = look();
  return { result, ...read };
}

const times = (filter: Partial<TimeFilter>, most = 3): (number | undefined)[] => {
  const found: (number | undefined)[] = [];
  const all = { after: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };
  for (const ref of log.byTime({ ...all, ...filter })) {
    if (ref) found.push(ref.line.events?.[ref.index]?.time);
    if (found.length === most) break;
  }
  return found;
};

describe("the lines that are read", () => {
  test.each<[string, Partial<TimeFilter>, number[]]>([
    ["the latest", { order: "desc" }, [9_999, 9_997, 9_995]],
    ["the earliest", { order: "asc" }, [0, 2, 4]],
    ["the latest before a time", { order: "desc", before: 9_000 }, [8_999, 8_997, 8_995]],
    ["the earliest after a time", { order: "asc", after: 1_990 }, [1_992, 1_994, 1_996]],
    ["the latest of a name", { order: "desc", event: "e4" }, [1_994, 1_984, 1_974]],
    ["the one of a person", { order: "asc", distinct_id: "u7" }, [9_993]],
    ["none of a project", { order: "asc", project: 2 }, []],
  ])("by time are those that are shown: %s", (_, filter, expected) => {
    const { result, times: reads } = reading(() => times(filter));
    expect(result).toEqual(expected);
    expect(reads).toBeLessThanOrEqual(expected.length);
  });

  test("all events by time come in order, each once", () => {
    const all = times({ order: "asc" }, requests + 1);
    expect(all).toEqual(Array.from({ length: requests }, (_, i) => timeOf(i)).sort((a, b) => a - b));
  });

  test("of a partition are its own", () => {
    const { result, times: reads } = reading(() =>
      [...log.requests({ partition: "worker-7" })].map((n) => log.line(n)),
    );
    expect(result.map((line) => line?.n)).toEqual([1_501, 1_001, 501, 1]);
    expect(reads).toBeLessThanOrEqual(4);
  });

  test("of an event with a known uuid is one", () => {
    const { result, times: reads } = reading(() => [...log.scan({ uuid: "uuid 1234" })].map((it) => it.seq));
    expect(result).toEqual([1_235]);
    expect(reads).toBeLessThanOrEqual(1);
  });

  test("for the head of a long line end before its body", () => {
    const { result, bytes: size } = reading(() => log.head(1_901));
    expect(result).toMatchObject({ n: 1_901, method: "POST", status: 200, carried: 1, dropped: 0 });
    expect(log.sizeOf(1_901)).toBeGreaterThan(40_000);
    expect(size).toBeLessThanOrEqual(4_096);
  });
});
