import { describe, expect, test } from "vitest";
import type { DatedJoin } from "../../../src/lab/person-history/shapes.ts";
import { graphOf } from "../../../ui/views/people/identity-layout.ts";

const join = (other: string, into: string, outcome: DatedJoin["outcome"] = "attached", seq = 1): DatedJoin => ({
  by: "$identify",
  other,
  into,
  outcome,
  reason: outcome === "refused" ? "cannot_merge_already_identified" : null,
  seq,
  timestamp: "2026-01-01T00:00:00.000Z",
});

const star = (n: number) => {
  const ids = Array.from({ length: n }, (_, i) => `id-${i}`);
  return { ids, joins: ids.slice(1).map((id, i) => join(id, "id-0", "attached", i)) };
};

describe("the order of ids", () => {
  const rows: [what: string, ids: string[], joins: DatedJoin[], order: string[]][] = [
    ["none", [], [], []],
    ["one", ["a"], [], ["a"]],
    ["the one that was gone into is first", ["anon", "u"], [join("anon", "u")], ["u", "anon"]],
    ["those without a join are last", ["x", "anon", "u"], [join("anon", "u")], ["u", "anon", "x"]],
    ["another person's id comes after all", ["u", "v"], [join("other", "u", "refused")], ["v", "u", "other"]],
    ["an id that joins itself is not drawn", ["u"], [join("u", "u")], ["u"]],
  ];
  test.each(rows)("%s", (_, ids, joins, order) => {
    expect(graphOf(ids, joins).rows.map((it) => it.id)).toEqual(order);
  });

  test("marks another person's ids", () => {
    const { rows, dots } = graphOf(["u"], [join("other", "u", "refused")]);
    expect(rows.map((it) => it.isForeign)).toEqual([false, true]);
    expect(dots.map((it) => it.isForeign)).toEqual([false, true]);
  });
});

test("what was said again and again is reported once", () => {
  const joins = [join("a", "u"), join("a", "u", "same", 2), join("a", "u", "same", 3)];
  const { rows, lines } = graphOf(["a", "u"], joins);
  expect(rows[1]?.notes.map((it) => [it.join.outcome, it.times])).toEqual([
    ["attached", 1],
    ["same", 2],
  ]);
  expect(lines).toHaveLength(2);
});

test("an id of many joins lists the first of them", () => {
  const joins = ["created", "attached", "merged", "same", "refused"].map((it) =>
    join("a", "u", it as DatedJoin["outcome"]),
  );
  const [, row] = graphOf(["a", "u"], joins).rows;
  expect([row?.notes.length, row?.further]).toEqual([3, 2]);
});

describe.each([1, 3, 40])("%i ids", (n) => {
  const { ids, joins } = star(n);
  const graph = graphOf(ids, joins);

  test("stand below each other without touching", () => {
    let end = 0;
    for (const row of graph.rows) {
      expect(row.top).toBe(end);
      end = row.top + row.height;
    }
    expect(graph.height).toBe(end);
  });

  test("share one rail", () => {
    expect(graph.lines).toHaveLength(n - 1);
    expect(graph.tips).toHaveLength(n > 1 ? 1 : 0);
    expect(graph.width).toBeLessThan(40);
  });
});

test("a chain of forty needs two lanes at most", () => {
  const ids = Array.from({ length: 40 }, (_, i) => `id-${i}`);
  const joins = ids.slice(1).map((id, i) => join(id, `id-${i}`));
  expect(graphOf(ids, joins).width).toBeLessThan(60);
});

test("refused merges have a rail of their own", () => {
  const graph = graphOf(["a", "u"], [join("a", "u"), join("b", "u", "refused")]);
  expect(graph.tips.map((it) => it.isRefused).sort()).toEqual([false, true]);
  expect(new Set(graph.lines.map((it) => it.path.split("V")[0]?.split("H")[1])).size).toBe(2);
});
