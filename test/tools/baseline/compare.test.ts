import { describe, expect, test } from "vitest";
import {
  BaselineDiff,
  baselineHeadline,
  baselineLines,
  baselineMarkdown,
  changesIn,
  compareBaselines,
} from "../../../src/tools/baseline/compare.ts";
import { readBaseline } from "../../../src/tools/baseline/file.ts";

type Line = Record<string, unknown>;

const baseline = (...lines: readonly Line[]) =>
  readBaseline([{ phx_sim_baseline: 1 }, ...lines].map((it) => JSON.stringify(it)).join("\n"), "a.baseline.ndjson");

const t = "a signup";
const event = (name: string, properties: Line = {}, count = 1): Line => ({ test: t, event: name, count, properties });
const identity = (call: string, properties: Line = {}): Line => ({ test: t, identity: call, count: 1, properties });
const flag = (key: string): Line => ({ test: t, flag: key });
const order = (...steps: string[]): Line => ({ test: t, order: steps });
const abc = [event("a"), event("b"), event("c"), event("d"), event("e"), event("f")];

describe("a change in words", () => {
  const rows: [string, Line[], Line[], string[]][] = [
    ["nothing", [event("a")], [event("a")], []],
    ["a new event", [], [event("paid", { amount: "number" }, 2)], ["+ paid is new ×2: amount number"]],
    ["an event that stopped", [event("paid", { amount: "number" }, 2)], [], ["- paid stopped ×2"]],
    ["a count", [event("paid")], [event("paid", {}, 3)], ["~ paid: 1 → 3 times"]],
    ["a smaller count", [event("paid", {}, 3)], [event("paid")], ["~ paid: 3 → 1 time"]],
    [
      "a type",
      [event("signup_completed", { plan: "string" })],
      [event("signup_completed", { plan: "number" })],
      ["~ signup_completed: plan string → number"],
    ],
    ["a new property", [event("a")], [event("a", { coupon: "string?" })], ["+ a: coupon is new: string (not always)"]],
    ["a property that is gone", [event("a", { x: "null|string" })], [event("a")], ["- a: x is gone (was null|string)"]],
    [
      "a property that is sometimes missing",
      [event("a", { x: "string" })],
      [event("a", { x: "string?" })],
      ["~ a: x string → string (not always)"],
    ],
    ["a new identity call", [], [identity("identify", { plan: "string" })], ["+ identify() is new: plan string"]],
    ["no identity call", [identity("group company")], [], ["- group company() is no longer called"]],
    [
      "a person's property",
      [identity("identify", { plan: "string" })],
      [identity("identify", { plan: "boolean" })],
      ["~ identify(): plan string → boolean"],
    ],
    [
      "a flag",
      [flag("beta")],
      [flag("gamma")],
      ["+ flag gamma is read for the first time", "- flag beta is no longer read"],
    ],
    [
      "the order",
      [...abc, order("a", "b", "c", "d", "e", "f")],
      [...abc, order("a", "b", "d", "c", "e", "f")],
      ["~ order: … → b → c → d → e → … ⇒ … → b → d → c → e → …"],
    ],
    ["another user's order", abc, [...abc, order("a", "b")], ["~ order: also a → b"]],
    ["one order less", [...abc, order("a", "b")], abc, ["~ order: no longer a → b"]],
    [
      "a new event in the order is one change",
      [event("a"), event("b"), order("a", "b")],
      [event("a"), event("b"), event("x"), order("a", "x", "b")],
      ["+ x is new"],
    ],
    [
      "an event that stopped is one change",
      [event("a"), event("b"), event("x"), order("a", "x", "a", "b")],
      [event("a"), event("b"), order("a", "b")],
      ["- x stopped"],
    ],
  ];
  test.each(rows)("%s", (_, before, after, expected) => {
    const diff = compareBaselines(baseline({ test: t }, ...before), baseline({ test: t }, ...after));
    expect(BaselineDiff.parse(diff)).toEqual(diff);
    expect(changesIn(diff)).toBe(expected.length);
    const head = expected.length > 0 ? ['in "a signup"'] : [];
    expect(baselineLines(diff)).toEqual([...head, ...expected.map((it) => `  ${it}`)]);
  });
});

describe("tests", () => {
  const of = (...tests: string[]) => baseline(...tests.map((it) => ({ test: it, event: "a", count: 1 })));

  test("that did not run are no change, unless the run was complete", () => {
    const diff = compareBaselines(of("one", "two"), of("one"));
    expect(diff).toMatchObject({ added: [], removed: [], changed: [], compared: 1, not_run: ["two"] });
    expect(baselineHeadline(diff)).toBe("no changes in 1 test; 1 test of the baseline did not run");
    const complete = compareBaselines(of("one", "two"), of("one"), { complete: true });
    expect(complete.removed).toMatchObject([{ what: "test", tests: ["two"] }]);
  });

  test("that are new are one change", () => {
    const diff = compareBaselines(of("one"), of("one", "two", "three"));
    expect(diff.added).toMatchObject([{ what: "test", tests: ["three", "two"], text: "new test" }]);
  });

  test("with equal changes are listed together", () => {
    const names = Array.from({ length: 12 }, (_, i) => `test ${String.fromCharCode(97 + i)}`);
    const with1 = (type: string) =>
      baseline(...names.map((it) => ({ test: it, event: "a", count: 1, properties: { x: type } })));
    const diff = compareBaselines(with1("string"), with1("number"));
    expect(diff.changed).toHaveLength(1);
    expect(baselineLines(diff)).toEqual([
      'in 12 tests ("test a", "test b", "test c", "test d", "test e" and 7 more)',
      "  ~ a: x string → number",
    ]);
    expect(baselineHeadline(diff)).toBe("1 change in 12 tests");
  });

  test("outside of tests there is an entry, too", () => {
    const diff = compareBaselines(
      baseline({ test: "", event: "a", count: 1 }),
      baseline({ test: "", event: "a", count: 2 }),
    );
    expect(baselineLines(diff)).toEqual(["in (no test)", "  ~ a: 1 → 2 times"]);
  });
});

test("Markdown has the changes in a block, which captured names cannot leave", () => {
  const hostile = "```\n# @everyone <img src=x>\u202e";
  const diff = compareBaselines(baseline({ test: t }), baseline({ test: t }, event(hostile), event("paid")));
  const text = baselineMarkdown(diff);
  expect(text).toBe(
    [
      "### Analytics: 2 changes in 1 test",
      "",
      "```diff",
      '@@ "a signup" @@',
      "+ ```\\x0a# @everyone <img src=x>\\u202e is new",
      "+ paid is new",
      "```",
      "",
    ].join("\n"),
  );
  expect(baselineMarkdown(compareBaselines(baseline(), baseline()))).toBe("### Analytics: no changes in 0 tests\n");
});

test("a baseline without orders is compared without them", () => {
  const head = `{"phx_sim_baseline":1,"order":false}\n`;
  const without = readBaseline(`${head}{"test":"${t}","event":"a","count":1}`, "x");
  expect(changesIn(compareBaselines(without, baseline(event("a"), order("a", "b"))))).toBe(0);
});
