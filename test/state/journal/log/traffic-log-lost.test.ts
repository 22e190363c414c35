import { expect, test } from "vitest";
import { MemoryBytes } from "../../../../src/kernel/store/bytes.ts";
import { entryWriter } from "../../../../src/state/journal/log/traffic-entry.ts";
import { TrafficLog } from "../../../../src/state/journal/log/traffic-log.ts";
import type { TrafficLine } from "../../../../src/state/journal/traffic.ts";
import { reset } from "../../../kernel/store/changing.ts";

const keysOf = (line: TrafficLine) => (line.events ?? []).map(() => ({ event: "e", distinct_id: "u" }));
const entryOf = entryWriter();

/** A log with an event of each of these projects, each in a request of its own. */
async function logOf(projects: readonly number[], keepBytes?: number) {
  const log = new TrafficLog({
    bytes: new MemoryBytes(),
    keysOf,
    ...(keepBytes !== undefined && { keep: { bytes: keepBytes } }),
  });
  for (const project of projects) {
    const call = { method: "POST", target: "/e/", rawHeaders: [], body: Buffer.alloc(0) };
    const facts = { uuid: null, time: 1, person: null };
    log.append(
      entryOf(
        { ...call, peer: "127.0.0.1", at: 1, started: performance.now() },
        { status: 200, headers: [], body: null },
        { project, text: '"filler"', events: [facts], keys: [{ event: "e", distinct_id: "u", uuid: null }] },
      ),
    );
    await log.written();
  }
  return log;
}

type Log = Awaited<ReturnType<typeof logOf>>;
const rows: [name: string, what: (log: Log) => unknown, since: number, project: number | undefined, lost: boolean][] = [
  ["nothing", () => {}, 0, undefined, false],
  ["nothing", () => {}, 2, 1, false],
  ["cleared: all", (log) => log.clearEvents(), 2, undefined, true],
  ["cleared: all, nothing since then", (log) => log.clearEvents(), 4, undefined, false],
  ["cleared: all, seen from the start", (log) => log.clearEvents(), 0, undefined, false],
  ["cleared: project 1", (log) => log.clearEvents(1), 2, 1, true],
  ["cleared: project 1", (log) => log.clearEvents(1), 2, 2, false],
  ["cleared: project 1", (log) => log.clearEvents(1), 3, undefined, false],
  ["reset", (log) => reset(log), 2, 1, true],
  ["reset", (log) => reset(log), 4, 1, false],
  ["reset, seen from the start", (log) => reset(log), 0, undefined, false],
];
test.each(rows)("%s (%#)", async (_, what, since, project, lost) => {
  const log = await logOf([1, 2, 1, 2]);
  what(log);
  expect(log.lost(since, project)).toBe(lost);
});

test("over the limit: an older cursor is reported as lost", async () => {
  const log = await logOf([1, 2, 2, 2, 2, 2, 2, 2], 600);
  expect(log.counts().evicted_requests).toBeGreaterThan(1);
  expect([log.lost(0), log.lost(0, 1), log.lost(1, 1), log.lost(7)]).toEqual([true, true, false, false]);
});
