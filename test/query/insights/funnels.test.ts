import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { funnelsKind } from "../../../src/query/insights/funnels.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind, type Stage } from "./stage.ts";

const step = (event: string, more: JsonObject = {}): JsonObject => ({ kind: "EventsNode", event, ...more });
const series = [step("sign up"), step("play"), step("pay")];

/** Minutes after noon of the 10th. */
const at = (minutes: number): string => new Date(Date.UTC(2020, 0, 10, 12) + minutes * 60_000).toISOString();
const story = (
  id: string,
  ...events: [event: string, minutes: number, properties?: JsonObject][]
): TableEvent[] =>
  events.map(([event, minutes, properties]) => ({
    id,
    event,
    at: at(minutes),
    ...(properties && { properties }),
  }));

interface Step {
  name: string;
  count: number;
  average_conversion_time: number | null;
  median_conversion_time: number | null;
  breakdown_value?: unknown;
}

async function run<T = Step[]>(
  query: JsonObject,
  events: readonly TableEvent[],
  stage: Partial<Stage> = {},
): Promise<T> {
  const all = { dateRange: { date_from: "2020-01-01" }, series, ...query };
  const { results } = await runKind(funnelsKind, all, { events, ...stage });
  return results as T;
}

const counts = (steps: readonly Step[]): number[] => steps.map(({ count }) => count);

const three = [
  ...story("a", ["sign up", 0], ["play", 10], ["pay", 40]),
  ...story("b", ["sign up", 0], ["play", 20]),
  ...story("c", ["play", 0], ["sign up", 5], ["pay", 10]),
];

describe("funnels", () => {
  test("steps in order, with the times between them", async () => {
    const results = await run({}, three);
    expect(results).toEqual([
      {
        action_id: "sign up",
        name: "sign up",
        custom_name: null,
        order: 0,
        people: [],
        count: 3,
        type: "events",
        average_conversion_time: null,
        median_conversion_time: null,
      },
      {
        action_id: "play",
        name: "play",
        custom_name: null,
        order: 1,
        people: [],
        count: 2,
        type: "events",
        average_conversion_time: 900,
        median_conversion_time: 900,
      },
      {
        action_id: "pay",
        name: "pay",
        custom_name: null,
        order: 2,
        people: [],
        count: 1,
        type: "events",
        average_conversion_time: 1800,
        median_conversion_time: 1800,
      },
    ]);
  });

  test("in any order", async () => {
    const results = await run({ funnelsFilter: { funnelOrderType: "unordered" } }, three);
    expect(results.map(({ name, count }) => [name, count])).toEqual([
      ["Completed 1 step", 3],
      ["Completed 2 steps", 3],
      ["Completed 3 steps", 2],
    ]);
  });

  test("strict: nothing else in between", async () => {
    const events = [
      ...story("a", ["sign up", 0], ["play", 1], ["pay", 2]),
      ...story("b", ["sign up", 0], ["look", 1], ["play", 2], ["pay", 3]),
    ];
    expect(counts(await run({ funnelsFilter: { funnelOrderType: "strict" } }, events))).toEqual([2, 1, 1]);
    expect(counts(await run({}, events))).toEqual([2, 2, 2]);
  });
});
