import { describe, expect, test } from "vitest";
import { dropReasons, warnings } from "../../../src/state/journal/drop-reasons.ts";
import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import { outcomeOf } from "../../../src/state/journal/outcomes.ts";
import { nodeCapture, nodeSnippet } from "../../../ui/copy/snippets.ts";
import { stepped } from "../../../ui/parts/list-positions.ts";
import { placeOf } from "../../../ui/views/events/address.ts";
import { explanationOf, lagText, sentenceOf } from "../../../ui/views/events/outcome.ts";
import { createSeen, type RowsByIndex } from "../../../ui/views/events/seen.ts";

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
  preview: [],
  path: "",
  lib: "",
  session: null,
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

  test.each([...Object.keys(dropReasons), ...Object.keys(warnings)])("%s is reported with what to do", (reason) => {
    const text = explanationOf({ ...plain, outcome: "dropped", reason });
    expect(text).not.toContain("`");
    expect(text).toMatch(/^\w+: .+\. Fix: .+\.$/);
  });

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

describe("completion", () => {
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
