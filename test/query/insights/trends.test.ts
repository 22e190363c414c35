import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { trendsKind } from "../../../src/query/insights/trends.ts";
import type { TrendsResult } from "../../../src/query/insights/trends-results.ts";
import type { TableEvent } from "../table-of.ts";
import { eventsAt, runKind, type Stage } from "./stage.ts";

const noon = (...days: number[]) => days.map((day) => `2020-01-${String(day).padStart(2, "0")}T12:00:00Z`);

/** The events of the service's own tests (test_trends_query_runner.py). */
const people: [id: string, properties: JsonObject, group: string, views: number[], leaves: number[]][] = [
  ["p1", { $browser: "Chrome", prop: 10, bool_field: true }, "org:5", [11, 12, 13, 15, 17, 19], [11, 12, 13]],
  ["p2", { $browser: "Firefox", prop: 20, bool_field: false }, "org:6", [9, 12], [13]],
  ["p3", { $browser: "Edge", prop: 30, bool_field: true }, "org:7", [12], [13]],
  ["p4", { $browser: "Safari", prop: 40, bool_field: false }, "", [15], [16]],
];
const events: TableEvent[] = people.flatMap(([id, properties, group, views, leaves]) => {
  const more = { properties, ...(group && { groups: { 0: group } }) };
  return [
    ...eventsAt(id, "$pageview", noon(...views), more),
    ...eventsAt(id, "$pageleave", noon(...leaves), more),
  ];
});

interface Answer {
  results: TrendsResult[];
  hasMore: boolean;
  resolved_date_range: { date_from: string; date_to: string };
}

const dateRange = { date_from: "2020-01-09", date_to: "2020-01-19" };
const views = { kind: "EventsNode", event: "$pageview" };
const leaves = { kind: "EventsNode", event: "$pageleave" };

async function run(query: JsonObject, stage: Partial<Stage> = {}): Promise<Answer> {
  const all = { dateRange, series: [views], ...query };
  return (await runKind(trendsKind, all, { events, ...stage })) as unknown as Answer;
}

describe("trends", () => {
  test("events by day", async () => {
    const { results, hasMore, resolved_date_range } = await run({});
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      data: [1, 0, 1, 3, 1, 0, 2, 0, 1, 0, 1],
      count: 10,
      label: "$pageview",
      order: 0,
      action: { id: "$pageview", type: "events", order: 0, name: "$pageview", custom_name: null, math: null },
      filter: {
        insight: "TRENDS",
        interval: "day",
        entity_type: "events",
        date_from: "2020-01-09T00:00:00Z",
      },
    });
    expect(results[0]?.days.slice(0, 2)).toEqual(["2020-01-09", "2020-01-10"]);
    expect(results[0]?.labels?.[10]).toBe("19-Jan-2020");
    expect(hasMore).toBe(false);
    expect(resolved_date_range).toEqual({
      date_from: "2020-01-09T00:00:00Z",
      date_to: "2020-01-19T23:59:59.999Z",
    });
  });

  test("several series keep their order", async () => {
    const { results } = await run({ series: [views, leaves] });
    expect(results.map(({ label, count, order }) => [label, count, order])).toEqual([
      ["$pageview", 10, 0],
      ["$pageleave", 6, 1],
    ]);
  });

  test("a breakdown, the largest first", async () => {
    const { results } = await run({ breakdownFilter: { breakdown: "$browser", breakdown_type: "event" } });
    expect(results.map(({ label, breakdown_value, count }) => [label, breakdown_value, count])).toEqual([
      ["Chrome", "Chrome", 6],
      ["Firefox", "Firefox", 2],
      ["Edge", "Edge", 1],
      ["Safari", "Safari", 1],
    ]);
  });
});
