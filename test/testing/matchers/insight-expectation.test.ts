import { describe, expect, test } from "vitest";
import {
  checkExpectation,
  type InsightExpectation,
  insightDifferences,
} from "../../../src/testing/matchers/insight-expectation.ts";

const title = 'toHaveInsight("x")';
const differences = (kind: string, results: unknown, expected: InsightExpectation) =>
  insightDifferences(title, expected, { query: { kind }, results: results as never });

const steps = (...counts: number[]) => counts.map((count, order) => ({ order, count }));
const series = (label: string, count: number, data: number[] = [count]) => ({ label, count, data });

describe("what a result shows", () => {
  test.each<[string, string, unknown, InsightExpectation]>([
    ["steps", "FunnelsQuery", steps(3, 2, 1), { steps: [3, 2, 1] }],
    ["patterns of steps", "FunnelsQuery", steps(3, 2), { steps: [{ "@gte": 3 }, expect.any(Number)] }],
    [
      "steps by value",
      "FunnelsQuery",
      [
        steps(2, 1).map((it) => ({ ...it, breakdown_value: ["pro"] })),
        steps(1, 0).map((it) => ({ ...it, breakdown_value: ["free"] })),
      ],
      { steps: { pro: [2, 1], free: [1, 0] } },
    ],
    ["a total", "TrendsQuery", [series("order", 4)], { total: 4 }],
    ["totals by label", "TrendsQuery", [series("a", 4), series("b", 1)], { total: { b: 1, a: { "@lt": 5 } } }],
    ["a number", "TrendsQuery", [{ label: "a", count: 0, data: [], aggregated_value: 7 }], { value: 7, total: 7 }],
    ["data", "TrendsQuery", [series("a", 3, [1, 2])], { data: [1, 2] }],
    [
      "a lifecycle",
      "LifecycleQuery",
      [
        { ...series("x - new", 2), status: "new" },
        { ...series("x - dormant", -1), status: "dormant" },
      ],
      { total: { new: 2, dormant: -1 } },
    ],
    [
      "rows",
      "HogQLQuery",
      [
        ["a", 1],
        ["b", null],
      ],
      {
        rows: [
          ["a", 1],
          ["b", null],
        ],
      },
    ],
    ["the one value of HogQL", "HogQLQuery", [[42]], { value: 42 }],
    [
      "retention",
      "RetentionQuery",
      [{ values: [{ count: 3 }, { count: 1 }] }, { values: [{ count: 2 }] }],
      { retention: [[3, 1], [2]] },
    ],
  ])("%s", (_, kind, results, expected) => {
    expect(differences(kind, results, expected)).toEqual([]);
  });

  test.each<[string, string, unknown, InsightExpectation, RegExp]>([
    ["a step", "FunnelsQuery", steps(3, 1), { steps: [3, 2] }, /^steps: expected \[3, 2\], got \[3, 1\]$/],
    ["the number of steps", "FunnelsQuery", steps(3), { steps: [3, 2] }, /^steps: expected \[3, 2\], got \[3\]$/],
    [
      "several series",
      "TrendsQuery",
      [series("a", 4), series("b", 1)],
      { total: 5 },
      /2 series \("a", "b"\); give total by label/,
    ],
    ["no result", "TrendsQuery", [], { total: 5 }, /^total: expected 5, got no result$/],
    [
      "a misspelt label",
      "TrendsQuery",
      [series("order", 4), series("b", 1)],
      { total: { ordre: 4 } },
      /there is no series "ordre"; did you mean "order"\?; series: "order", "b"/,
    ],
    [
      "a label's value",
      "TrendsQuery",
      [series("a", 4), series("b", 1)],
      { total: { a: 3 } },
      /^total of "a": expected 3, got 4$/,
    ],
    ["more than one cell", "HogQLQuery", [[1, 2]], { value: 1 }, /^value: expected 1, got \[\[1, 2\]\]$/],
    ["rows", "HogQLQuery", [["a", 1]], { rows: [["a", 2]] }, /^rows: expected/],
  ])("differs in %s", (_, kind, results, expected, says) => {
    const [only, ...others] = differences(kind, results, expected);
    expect(only).toMatch(says);
    expect(others).toEqual([]);
  });
});

describe("mistakes in an expectation", () => {
  test.each<[string, unknown, RegExp]>([
    ["no object", 3, /expected an object with steps, total/],
    ["empty", {}, /the expectation is empty; it has steps/],
    ["an unknown key", { step: [1] }, /unknown key "step"; did you mean "steps"\?/],
    ["an unknown operator", { total: { "@gt3": 1 } }, /total: .*@gt3/],
  ])("%s", (_, expected, says) => {
    expect(() => checkExpectation(title, expected)).toThrow(says);
  });

  test("the series of a funnel that is shown as trends", () => {
    const query = {
      kind: "FunnelsQuery",
      funnelsFilter: { funnelVizType: "trends" },
      breakdownFilter: { breakdown: "plan" },
    };
    const shown = [
      { count: 2, data: [50, 0], breakdown_value: ["pro"] },
      { count: 2, data: [0, 100], breakdown_value: ["free"] },
    ];
    const of = (data: InsightExpectation["data"]) => insightDifferences(title, { data }, { query, results: shown });
    expect(of({ pro: [50, 0], free: [0, 100] })).toEqual([]);
    expect(of({ pro: [50, 1] })).toEqual(['data of "pro": expected [50, 1], got [50, 0]']);
  });

  test("a key that the kind does not have", () => {
    const wrong = () => differences("HogQLQuery", [[1]], { steps: [1] });
    expect(wrong).toThrow(`${title}: a HogQLQuery has no steps; it has value, rows`);
    expect(() => differences("EventsQuery", [], { rows: [] })).toThrow("it has nothing that can be expected");
  });
});
