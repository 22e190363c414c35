import { describe, expect, test, vi } from "vitest";
import type { Stat } from "../../../src/state/journal/feed/frames.ts";
import { hrefTo, readRoute } from "../../../ui/app/route.ts";
import { createPresses, type KeySet, keyFor, shownKeys } from "../../../ui/app/shortcuts.ts";
import { clockSign, modeOf, seenBy, titleOf } from "../../../ui/app/status-texts.ts";

describe("addresses", () => {
  test.each([
    ["", "", [], {}],
    ["#/", "", [], {}],
    ["#/events/12?f=is%3Adropped&project=2", "events", ["12"], { f: "is:dropped", project: "2" }],
    ["#/people/a%2Fb%3F", "people", ["a/b?"], {}],
    ["#/people/%E0%A4%A", "people", ["%E0%A4%A"], {}],
    ["#/x?__proto__=1", "x", [], Object.fromEntries([["__proto__", "1"]])],
  ])("%j is read", (hash, view, path, params) => {
    expect(readRoute(hash)).toEqual({ view, path, params });
  });

  test.each([
    [["events", [12], { f: "a b&c", project: undefined }], "#/events/12?f=a+b%26c"],
    [["", [], {}], "#/"],
    [["people", ["a/b?#"], { f: "" }], "#/people/a%2Fb%3F%23"],
  ] as const)("%j is written, and read again", ([view, path, params], href) => {
    expect(hrefTo(view, path, params)).toBe(href);
    expect(readRoute(href)).toMatchObject({ view, path: path.map(String) });
  });
});

describe("the tab's title", () => {
  const seen = { kept: 1, dropped: 1, rejected: 0 };
  test.each([
    [undefined, undefined, "Events · phx-sim"],
    [{ kept: 9, dropped: 9, rejected: 9 }, undefined, "Events · phx-sim"],
    [seen, seen, "Events · phx-sim"],
    [{ ...seen, kept: 4 }, seen, "(3 new) Events · phx-sim"],
    [{ kept: 4, dropped: 2, rejected: 5 }, seen, "(4 new, 6 lost) Events · phx-sim"],
    [{ ...seen, rejected: 2 }, seen, "(2 lost) Events · phx-sim"],
    [{ kept: 0, dropped: 0, rejected: 0 }, seen, "Events · phx-sim"],
  ])("%j after %j", (now, before, title) => expect(titleOf("Events", now, before)).toBe(title));

  test.each([
    [1, undefined, "(1 problem) Events · phx-sim"],
    [2, { ...seen, kept: 4 }, "(2 problems, 3 new) Events · phx-sim"],
  ])("with %i problems that were not seen", (problems, now, title) =>
    expect(titleOf("Events", now, now && seen, problems)).toBe(title),
  );

  test("what comes after the sim was cleared, or another one is there, is new", () => {
    const last = seenBy({ kept: 9, dropped: 2, rejected: 1 }, { kept: 0, dropped: 0, rejected: 1 });
    expect(titleOf("Events", { kept: 12, dropped: 1, rejected: 1 }, last)).toBe("(13 new, 1 lost) Events · phx-sim");
    expect(seenBy(last, { kept: 12, dropped: 1, rejected: 1 })).toEqual(last);
  });
});

const stat: Stat = {
  at: 1_000_000,
  requests: 0,
  rejected: 0,
  events: 0,
  kept: 0,
  dropped: 0,
  warned: 0,
  persons: 0,
  in_flight: 0,
  clock: { now: 1_000_000, frozen: false, real: true },
  faults: [],
  tape: null,
  recording: null,
  scenario_problems: 0,
  scenario_edit: null,
  damage: 0,
  world: 0,
  pages: 1,
};

describe("signs", () => {
  test.each([
    [stat, "emulate", "plain"],
    [{ ...stat, recording: { mode: "record", upstream: "us" } }, "record from us", "bad"],
    [
      { ...stat, tape: { name: "shop", mode: "replay", hits: 1200, misses: 0 } },
      "replay shop: 1,200 hit, 0 missed",
      "note",
    ],
    [{ ...stat, tape: { name: "shop", mode: "new", hits: 0, misses: 2 } }, "new shop: 0 hit, 2 missed", "odd"],
  ] satisfies [Stat, string, string][])("%#: who answers", (it, text, tone) => {
    expect(modeOf(it)).toMatchObject({ text, tone });
  });

  test.each([
    [{ now: 1_000_000, frozen: false, real: true }, undefined],
    [{ now: 1_000_400, frozen: false, real: false }, undefined],
    [{ now: 1_000_000 + 7_200_000, frozen: false, real: false }, "clock 2 h ahead"],
    [{ now: 1_000_000 - 86_400_000, frozen: false, real: false }, "clock 1 d behind"],
  ])("the clock %j", (clock, text) => expect(clockSign({ ...stat, clock })?.text).toBe(text));

  test("a clock that stands", () => {
    expect(clockSign({ ...stat, clock: { now: 0, frozen: true, real: false } })?.text).toMatch(/^clock frozen at 19/);
  });
});

describe("keys", () => {
  const key = (keys: string, does = keys) => ({ keys, does, run: vi.fn() });
  const outer: KeySet = { title: "outer", keys: [key("g e"), key("e", "outer e"), key("?")] };
  const inner: KeySet = { title: "inner", keys: [key("e", "inner e"), key("j")] };

  test("the innermost wins; the sheet shows each once", () => {
    expect(keyFor("e", [outer, inner])?.does).toBe("inner e");
    expect(shownKeys([outer, inner]).map(({ keys }) => keys.map(({ does }) => does))).toEqual([
      ["g e", "?"],
      ["inner e", "j"],
    ]);
  });

  test.each([
    [
      "two in time",
      [
        ["g", 0],
        ["e", 900],
      ],
      "g e",
    ],
    [
      "two, too late",
      [
        ["g", 0],
        ["e", 1_000],
      ],
      "inner e",
    ],
    [
      "with a key that is held between",
      [
        ["g", 0],
        ["Shift", 100],
        ["e", 200],
      ],
      "g e",
    ],
    [
      "a pair is used up",
      [
        ["g", 0],
        ["e", 100],
        ["e", 200],
      ],
      "inner e",
    ],
    ["nothing of ours", [["x", 0]], undefined],
  ] as const)("%s", (_, presses, does) => {
    const press = createPresses();
    const found = presses.map(([pressed, at]) => press(pressed, at, [outer, inner])?.does);
    expect(found.at(-1)).toBe(does);
  });
});
