import { describe, expect, test } from "vitest";
import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import { dropReasons, warnings } from "../../../src/journal/outcome.ts";
import { outcomeOf } from "../../../src/journal/outcomes.ts";
import { nodeCapture, nodeSnippet } from "../../../ui/copy/snippets.ts";
import { stepped } from "../../../ui/parts/list-positions.ts";
import { placeOf } from "../../../ui/views/events/address.ts";
import { explanationOf, lagText, sentenceOf } from "../../../ui/views/events/outcome.ts";
import {
  createSeen,
  graphSeconds,
  perSecond,
  type RowsByIndex,
  runningTally,
  withTotals,
} from "../../../ui/views/events/tally.ts";

const plain: EventRow = {
  seq: 1,
  n: 1,
  i: 0,
  at: 1_000_000,
  time: 1_000_000,
  project: 1,
  event: "hello",
  distinct_id: "user-1",
  person: null,
  outcome: "kept",
  reason: null,
  warnings: [],
};

const dropped: Partial<EventRow> = { outcome: "dropped", reason: "missing_event_name" };
const odd: Partial<EventRow> = { warnings: ["event_name_truncated", "distinct_id_truncated"] };

const listOf = (rows: readonly Partial<EventRow>[]): RowsByIndex => ({
  count: () => rows.length,
  at: (index) => rows[index] && { ...plain, ...rows[index] },
});

describe("what became of an event", () => {
  test.each<[Partial<EventRow>, string, string]>([
    [{}, "kept", ""],
    [odd, "warned", "the event's name was cut to 200 characters (and 1 more)"],
    [dropped, "dropped", "the event has no name"],
    [{ outcome: "dropped", reason: "of_tomorrow" }, "dropped", "of_tomorrow"],
    [{ ...dropped, ...odd }, "dropped", "the event has no name (and 2 more)"],
    [{ outcome: "dropped", reason: "__proto__" }, "dropped", "__proto__"],
  ])("%j is %s: %s", (facts, word, sentence) => {
    const row = { ...plain, ...facts };
    expect([outcomeOf(row), sentenceOf(row)]).toEqual([word, sentence]);
  });

  test.each([...Object.keys(dropReasons), ...Object.keys(warnings)])(
    "%s is told with what to do",
    (reason) => {
      const text = explanationOf({ ...plain, outcome: "dropped", reason });
      expect(text).not.toContain("`");
      expect(text).toMatch(/^\w+: .+\. Fix: .+\.$/);
    },
  );

  test.each<[number, string]>([
    [0, ""],
    [30_000, ""],
    [-30_000, ""],
    [3 * 3_600_000, "its time is 3 h before its arrival"],
    [-3 * 86_400_000, "its time is 3 d after its arrival"],
    [Number.NaN, ""],
  ])("an event that is %d ms late: %j", (late, text) => {
    expect(lagText({ ...plain, time: plain.at - late })).toBe(text);
  });
});

describe("sums", () => {
  test("are those of what is shown", () => {
    const rows = listOf([
      {},
      { event: "bye" },
      dropped,
      odd,
      { event: "bye" },
      { event: "bye" },
      { event: "" },
    ]);
    expect(runningTally()(rows)).toEqual({
      total: 7,
      sorts: { kept: 6, warned: 1, dropped: 1 },
      names: [
        ["bye", 3],
        ["hello", 3],
      ],
    });
    expect(runningTally()(listOf([]))).toEqual({
      total: 0,
      sorts: { kept: 0, warned: 0, dropped: 0 },
      names: [],
    });
  });

  test("are those of the sim, where the list holds a part", () => {
    const tally = runningTally()(listOf([{}, dropped, { event: "bye" }]));
    const all = {
      ...{ complete: true, counting: false, total: 50, kept: 45, warned: 3, dropped: 5, more_names: 0 },
      names: [
        { event: "first", count: 40, dropped: 5, last: 40, last_at: null },
        { event: "hello", count: 9, dropped: 0, last: 50, last_at: null },
      ],
      names_complete: true,
      codes: [],
    };
    expect(withTotals(tally, all)).toEqual({
      total: 50,
      sorts: { kept: 45, warned: 3, dropped: 5 },
      names: [
        ["first", 40],
        ["hello", 9],
        ["bye", 1],
      ],
    });
    expect(withTotals(tally, undefined)).toEqual(tally);
  });

  test("stay right while the list grows, loses rows and is filled in between", () => {
    const seqs = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, i) => ({
        seq: last - i,
        event: `event ${(last - i) % 9}`,
      }));
    const running = runningTally();
    for (const rows of [
      [],
      seqs(5, 9),
      seqs(5, 12),
      seqs(2, 12),
      seqs(1, 14),
      seqs(6, 20),
      [...seqs(26, 30), ...seqs(6, 20)],
      [...seqs(24, 30), ...seqs(8, 20)],
      [...seqs(21, 30), ...seqs(8, 15)],
      [...seqs(21, 30), ...seqs(11, 18)],
      seqs(1, 30),
      seqs(31, 60),
      [],
      seqs(61, 70),
    ].map(listOf))
      expect(running(rows)).toEqual(runningTally()(rows));
  });

  test("name what there is most of", () => {
    const rows = listOf([..."aaabbcccccdeffffffgghhh"].map((event, i) => ({ seq: 99 - i, event })));
    const names = runningTally()(rows).names;
    expect(names.map(([name, count]) => name + count)).toEqual(["f6", "c5", "a3", "h3", "b2", "g2"]);
  });

  test("the last minute in seconds, the newest at the right", () => {
    const now = 1_000_000_500;
    const rows = listOf([
      { at: now + 5_000 },
      { at: now },
      { at: now - 1_000 },
      { at: now - 59_000 },
      { at: now - 61_000 },
    ]);
    const seconds = perSecond(rows, now);
    expect(seconds).toHaveLength(graphSeconds);
    expect([seconds.at(-1), seconds.at(-2), seconds[0]]).toEqual([1, 1, 1]);
    expect(seconds.reduce((sum, it) => sum + it, 0)).toBe(3);
  });

  test("what was seen is offered once, the latest first, whatever is looked at later", () => {
    const seen = createSeen();
    seen.look(listOf([{}, dropped, odd, { event: "bye", distinct_id: "user-2" }]));
    seen.look(listOf([{ event: "late" }]));
    seen.addProperties(["amount", "__proto__", "amount"]);
    expect(seen.known()).toEqual({
      events: ["late", "hello", "bye"],
      distinctIds: ["user-1", "user-2"],
      properties: ["amount", "__proto__"],
      reasons: ["missing_event_name", "distinct_id_truncated", "event_name_truncated"],
    });
  });

  test("of very many, the latest are kept", () => {
    const seen = createSeen();
    seen.look(listOf(Array.from({ length: 4_000 }, (_, i) => ({ event: `event ${i}` }))));
    const { events } = seen.known();
    expect([events[0], events.length <= 1_000, events.length >= 500]).toEqual(["event 0", true, true]);
  });
});

describe("the place in the list", () => {
  const far = Number.MAX_SAFE_INTEGER;
  test.each([
    [-1, 1, 5, 0],
    [-1, -1, 5, 0],
    [-1, far, 5, 4],
    [-1, -far, 5, 0],
    [0, 1, 5, 1],
    [4, 1, 5, 4],
    [0, -1, 5, 0],
    [2, far, 5, 4],
    [2, -far, 5, 0],
    [0, 1, 0, -1],
  ])("from %d by %d of %d to %d", (at, step, count, expected) => {
    expect(stepped(at, step, count)).toBe(expected);
  });

  test.each<[string[], object]>([
    [[], {}],
    [["12"], { seq: 12 }],
    [["12", "compare", "15"], { seq: 12, other: 15 }],
    [["12", "compare", "x"], { seq: 12 }],
    [["12", "with", "15"], { seq: 12 }],
    [["0"], {}],
    [["1e3"], {}],
    [["-4", "compare", "5"], {}],
    [["99999999999999999999"], {}],
  ])("of the address %j is %j", (path, place) => {
    expect(placeOf(path)).toEqual({ seq: undefined, other: undefined, ...place });
  });

  test("the example has the reader's own key and address", () => {
    expect(nodeSnippet('phc_"x', "http://127.0.0.1:9", nodeCapture)).toContain(
      'new PostHog("phc_\\"x", { host: "http://127.0.0.1:9" })',
    );
  });
});
