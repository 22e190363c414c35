import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { calendarOf, readDate } from "../../../../src/service/query/insights/dates.ts";
import { applyFormula } from "../../../../src/service/query/insights/formula.ts";
import { actionTest } from "../../../../src/service/query/insights/series.ts";
import { kinds } from "../../../../src/service/query/kinds.ts";
import { contextOf } from "./stage.ts";

describe("relative dates", () => {
  const calendar = calendarOf({ now: Date.parse("2020-03-31T15:20:30Z"), timeZone: "UTC", weekStart: 0 });
  const read = (text: string) => new Date(readDate(text, { calendar }).wall).toISOString().replace(".000Z", "");

  test.each([
    ["-7d", "2020-03-24T15:20:30"],
    ["7d", "2020-03-24T15:20:30"],
    ["-1m", "2020-02-29T15:20:30"],
    ["-13m", "2019-02-28T15:20:30"],
    ["-1y", "2019-03-31T15:20:30"],
    ["-2w", "2020-03-17T15:20:30"],
    ["-1q", "2019-12-31T15:20:30"],
    ["-3h", "2020-03-31T12:20:30"],
    ["-5M", "2020-03-31T15:15:30"],
    ["-30s", "2020-03-31T15:20:00"],
    ["dStart", "2020-03-31T00:00:00"],
    ["-1dStart", "2020-03-30T00:00:00"],
    ["-1dEnd", "2020-03-30T23:59:59.999Z"],
    ["mStart", "2020-03-01T15:20:30"],
    ["-1mStart", "2020-02-01T15:20:30"],
    ["-1mEnd", "2020-02-29T15:20:30"],
    ["yStart", "2020-01-01T15:20:30"],
    ["-1yStart", "2019-01-01T15:20:30"],
    ["2020-1-9", "2020-01-09T00:00:00"],
    ["2020-01-09T10:00", "2020-01-09T10:00:00"],
    ["2020-01-09 10:00:00.5", "2020-01-09T10:00:00.500Z"],
    ["2020-01-09T10:00:00+02:00", "2020-01-09T08:00:00"],
  ])("%s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each(["", "-7x", "7", "2020-13-01", "2020-02-30", "now", "2020-01-01T25:00"])("%j is none", (text) => {
    expect(() => read(text)).toThrow("is not a date");
  });

  test.each(["-3000y", "-99999999999d", `-${"9".repeat(400)}d`])("%s is out of range", (text) => {
    expect(() => read(text)).toThrow("is out of range");
  });
});

describe("formulas", () => {
  const value = (formula: string) => applyFormula(formula, [[6], [3], [0]])[0];

  test.each([
    ["A+B*2", 12],
    ["(a + b) / 2", 4.5],
    ["A / C", 0],
    ["A % 4", 2],
    ["-7 % 4", 1],
    ["A % C", 0],
    ["-B ** 2", -9],
    ["2 ** -1", 0.5],
    ["2 ** 3 ** 2", 512],
    ["A - B - 1", 2],
    ["1.5e1 + .5", 15.5],
    ["+A", 6],
  ])("%s is %d", (formula, expected) => {
    expect(value(formula)).toBe(expected);
  });

  test.each([
    ["A + D", "Formula references series D, but only 3 series are defined (A, B, C)"],
    ["sum(A)", "Formulas only support arithmetic"],
    ["A +", "is invalid"],
    ["(A", "bracket"],
    ["A B", "is invalid"],
    ["", "is invalid"],
    ["A; B", "Formulas only support arithmetic"],
  ])("%s is refused", (formula, message) => {
    expect(() => value(formula)).toThrow(message);
  });
});

describe("actions", () => {
  const context = contextOf({
    events: [
      {
        event: "$pageview",
        id: "a",
        at: "2020-01-10T00:00:00Z",
        properties: { $current_url: "https://x.test/shop?id=1", n: 1 },
      },
      { event: "bought", id: "a", at: "2020-01-10T00:00:00Z" },
    ],
  });
  const rows = (...steps: JsonObject[]) => {
    const test = actionTest({ name: "", steps }, context);
    return [0, 1].filter(test);
  };

  test("an event matches one of the steps", () => {
    expect(rows()).toEqual([0, 1]);
    expect(rows({ event: "bought" })).toEqual([1]);
    expect(rows({ event: "bought" }, { event: "$pageview" })).toEqual([0, 1]);
    expect(rows({ event: "$pageview", properties: [{ key: "n", value: 2 }] })).toEqual([]);
    expect(rows({ url: "/shop" })).toEqual([0]);
    expect(rows({ url: "/SHOP" })).toEqual([]);
    expect(rows({ url: "https://x.test/shop", url_matching: "exact" })).toEqual([]);
    expect(rows({ url: "shop\\?id=\\d$", url_matching: "regex" })).toEqual([0]);
  });
});

describe("shapes", () => {
  const shapes = new Map(kinds.map((it) => [it.kind, it.shape]));
  const issue = (kind: string, query: JsonObject): string => {
    const read = shapes.get(kind)?.safeParse({ kind, ...query });
    return read?.success === false ? JSON.stringify(read.error.issues) : "";
  };
  const series = [{ kind: "EventsNode", event: "a" }];

  test("what has no effect is accepted", () => {
    expect(
      issue("TrendsQuery", {
        series: [{ ...series[0], name: "A", custom_name: "mine", version: 1 }],
        version: 2,
        tags: { scene: "insight" },
        modifiers: { debug: true, personsOnEventsMode: "person_id_override_properties_joined" },
        samplingFactor: null,
        dataColorTheme: 3,
        trendsFilter: { showLegend: true, yAxisScaleType: "log10", goalLines: [{ label: "x", value: 1 }] },
      }),
    ).toBe("");
    expect(
      issue("FunnelsQuery", { series, funnelsFilter: { layout: "horizontal", funnelStepReference: "total" } }),
    ).toBe("");
    expect(issue("LifecycleQuery", { series, lifecycleFilter: { toggledLifecycles: ["new"] } })).toBe("");
  });

  test.each<[string, JsonObject, string]>([
    ["TrendsQuery", { series, colour: 1 }, "colour"],
    ["TrendsQuery", { series, samplingFactor: 1.5 }, "samplingFactor"],
    ["TrendsQuery", { series, conversionGoal: {} }, "conversionGoal"],
    [
      "TrendsQuery",
      { series, modifiers: { personsOnEventsMode: "person_id_no_override_properties_on_events" } },
      "personsOnEventsMode",
    ],
    ["TrendsQuery", { series, modifiers: { convertToProjectTimezone: false } }, "convertToProjectTimezone"],
    ["TrendsQuery", { series: [{ kind: "DataWarehouseNode", table_name: "x" }] }, "kind"],
    ["TrendsQuery", { series: [{ ...series[0], math_hogql: "count()" }] }, "math_hogql"],
    ["TrendsQuery", { series, interval: "year" }, "interval"],
    ["TrendsQuery", { series, breakdownFilter: { breakdown_path_cleaning: true } }, "breakdown_path_cleaning"],
    ["FunnelsQuery", { series, funnelsFilter: { funnelVizType: "flow" } }, "funnelVizType"],
    ["FunnelsQuery", { series, compareFilter: { compare: true } }, "compareFilter"],
    ["StickinessQuery", { series, intervalCount: 2 }, "intervalCount"],
    ["LifecycleQuery", {}, "series"],
  ])("%s %j is refused by name", (kind, query, name) => {
    expect(issue(kind, query)).toContain(name);
  });
});
