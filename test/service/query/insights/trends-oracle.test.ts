import fc from "fast-check";
import { expect, test } from "vitest";
import type { TrendsResult } from "../../../../src/service/query/insights/trends.ts";
import { trendsKind } from "../../../../src/service/query/insights/trends.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind } from "./stage.ts";

/** Trends computed from their definition, event by event, with dates from Intl alone. */

const timeZone = "America/Sao_Paulo";
const now = Date.parse("2018-11-10T12:00:00Z");
/** The clocks go forward at midnight of 4 November 2018: that day has no 00:00. */
const first = Date.parse("2018-10-30T00:00:00Z");

const dayFormat = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
const dayOf = ({ at }: TableEvent): string => dayFormat.format(Date.parse(at));
const days = Array.from({ length: 11 }, (_, i) => new Date(Date.UTC(2018, 9, 30 + i)).toISOString().slice(0, 10));
const dayNumber = (day: string): number => Date.parse(day) / 86_400_000;

const anEvent = fc.record({
  event: fc.constantFrom("a", "b"),
  id: fc.constantFrom("p1", "p2", "p3", "p4"),
  at: fc
    .integer({ min: -8 * 24 * 60, max: 13 * 24 * 60 })
    .map((minutes) => new Date(first + minutes * 60_000).toISOString()),
  properties: fc.record(
    { n: fc.integer({ min: 0, max: 9 }), kind: fc.constantFrom("x", "y", "") },
    { requiredKeys: ["n"] },
  ),
}) satisfies fc.Arbitrary<TableEvent>;

const distinct = (events: readonly TableEvent[]): number => new Set(events.map(({ id }) => id)).size;
const numbers = (events: readonly TableEvent[]): number[] => events.map((it) => Number(it.properties?.n));
const total = (list: readonly number[]): number => list.reduce((sum, it) => sum + it, 0);

/** By math: the number of one day. */
const definitions: Record<string, (today: TableEvent[], all: TableEvent[], day: string) => number> = {
  total: (today) => today.length,
  dau: distinct,
  sum: (today) => total(numbers(today)),
  max: (today) => Math.max(0, ...numbers(today)),
  avg: (today) => (today.length === 0 ? 0 : total(numbers(today)) / today.length),
  avg_count_per_actor: (today) => (today.length === 0 ? 0 : today.length / distinct(today)),
  weekly_active: (_, all, day) =>
    distinct(all.filter((it) => dayNumber(dayOf(it)) <= dayNumber(day) && dayNumber(dayOf(it)) > dayNumber(day) - 7)),
  first_time_for_user: (today, all) =>
    distinct(today.filter((it) => !all.some((other) => other.id === it.id && other.at < it.at))),
};

test("trends are what their definition says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anEvent, { maxLength: 60 }), async (events) => {
      const maths = Object.keys(definitions);
      const series = maths.map((math) => ({ kind: "EventsNode", event: "a", math, math_property: "n" }));
      const query = { dateRange: { date_from: "2018-10-30", date_to: "2018-11-09" }, series };
      const { results } = await runKind(trendsKind, query, { events, timeZone, now });
      const own = events.filter(({ event }) => event === "a");
      for (const [i, math] of maths.entries()) {
        const expected = days.map(
          (day) =>
            definitions[math]?.(
              own.filter((it) => dayOf(it) === day),
              own,
              day,
            ) ?? 0,
        );
        const { data, days: shown } = (results as TrendsResult[])[i] ?? {};
        expect({ math, data, shown }).toEqual({ math, data: expected, shown: days });
      }
    }),
    { numRuns: 60 },
  );
});

test("the values of a breakdown add up to the whole", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anEvent, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (events, limit) => {
      const query = {
        dateRange: { date_from: "2018-10-30", date_to: "2018-11-09" },
        series: [{ kind: "EventsNode", event: null }],
        breakdownFilter: { breakdown: "kind", breakdown_type: "event", breakdown_limit: limit },
      };
      const { results } = (await runKind(trendsKind, query, { events, timeZone, now })) as { results: TrendsResult[] };
      const inRange = events.filter((it) => days.includes(dayOf(it)));
      expect(total(results.map(({ count }) => count))).toBe(inRange.length);
      const x = results.find((it) => it.breakdown_value === "x");
      if (x) expect(x.count).toBe(inRange.filter((it) => it.properties?.kind === "x").length);
      expect(results.length).toBeLessThanOrEqual(limit + 1);
    }),
    { numRuns: 40 },
  );
});
