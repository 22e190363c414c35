import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { dayText, formatOf, isUnfinished } from "../../../ui/parts/insight/periods.ts";
import { type DataTable, isEmpty, pictureOf, tableOf } from "../../../ui/parts/insight/picture.ts";
import { boundsOf, labelled, ticksOf } from "../../../ui/parts/insight/plot.tsx";
import { lookOf, wordsOf } from "../../../ui/parts/insight/words.ts";
import { type AnswerName, answerOf, answers, setting } from "./answers.ts";

const pictureNamed = (name: AnswerName) => pictureOf(answerOf(name).query, answerOf(name), setting);

describe("what is drawn for a result, and its numbers as a table", () => {
  const expected: Record<AnswerName, [kind: string, table: DataTable]> = {
    line: [
      "plot",
      {
        columns: ["", "order_completed"],
        rows: [
          ["2026-11-20", "3"],
          ["2026-11-21", "0"],
          ["2026-11-22 (not over)", "2"],
        ],
      },
    ],
    compared: [
      "plot",
      {
        columns: ["", "order_completed", "order_completed, the period before"],
        rows: [
          ["2026-11-20", "3", "1"],
          ["2026-11-21", "0", "1"],
          ["2026-11-22 (not over)", "2", "2"],
        ],
      },
    ],
    brokenDown: [
      "plot",
      {
        columns: ["", "pro", "None"],
        rows: [
          ["2026-11-20", "3", "1"],
          ["2026-11-21", "0", "0"],
          ["2026-11-22 (not over)", "2", "0"],
        ],
      },
    ],
    area: [
      "plot",
      {
        columns: ["", "a", "b"],
        rows: [
          ["2026-11-20", "1", "1"],
          ["2026-11-21", "2", "1"],
          ["2026-11-22 (not over)", "3", "1"],
        ],
      },
    ],
    number: [
      "figure",
      {
        columns: ["", "Value"],
        rows: [
          ["order_completed", "431"],
          ["The period before", "339"],
        ],
      },
    ],
    ranking: [
      "ranking",
      {
        columns: ["", "Value"],
        rows: [
          ["Monstera", "9,206"],
          ["Ficus", "6,144"],
        ],
      },
    ],
    pie: ["ranking", { columns: ["", "Value"], rows: [["Monstera", "1"]] }],
    table: ["ranking", { columns: ["", "Value"], rows: [["order_completed", "5"]] }],
    steps: [
      "funnel",
      {
        columns: ["Step", "Count", "Of the step before", "Of the first", "Median time"],
        rows: [
          ["1. basket_opened", "4", "", "100 %", ""],
          ["2. order_completed", "1", "25 %", "25 %", "7 min"],
        ],
      },
    ],
    stepsBrokenDown: [
      "funnel",
      {
        columns: ["Step", "Count", "Of the step before", "Of the first", "Median time"],
        rows: [
          ["pro: 1. basket_opened", "4", "", "100 %", ""],
          ["pro: 2. order_completed", "1", "25 %", "25 %", "–"],
          ["free: 1. basket_opened", "2", "", "100 %", ""],
          ["free: 2. order_completed", "2", "100 %", "100 %", "–"],
        ],
      },
    ],
    timeToConvert: [
      "plot",
      {
        columns: ["", "persons"],
        rows: [
          ["from 1 min", "2"],
          ["from 2 min", "1"],
        ],
      },
    ],
    conversion: [
      "plot",
      {
        columns: ["", "conversion"],
        rows: [
          ["2026-11-20", "0 %"],
          ["2026-11-21", "50 %"],
          ["2026-11-22 (not over)", "100 %"],
        ],
      },
    ],
    retention: [
      "retention",
      {
        columns: ["", "Persons", "Day 0", "Day 1", "Day 2"],
        rows: [
          ["20 Nov", "10", "10", "4", "2 (not over)"],
          ["21 Nov", "5", "5", "1 (not over)", ""],
        ],
      },
    ],
    lifecycle: [
      "plot",
      {
        columns: ["", "new", "dormant"],
        rows: [
          ["2026-11-20", "3", "0"],
          ["2026-11-21", "1", "-2"],
          ["2026-11-22 (not over)", "0", "-1"],
        ],
      },
    ],
    stickiness: [
      "plot",
      {
        columns: ["", "$pageview"],
        rows: [
          ["1 day", "2"],
          ["2 days", "1"],
        ],
      },
    ],
    hogql: [
      "rows",
      {
        columns: ["event", "count()"],
        rows: [
          ["$pageview", "12"],
          ["order_completed", "3"],
        ],
      },
    ],
    hogqlLine: [
      "plot",
      {
        columns: ["", "n"],
        rows: [
          ["2026-11-20", "1"],
          ["2026-11-21", "4"],
        ],
      },
    ],
  };

  test.each(Object.keys(answers) as AnswerName[])("%s", (name) => {
    const picture = pictureNamed(name);
    expect(isEmpty(picture)).toBe(false);
    expect([picture.kind, tableOf(picture)]).toEqual(expected[name]);
  });

  test.each<[string, Json]>([
    ["no results", []],
    ["no result", null],
    ["a result of another form", { unknown: [1] }],
    ["a text", "x"],
  ])("%s of each kind are drawn without an error", (_, results) => {
    for (const { query } of Object.values(answers)) tableOf(pictureOf(query, { results }, setting));
    expect(isEmpty(pictureOf({ kind: "TrendsQuery" }, { results: [] }, setting))).toBe(true);
  });
});

describe("periods that are not over", () => {
  test.each([
    ["2026-11-22", "day", true],
    ["2026-11-21", "day", false],
    ["2026-11-22 11:00:00", "hour", false],
    ["2026-11-22 12:00:00", "hour", true],
    ["2026-11-16", "week", true],
    ["2026-11-15", "week", false],
    ["2026-11-01", "month", true],
    ["2026-10-01", "month", false],
  ])("%s by %s: %s", (day, interval, expected) => expect(isUnfinished(day, interval, setting)).toBe(expected));

  test.each([
    ["2026-11-09", "day", "9 Nov"],
    ["2026-11-09 14:00:00", "hour", "14:00"],
    ["2026-11-01", "month", "Nov 2026"],
    ["none", "day", "none"],
  ])("%s by %s is written %s", (day, interval, text) => expect(dayText(day, interval)).toBe(text));
});

test.each([
  [{}, 1234.567, "1,234.57"],
  [{ decimalPlaces: 0 }, 1234.567, "1,235"],
  [{ aggregationAxisFormat: "percentage_scaled" }, 0.271, "27.1 %"],
  [{ aggregationAxisFormat: "duration" }, 400, "7 min"],
  [{ aggregationAxisPostfix: " EUR" }, 42.5, "42.5 EUR"],
])("the number look %j of %d is %s", (look, value, text) => expect(formatOf(look)(value)).toBe(text));

test.each([
  [0, 50, [0, 25, 50]],
  [0, 1, [0, 0.5, 1]],
  [0, 7, [0, 5, 10]],
  [-2, 3, [-2.5, 0, 2.5, 5]],
  [0, 0, [0, 1]],
  [0, Number.POSITIVE_INFINITY, [0, 1]],
])("lines of the axis from %d to %d", (low, high, ticks) => expect(ticksOf(low, high)).toEqual(ticks));

test("stacked values are above and below 0, those of the period before are not stacked", () => {
  const one = (values: (number | null)[], isBefore = false) => ({ name: "", values, total: undefined, isBefore });
  const series = [one([1, -1]), one([2, -3]), one([null, 4]), one([5, 5], true)];
  expect(boundsOf({ series, isStacked: true })).toEqual([
    [
      [0, 1],
      [0, -1],
    ],
    [
      [1, 3],
      [-1, -4],
    ],
    [undefined, [0, 4]],
    [
      [0, 5],
      [0, 5],
    ],
  ]);
});

test.each([
  [3, "9 Nov", [0, 1, 2]],
  [14, "9 Nov", [0, 3, 6, 9, 12]],
  [14, "2026-11-09", [0, 4, 8, 12]],
  [14, "a name of forty characters and even more", [0, 7]],
  [0, "", []],
])("of %i labels like %j, these are written: %j", (count, short, indexes) =>
  expect(labelled(Array.from({ length: count }, () => ({ short })))).toEqual(indexes),
);

describe("a query in words", () => {
  test.each<[AnswerName, string, string]>([
    ["line", "TrendsQuery · order_completed · per day · last 7 days", "line"],
    ["brokenDown", "TrendsQuery · order_completed · by plan · per day · last 7 days", "bar"],
    ["ranking", "TrendsQuery · order_completed · by product · last 7 days", "bar"],
    ["steps", "FunnelsQuery · basket_opened → order_completed · within 14 days · last 7 days", "funnel"],
    ["retention", "RetentionQuery · $pageview and again", "retention, by day"],
    ["hogql", "HogQLQuery · select event, count() from events group by event", "table"],
  ])("%s", (name, words, look) => {
    expect([wordsOf(answerOf(name).query), lookOf(answerOf(name).query)]).toEqual([words, look]);
  });

  test("maths, filters and ranges", () => {
    const query = {
      kind: "TrendsQuery",
      series: [{ event: "order", math: "sum", math_property: "amount" }],
      interval: "week",
      dateRange: { date_from: "-90d", date_to: "2026-11-09" },
      properties: {
        type: "AND",
        values: [{ type: "AND", values: [{ key: "plan", operator: "exact", value: ["pro", "team"] }] }],
      },
    };
    expect(wordsOf(query)).toBe(
      "TrendsQuery · order sum of amount · where plan = pro or team · per week · last 90 days to 2026-11-09",
    );
    expect(wordsOf(null)).toBe("no query");
    expect(wordsOf({ kind: "TrendsQuery", series: [{ event: "\u202e" }] })).not.toContain("\u202e");
  });
});
