import { describe, expect, test } from "vitest";
import type { BoardTile } from "../../../ui/parts/insight/board.tsx";
import { boardTest, insightTest } from "../../../ui/views/dashboards/copies.ts";
import { type AnswerName, answerOf } from "./answers.ts";

const tileOf = (name: AnswerName): BoardTile => {
  const { query, results, columns = null } = answerOf(name);
  return {
    id: 1,
    layouts: {},
    text: null,
    insight: {
      name,
      derived_name: null,
      description: null,
      query,
      result: results,
      columns,
      last_refresh: null,
      timezone: null,
    },
  };
};

describe("an insight as a test", () => {
  test.each<[AnswerName, string]>([
    ["line", '"line", { total: 5 }'],
    ["brokenDown", '"brokenDown", { total: { pro: 5, $$_posthog_breakdown_null_$$: 1 } }'],
    ["ranking", '"ranking", { value: { Monstera: 9206, Ficus: 6144 } }'],
    ["table", '"table", { value: 5 }'],
    ["steps", '"steps", { steps: [4, 1] }'],
    ["stepsBrokenDown", '"stepsBrokenDown", { steps: { pro: [4, 1], free: [2, 2] } }'],
    ["retention", '"retention", { retention: [[10, 4, 2], [5, 1, 0]] }'],
    ["lifecycle", '"lifecycle", { total: { new: 4, dormant: -3 } }'],
    ["hogql", '"hogql", { rows: [["$pageview", 12], ["order_completed", 3]] }'],
  ])("%s", (name, args) => {
    expect(boardTest("Sales", [tileOf(name)])).toBe(
      `import { expect, test } from "phx-sim/vitest";

test("Sales", async ({ ph }) => {
  // Make your app send the events here.
  await expect(ph).toHaveInsight(${args});
});`,
    );
  });

  test("one that compares periods is expected by its query, without the comparison", () => {
    const text = boardTest("Sales", [tileOf("compared")]);
    expect(text).toContain('toHaveInsight({\n    kind: "TrendsQuery"');
    expect(text).toContain("{ total: 5 }");
    expect(text).not.toContain("compareFilter");
  });

  test.each<AnswerName>(["timeToConvert", "conversion"])("%s has no expectation", (name) =>
    expect(boardTest("Sales", [tileOf(name)])).toContain("shows nothing yet that a test can expect"),
  );

  test("one that is not stored is expected by its query", () => {
    const { query, ...answer } = answerOf("steps");
    const text = insightTest("x`\u2028", query, answer);
    expect(text).toContain('test("x`\\u2028"');
    expect(text).toContain('kind: "FunnelsQuery"');
    expect(text).toContain("{ steps: [4, 1] }");
    expect(insightTest("x", query, undefined)).toContain("shows nothing yet");
  });
});
