import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import type { TrendsResult } from "../../../../src/service/query/insights/trends.ts";
import { trendsKind } from "../../../../src/service/query/insights/trends.ts";
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
  return [...eventsAt(id, "$pageview", noon(...views), more), ...eventsAt(id, "$pageleave", noon(...leaves), more)];
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
      filter: { insight: "TRENDS", interval: "day", entity_type: "events", date_from: "2020-01-09T00:00:00Z" },
    });
    expect(results[0]?.days.slice(0, 2)).toEqual(["2020-01-09", "2020-01-10"]);
    expect(results[0]?.labels?.[10]).toBe("19-Jan-2020");
    expect(hasMore).toBe(false);
    expect(resolved_date_range).toEqual({ date_from: "2020-01-09T00:00:00Z", date_to: "2020-01-19T23:59:59.999999Z" });
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

describe("math", () => {
  const math = (name: string, more: JsonObject = {}) => ({ series: [{ ...views, math: name, ...more }] });
  const property = { math_property: "prop" };

  test.each<[string, JsonObject, number[]]>([
    ["users", math("dau"), [1, 0, 1, 3, 1, 0, 2, 0, 1, 0, 1]],
    ["sum", math("sum", property), [20, 0, 10, 60, 10, 0, 50, 0, 10, 0, 10]],
    ["average", math("avg", property), [20, 0, 10, 20, 10, 0, 25, 0, 10, 0, 10]],
    ["least", math("min", property), [20, 0, 10, 10, 10, 0, 10, 0, 10, 0, 10]],
    ["most", math("max", property), [20, 0, 10, 30, 10, 0, 40, 0, 10, 0, 10]],
    ["median", math("median", property), [20, 0, 10, 20, 10, 0, 25, 0, 10, 0, 10]],
    ["p90, interpolated", math("p90", property), [20, 0, 10, 28, 10, 0, 37, 0, 10, 0, 10]],
    ["events per user", math("avg_count_per_actor"), [1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1]],
    [
      "groups; events without one do not count",
      math("unique_group", { math_group_type_index: 0 }),
      [1, 0, 1, 3, 1, 0, 1, 0, 1, 0, 1],
    ],
    ["weekly active users", math("weekly_active"), [1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 2]],
    ["first time", math("first_time_for_user"), [1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0]],
    ["multiplied", math("sum", { ...property, math_multiplier: 0.5 }), [10, 0, 5, 30, 5, 0, 25, 0, 5, 0, 5]],
  ])("%s", async (_, query, data) => {
    const { results } = await run(query);
    expect(results[0]?.data).toEqual(data);
  });

  test("the first time of a user counts only if that event passes the filters", async () => {
    const series = [{ ...views, math: "first_time_for_user", properties: [{ key: "prop", value: "10" }] }];
    const changed = [
      ...eventsAt("p1", "$pageview", noon(10), { properties: { prop: 1 } }),
      ...eventsAt("p1", "$pageview", noon(11), { properties: { prop: 10 } }),
      ...eventsAt("p2", "$pageview", noon(12), { properties: { prop: 10 } }),
      ...eventsAt("p3", "$pageview", ["2019-12-01T12:00:00Z", ...noon(13)], { properties: { prop: 10 } }),
    ];
    const first = await run({ series }, { events: changed });
    expect(first.results[0]?.data).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    const matching = [{ ...series[0], math: "first_matching_event_for_user" }];
    expect((await run({ series: matching }, { events: changed })).results[0]?.data).toEqual([
      0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0,
    ]);
  });

  test("lengths of sessions count each session once", async () => {
    const inSession = (id: string, ...times: string[]) =>
      eventsAt("p1", "$pageview", times, { properties: { $session_id: id } });
    const sessions = [
      ...inSession("a", "2020-01-10T12:00:00Z", "2020-01-10T12:00:30Z", "2020-01-10T12:01:00Z"),
      ...inSession("b", "2020-01-10T13:00:00Z", "2020-01-10T13:02:00Z"),
    ];
    const series = [
      { ...views, math: "sum", math_property: "$session_duration", math_property_type: "session_properties" },
      { ...views, math: "unique_session" },
    ];
    const { results } = await run({ series }, { events: sessions });
    expect(results.map(({ count }) => count)).toEqual([180, 2]);
    const properties = [{ type: "session", key: "$session_duration", operator: "gt", value: 60 }];
    expect((await run({ properties }, { events: sessions })).results[0]?.count).toBe(2);
  });

  test("a math that the sim does not have is refused by name", async () => {
    await expect(run(math("mode"))).rejects.toThrow('The math "mode" of a series is not supported.');
  });
});

describe("displays", () => {
  test("one number for the range", async () => {
    for (const display of ["BoldNumber", "ActionsPie", "ActionsTable", "ActionsBarValue"]) {
      const { results } = await run({ trendsFilter: { display }, series: [{ ...views, math: "dau" }] });
      expect(results).toHaveLength(1);
      expect(results[0]).toMatchObject({ aggregated_value: 4, data: [], count: 0, days: [] });
    }
  });

  test("active users of a range are those of its end", async () => {
    const series = [{ ...views, math: "weekly_active" }];
    const { results } = await run({ trendsFilter: { display: "BoldNumber" }, series });
    // In the seven days before the end of the 19th: p1 and p4.
    expect(results[0]?.aggregated_value).toBe(2);
    const earlier = await run({
      dateRange: { date_from: "2020-01-09", date_to: "2020-01-13" },
      trendsFilter: { display: "BoldNumber" },
      series,
    });
    expect(earlier.results[0]?.aggregated_value).toBe(3);
  });

  test("running totals; users count once", async () => {
    const trendsFilter = { display: "ActionsLineGraphCumulative" };
    const { results } = await run({ trendsFilter, series: [views, { ...views, math: "dau" }] });
    expect(results.map(({ data }) => data)).toEqual([
      [1, 1, 2, 5, 6, 6, 8, 8, 9, 9, 10],
      [1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4],
    ]);
    expect(results.map(({ count }) => count)).toEqual([10, 4]);
  });

  test("moving averages", async () => {
    const { results } = await run({ trendsFilter: { smoothingIntervals: 3 } });
    expect(results[0]?.data).toEqual([1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0]);
  });

  test("a display that the sim does not have is refused", async () => {
    await expect(run({ trendsFilter: { display: "CalendarHeatmap" } })).rejects.toThrow("CalendarHeatmap");
  });
});

describe("breakdowns", () => {
  const byBrowser = { breakdown: "$browser", breakdown_type: "event" };

  test("values after the limit are one; the client may hide it", async () => {
    const { results, hasMore } = await run({ breakdownFilter: { ...byBrowser, breakdown_limit: 2 } });
    expect(results.map(({ breakdown_value, count }) => [breakdown_value, count])).toEqual([
      ["Chrome", 6],
      ["Firefox", 2],
      ["$$_posthog_breakdown_other_$$", 2],
    ]);
    expect(hasMore).toBe(true);
    const hidden = await run({
      breakdownFilter: { ...byBrowser, breakdown_limit: 2, breakdown_hide_other_aggregation: true },
    });
    expect(hidden.results.map(({ label }) => label)).toEqual(["Chrome", "Firefox"]);
    expect(hidden.hasMore).toBe(true);
  });

  test("events without the property come last, as do those with an empty one", async () => {
    const more = [
      ...eventsAt("x", "$pageview", noon(10, 11, 12, 13, 14, 15, 16)),
      ...eventsAt("x", "$pageview", noon(10), { properties: { $browser: "" } }),
    ];
    const { results } = await run({ breakdownFilter: byBrowser }, { events: [...events, ...more] });
    expect(results.map(({ label }) => label)).toEqual([
      ...["Chrome", "Firefox", "Edge", "Safari"],
      "$$_posthog_breakdown_null_$$",
    ]);
    expect(results[4]?.count).toBe(8);
  });

  test("properties of persons and groups, and several at once", async () => {
    const table = {
      personProperties: { p1: { plan: "pro" }, p2: { plan: "free" }, p3: { plan: "pro" }, p4: {} },
      groupProperties: {
        0: { "org:5": { industry: "finance" }, "org:6": { industry: "technology" }, "org:7": { industry: "finance" } },
      },
    };
    const person = await run({ breakdownFilter: { breakdown: "plan", breakdown_type: "person" } }, { table });
    expect(person.results.map(({ label, count }) => [label, count])).toEqual([
      ["pro", 7],
      ["free", 2],
      ["$$_posthog_breakdown_null_$$", 1],
    ]);
    const both = await run(
      {
        series: [views, leaves],
        breakdownFilter: {
          breakdowns: [
            { property: "industry", type: "group", group_type_index: 0 },
            { property: "$browser", type: "event" },
          ],
        },
      },
      { table },
    );
    expect(both.results[0]).toMatchObject({
      label: "$pageview - finance::Chrome",
      breakdown_value: ["finance", "Chrome"],
      count: 6,
    });
    expect(both.results).toHaveLength(8);
  });

  test("bins of numbers", async () => {
    const { results } = await run({
      breakdownFilter: { breakdown: "prop", breakdown_type: "event", breakdown_histogram_bin_count: 3 },
    });
    expect(results.map(({ breakdown_value, count }) => [breakdown_value, count])).toEqual([
      ["[10,20]", 6],
      ["[20,30]", 2],
      ["[30,40.01]", 2],
    ]);
  });

  test("URLs without what follows their last slash", async () => {
    const urls = ["/a", "/a/", "/a?#", "/"].flatMap((url) =>
      eventsAt("x", "$pageview", noon(10), { properties: { url } }),
    );
    const { results } = await run(
      { breakdownFilter: { breakdown: "url", breakdown_type: "event", breakdown_normalize_url: true } },
      { events: urls },
    );
    expect(results.map(({ label, count }) => [label, count])).toEqual([
      ["/a", 3],
      ["/", 1],
    ]);
  });

  const cohorts: Record<number, string[]> = { 1: ["p1", "p2"], 2: ["p2", "p3"], 3: [] };
  const cohort = (id: number) => {
    const members = cohorts[id];
    return members && { name: `cohort ${id}`, has: (person: string) => members.includes(person) };
  };

  test("cohorts, a person may be in several", async () => {
    const { results } = await run({ breakdownFilter: { breakdown: [2, 1, 3], breakdown_type: "cohort" } }, { cohort });
    expect(results.map(({ label, breakdown_value, count }) => [label, breakdown_value, count])).toEqual([
      ["cohort 1", 1, 8],
      ["cohort 2", 2, 3],
    ]);
    const all = await run({ breakdownFilter: { breakdown: ["all", 2], breakdown_type: "cohort" } }, { cohort });
    expect(all.results.map(({ label, breakdown_value, count }) => [label, breakdown_value, count])).toEqual([
      ["$pageview - all users", "all", 10],
      ["$pageview - cohort 2", 2, 3],
    ]);
    await expect(run({ breakdownFilter: { breakdown: [9], breakdown_type: "cohort" } }, { cohort })).rejects.toThrow(
      "Cohort 9 does not exist.",
    );
  });
});

describe("comparison and formulas", () => {
  test("the period before", async () => {
    const { results } = await run({
      dateRange: { date_from: "2020-01-15", date_to: "2020-01-19" },
      compareFilter: { compare: true },
    });
    expect(results.map(({ compare_label, data, days }) => [compare_label, data, days[0]])).toEqual([
      ["current", [2, 0, 1, 0, 1], "2020-01-15"],
      ["previous", [0, 1, 3, 1, 0], "2020-01-10"],
    ]);
  });

  test("last 7 days are eight, and compared with the same weekdays", async () => {
    const { results } = await run({ dateRange: { date_from: "-7d" }, compareFilter: { compare: true } });
    expect(results.map(({ days }) => [days[0], days.at(-1)])).toEqual([
      ["2020-01-12", "2020-01-19"],
      ["2020-01-05", "2020-01-12"],
    ]);
  });

  test("another time in the past", async () => {
    const { results } = await run({
      dateRange: { date_from: "-3d" },
      compareFilter: { compare: true, compare_to: "-1w" },
    });
    expect(results[1]).toMatchObject({ data: [1, 0, 1, 3], compare_label: "previous" });
    expect(results[1]?.days[0]).toBe("2020-01-09");
  });

  test("a formula replaces the series", async () => {
    const { results } = await run({ series: [views, leaves], trendsFilter: { formula: "A + 2 * B" } });
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ label: "Formula (A + 2 * B)", count: 22, action: null, order: 0 });
    const named = await run({
      series: [views, leaves],
      trendsFilter: {
        display: "BoldNumber",
        formulaNodes: [{ formula: "B/A", custom_name: "ratio" }, { formula: "A" }],
      },
    });
    expect(
      named.results.map(({ label, aggregated_value, data, order }) => [label, aggregated_value, data, order]),
    ).toEqual([
      ["ratio", 0.6, null, 0],
      ["Formula (A)", 10, null, 1],
    ]);
  });

  test("formulas by value of a breakdown; a series without the value is 0", async () => {
    const { results } = await run({
      series: [views, { ...leaves, properties: [{ key: "$browser", value: "Safari" }] }],
      breakdownFilter: { breakdown: "$browser", breakdown_type: "event" },
      trendsFilter: { formula: "A - B" },
    });
    expect(results.map(({ breakdown_value, count }) => [breakdown_value, count])).toEqual([
      ["Chrome", 6],
      ["Firefox", 2],
      ["Edge", 1],
      ["Safari", 0],
    ]);
  });
});

describe("dates", () => {
  test("days of the project's time zone", async () => {
    const late = eventsAt("x", "$pageview", ["2020-01-09T23:30:00Z", "2020-01-10T05:30:00Z"]);
    const at = async (timeZone: string) => (await run({}, { events: late, timeZone })).results[0]?.data?.slice(0, 2);
    expect(await at("UTC")).toEqual([1, 1]);
    expect(await at("Europe/Berlin")).toEqual([0, 2]);
    expect(await at("America/New_York")).toEqual([1, 1]);
  });

  test("days on which the clocks change", async () => {
    // Berlin: 29 March has 23 hours, 25 October has 25.
    const spring = eventsAt("x", "$pageview", [
      "2020-03-28T22:59:59Z",
      "2020-03-28T23:00:00Z",
      "2020-03-29T21:59:00Z",
      "2020-03-29T22:00:00Z",
    ]);
    const { results } = await run(
      { dateRange: { date_from: "2020-03-28", date_to: "2020-03-30" } },
      { events: spring, timeZone: "Europe/Berlin" },
    );
    expect(results[0]?.data).toEqual([1, 2, 1]);
    const autumn = eventsAt("x", "$pageview", ["2020-10-24T22:00:00Z", "2020-10-25T22:59:00Z", "2020-10-25T23:00:00Z"]);
    const later = await run(
      { dateRange: { date_from: "2020-10-25", date_to: "2020-10-26" } },
      { events: autumn, timeZone: "Europe/Berlin", now: Date.parse("2020-11-01T00:00:00Z") },
    );
    expect(later.results[0]?.data).toEqual([2, 1]);
    expect(later.resolved_date_range.date_from).toBe("2020-10-25T00:00:00+02:00");
  });

  test("weeks start on the project's day; the first is cut at the range", async () => {
    const week = async (weekStart: 0 | 1) => (await run({ interval: "week" }, { weekStart })).results[0];
    expect(await week(0)).toMatchObject({ days: ["2020-01-05", "2020-01-12", "2020-01-19"], data: [2, 7, 1] });
    expect(await week(1)).toMatchObject({ days: ["2020-01-06", "2020-01-13"], data: [5, 5] });
    expect((await week(1))?.labels).toEqual(["9–12 Jan", "13–19 Jan"]);
  });

  test("months, hours and minutes", async () => {
    const month = await run({ interval: "month", dateRange: { date_from: "2019-12-05" } });
    expect(month.results[0]).toMatchObject({
      days: ["2019-12-01", "2020-01-01"],
      labels: ["Dec 2019", "Jan 2020"],
      data: [0, 10],
    });
    const hour = await run({ interval: "hour", dateRange: { date_from: "-3h" } });
    expect(hour.results[0]).toMatchObject({
      days: ["2020-01-19 12:00:00", "2020-01-19 13:00:00", "2020-01-19 14:00:00", "2020-01-19 15:00:00"],
      data: [1, 0, 0, 0],
    });
    expect(hour.results[0]?.labels?.[0]).toBe("19-Jan 12:00");
    const minute = await run({ interval: "minute", dateRange: { date_from: "-2M" } });
    expect(minute.results[0]?.days).toEqual(["2020-01-19 14:58:00", "2020-01-19 14:59:00", "2020-01-19 15:00:00"]);
  });

  test("all time starts with the first event of the series", async () => {
    const { results } = await run({ dateRange: { date_from: "all" }, series: [leaves] });
    expect(results[0]?.days[0]).toBe("2020-01-11");
  });

  test("explicit dates are exact", async () => {
    const dates = { date_from: "2020-01-11T12:00:01Z", date_to: "2020-01-12T11:00:00Z" };
    expect((await run({ dateRange: { ...dates, explicitDate: true } })).results[0]?.data).toEqual([0, 0]);
    expect((await run({ dateRange: dates })).results[0]?.data).toEqual([1, 3]);
  });

  test("what is no date is refused", async () => {
    await expect(run({ dateRange: { date_from: "yesterday" } })).rejects.toThrow('"yesterday" is not a date');
    await expect(run({ dateRange: { date_from: "2020-02-31" } })).rejects.toThrow("not a date");
    await expect(run({ dateRange: { date_from: "-40y" }, interval: "minute" })).rejects.toThrow("intervals");
  });
});
