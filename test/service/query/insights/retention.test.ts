import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { retentionKind } from "../../../../src/service/query/insights/retention.ts";
import type { TableEvent } from "../table-of.ts";
import { eventsAt, runKind, type Stage } from "./stage.ts";

interface Row {
  values: { count: number; label: string }[];
  label: string;
  date: string;
  breakdown_value: string | null;
}

const days = (...list: number[]) => list.map((day) => new Date(Date.UTC(2020, 0, day, 12)).toISOString());

async function run(
  filter: JsonObject,
  events: readonly TableEvent[],
  more: JsonObject = {},
  stage: Partial<Stage> = {},
) {
  const entity = { id: "$pageview", type: "events" };
  const query = {
    dateRange: { date_from: "2020-01-10", date_to: "2020-01-13" },
    retentionFilter: { period: "Day", totalIntervals: 4, targetEntity: entity, returningEntity: entity, ...filter },
    ...more,
  };
  return (await runKind(retentionKind, query, { events, ...stage })).results as Row[];
}

const counts = (rows: readonly Row[]): number[][] => rows.map(({ values }) => values.map(({ count }) => count));

const visits = [
  ...eventsAt("a", "$pageview", days(10, 11, 13)),
  ...eventsAt("b", "$pageview", days(10)),
  ...eventsAt("c", "$pageview", days(11, 12)),
  ...eventsAt("d", "$pageview", days(5, 11)),
];

describe("retention", () => {
  test("everyone who was there on a day, and came back", async () => {
    const rows = await run({}, visits);
    expect(counts(rows)).toEqual([
      [2, 1, 0, 1],
      [3, 1, 1, 0],
      [1, 0, 0, 0],
      [1, 0, 0, 0],
    ]);
    expect(rows[1]).toMatchObject({ label: "Day 1", date: "2020-01-11T00:00:00Z", breakdown_value: null });
    expect(rows[1]?.values.map(({ label }) => label)).toEqual(["Day 0", "Day 1", "Day 2", "Day 3"]);
  });

  test("by the first time only; who came before the range is not new", async () => {
    expect(counts(await run({ retentionType: "retention_first_time" }, visits))).toEqual([
      [2, 1, 0, 1],
      [1, 1, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test("the first event ever must pass the filters of the start", async () => {
    const targetEntity = { id: "$pageview", type: "events", properties: [{ key: "n", value: 1 }] };
    const events = [
      ...eventsAt("a", "$pageview", days(10), { properties: { n: 0 } }),
      ...eventsAt("a", "$pageview", days(11), { properties: { n: 1 } }),
      ...eventsAt("b", "$pageview", days(11), { properties: { n: 1 } }),
    ];
    const first = (retentionType: string) =>
      run({ retentionType, targetEntity }, events).then((rows) => counts(rows).map(([it]) => it));
    expect(await first("retention_first_time")).toEqual([0, 2, 0, 0]);
    expect(await first("retention_first_ever_occurrence")).toEqual([0, 1, 0, 0]);
  });

  test("cumulative: who comes back later counts before, too", async () => {
    expect(counts(await run({ cumulative: true }, visits))[0]).toEqual([2, 1, 1, 1]);
  });

  test("another event to return, a number of times", async () => {
    const events = [
      ...eventsAt("a", "sign up", days(10)),
      ...eventsAt("b", "sign up", days(10)),
      ...eventsAt("a", "pay", days(10, 11, 11, 12)),
      ...eventsAt("b", "pay", days(11)),
    ];
    const entities = {
      targetEntity: { id: "sign up", type: "events" },
      returningEntity: { id: "pay", type: "events" },
    };
    expect(counts(await run(entities, events))[0]).toEqual([2, 2, 1, 0]);
    expect(counts(await run({ ...entities, minimumOccurrences: 2 }, events))[0]).toEqual([2, 1, 0, 0]);
    expect(counts(await run({ ...entities, returningEntity: { id: null } }, events))[0]).toEqual([2, 2, 1, 0]);
  });

  test("weeks and months are whole; without dates they go back from now", async () => {
    const weeks = await run({ period: "Week", totalIntervals: 2 }, visits, { dateRange: {} }, { weekStart: 1 });
    expect(weeks.map(({ date }) => date)).toEqual(["2020-01-06T00:00:00Z", "2020-01-13T00:00:00Z"]);
    expect(counts(weeks)).toEqual([
      [4, 1],
      [1, 0],
    ]);
    const months = await run({ period: "Month", totalIntervals: 3 }, visits, { dateRange: {} });
    expect(months.map(({ date }) => date)).toEqual([
      "2019-11-01T00:00:00Z",
      "2019-12-01T00:00:00Z",
      "2020-01-01T00:00:00Z",
    ]);
    const hours = await run({ period: "Hour", totalIntervals: 2 }, visits, { dateRange: { date_from: "-2h" } });
    expect(hours.map(({ date }) => date)).toEqual([
      "2020-01-19T13:00:00Z",
      "2020-01-19T14:00:00Z",
      "2020-01-19T15:00:00Z",
    ]);
  });

  test("by the value of a property, and by cohort", async () => {
    const table = { personProperties: { a: { plan: "pro" }, b: { plan: "free" }, c: { plan: "pro" } } };
    const plan = { breakdownFilter: { breakdown: "plan", breakdown_type: "person" } };
    const rows = await run({ totalIntervals: 2 }, visits, plan, { table });
    expect(rows.map(({ breakdown_value, values }) => [breakdown_value, values[0]?.count])).toEqual([
      ...[
        ["pro", 1],
        ["pro", 2],
        ["pro", 1],
        ["pro", 1],
      ],
      ...[
        ["", 0],
        ["", 1],
        ["", 0],
        ["", 0],
      ],
      ...[
        ["free", 1],
        ["free", 0],
        ["free", 0],
        ["free", 0],
      ],
    ]);
    const limited = await run(
      {},
      visits,
      { breakdownFilter: { ...plan.breakdownFilter, breakdown_limit: 1 } },
      { table },
    );
    expect(new Set(limited.map((it) => it.breakdown_value))).toEqual(new Set(["pro", "$$_posthog_breakdown_other_$$"]));
    const cohort = () => ({ name: "x", has: (person: string) => person === "b" });
    const cohorts = await run(
      {},
      visits,
      { breakdownFilter: { breakdown: [3, "all"], breakdown_type: "cohort" } },
      { cohort },
    );
    expect(
      cohorts.filter(({ label }) => label === "Day 0").map((it) => [it.breakdown_value, it.values[0]?.count]),
    ).toEqual([
      ["0", 2],
      ["3", 1],
    ]);
  });

  test("groups instead of persons", async () => {
    const grouped = visits.map((it) => ({ ...it, groups: { 0: it.id === "a" ? "" : "acme" } }));
    expect(counts(await run({}, grouped, { aggregation_group_type_index: 0 }))).toEqual([
      [1, 1, 1, 0],
      [1, 1, 0, 0],
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test.each<[JsonObject, string]>([
    [{ timeWindowMode: "24_hour_windows" }, "timeWindowMode"],
    [{ retentionCustomBrackets: [1, 2] }, "retentionCustomBrackets"],
    [{ aggregationType: "sum" }, "aggregationType"],
    [{ targetEntity: { id: 4, type: "actions" } }, "Action ID 4 does not exist!"],
  ])("%j is refused", async (filter, message) => {
    await expect(run(filter, visits)).rejects.toThrow(message);
  });

  test("is what its definition says", async () => {
    const aVisit = fc.record({ id: fc.constantFrom("a", "b", "c"), day: fc.integer({ min: 6, max: 16 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(aVisit, { maxLength: 25 }), fc.boolean(), async (list, isFirst) => {
        const events = list.flatMap(({ id, day }) => eventsAt(id, "$pageview", days(day)));
        const rows = await run(isFirst ? { retentionType: "retention_first_time" } : {}, events);
        const active = (id: string, day: number) => list.some((it) => it.id === id && it.day === day);
        const isStart = (id: string, day: number) =>
          active(id, day) && !(isFirst && list.some((it) => it.id === id && it.day < day));
        const expected = [10, 11, 12, 13].map((day) =>
          [0, 1, 2, 3].map((offset) => {
            if (day + offset > 13) return 0;
            return ["a", "b", "c"].filter((id) => isStart(id, day) && active(id, day + offset)).length;
          }),
        );
        expect(counts(rows)).toEqual(expected);
      }),
      { numRuns: 80 },
    );
  });
});
