import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { lifecycleKind } from "../../../../src/service/query/insights/lifecycle.ts";
import { stickinessKind } from "../../../../src/service/query/insights/stickiness.ts";
import { eventsAt, runKind, type Stage } from "./stage.ts";

const days = (...list: number[]) => list.map((day) => new Date(Date.UTC(2020, 0, day, 12)).toISOString());
const views = { kind: "EventsNode", event: "$pageview" };
const dateRange = { date_from: "2020-01-10", date_to: "2020-01-14" };

const events = [
  ...eventsAt("new", "$pageview", days(10, 11, 14)),
  ...eventsAt("old", "$pageview", days(2, 9, 10)),
  ...eventsAt("back", "$pageview", days(1, 12)),
  ...eventsAt("other", "$pageleave", days(12)),
];

interface Series {
  status: string;
  label: string;
  data: number[];
  count: number;
  days: (string | number)[];
  labels: string[];
  action: JsonObject;
  compare_label?: string;
}

describe("lifecycle", () => {
  async function run(query: JsonObject = {}, stage: Partial<Stage> = {}): Promise<Series[]> {
    const all = { dateRange, series: [views], ...query };
    return (await runKind(lifecycleKind, all, { events, ...stage })).results as Series[];
  }

  test("new, returning, resurrecting and dormant persons", async () => {
    const results = await run();
    expect(results.map(({ status, data, count }) => [status, data, count])).toEqual([
      ["new", [1, 0, 0, 0, 0], 1],
      // "old" was active on the 9th as well, which is before the range.
      ["returning", [1, 1, 0, 0, 0], 2],
      ["resurrecting", [0, 0, 1, 0, 1], 2],
      ["dormant", [0, -1, -1, -1, 0], -3],
    ]);
    expect(results[0]).toMatchObject({
      label: "$pageview - new",
      days: ["2020-01-10", "2020-01-11", "2020-01-12", "2020-01-13", "2020-01-14"],
      action: { id: "$pageview", name: "$pageview", type: "events", order: 0, math: "total" },
    });
    expect(results[0]?.labels[0]).toBe("10-Jan-2020");
  });

  test("a person is new in the interval in which it was created", async () => {
    const person = (uuid: string) =>
      uuid === "new"
        ? { uuid, created_at: Date.parse("2019-12-01T00:00:00Z"), is_identified: true, properties: {} }
        : undefined;
    expect((await run({}, { person })).map(({ status, data }) => [status, data[0]])).toEqual([
      ["new", 0],
      ["returning", 1],
      ["resurrecting", 1],
      ["dormant", 0],
    ]);
  });

  test("weeks; groups; events without a person profile do not count", async () => {
    const weeks = await run({ interval: "week", dateRange: { date_from: "2020-01-05", date_to: "2020-01-18" } });
    expect(weeks.map(({ data }) => data)).toEqual([
      [1, 0],
      [1, 1],
      [0, 1],
      // Those of the week before the range, and "old" after its second week.
      [-1, -1],
    ]);
    const grouped = events.map((it) => ({ ...it, groups: { 0: "acme" } }));
    const groups = await run({ aggregation_group_type_index: 0 }, { events: grouped });
    expect(groups.map(({ data }) => data)).toEqual([
      [0, 0, 0, 0, 0],
      [1, 1, 1, 0, 0],
      [0, 0, 0, 0, 1],
      [0, 0, 0, -1, 0],
    ]);
    const anonymous = events.map((it) => ({ ...it, properties: { $process_person_profile: false } }));
    expect((await run({}, { events: anonymous })).every(({ count }) => count === 0)).toBe(true);
  });

  test("exactly one series", async () => {
    await expect(run({ series: [] })).rejects.toThrow("exactly one series");
    await expect(run({ series: [views, views] })).rejects.toThrow("exactly one series");
  });
});

describe("stickiness", () => {
  async function run(query: JsonObject = {}, stage: Partial<Stage> = {}): Promise<Series[]> {
    const all = { dateRange, series: [views], ...query };
    return (await runKind(stickinessKind, all, { events, ...stage })).results as Series[];
  }

  test("persons by the number of days on which they were active", async () => {
    const [result] = await run();
    expect(result).toEqual({
      count: 3,
      data: [2, 0, 1, 0, 0],
      days: [1, 2, 3, 4, 5],
      label: "$pageview",
      labels: ["1 day", "2 days", "3 days", "4 days", "5 days"],
      action: { order: 0, type: "events", name: "$pageview", id: "$pageview" },
    });
  });

  test("at least that often on a day; on that many days or more; compared", async () => {
    const twice = [...events, ...eventsAt("new", "$pageview", days(10))];
    const stickinessFilter = { stickinessCriteria: { operator: "gte", value: 2 } };
    expect((await run({ stickinessFilter }, { events: twice }))[0]?.data).toEqual([1, 0, 0, 0, 0]);
    const [cumulative] = await run({ stickinessFilter: { computedAs: "cumulative" } });
    expect(cumulative).toMatchObject({ data: [3, 1, 1, 0, 0], count: 3 });
    expect(cumulative?.labels[1]).toBe("2 days or more");
    const compared = await run({ compareFilter: { compare: true } });
    expect(compared.map(({ compare_label, data }) => [compare_label, data])).toEqual([
      ["current", [2, 0, 1, 0, 0]],
      ["previous", [1, 0, 0, 0, 0]],
    ]);
  });

  test("groups; other maths are refused", async () => {
    const grouped = events.map((it) => ({ ...it, groups: { 0: it.id === "new" ? "" : "acme" } }));
    const series = [{ ...views, math: "unique_group", math_group_type_index: 0 }];
    expect((await run({ series }, { events: grouped }))[0]?.data).toEqual([0, 1, 0, 0, 0]);
    await expect(run({ series: [{ ...views, math: "weekly_active" }] })).rejects.toThrow('The math "weekly_active"');
  });
});
