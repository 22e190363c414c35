import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { funnelsKind } from "../../../../src/service/query/insights/funnels.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind, type Stage } from "./stage.ts";

const step = (event: string, more: JsonObject = {}): JsonObject => ({ kind: "EventsNode", event, ...more });
const series = [step("sign up"), step("play"), step("pay")];

/** Minutes after noon of the 10th. */
const at = (minutes: number): string => new Date(Date.UTC(2020, 0, 10, 12) + minutes * 60_000).toISOString();
const story = (id: string, ...events: [event: string, minutes: number, properties?: JsonObject][]): TableEvent[] =>
  events.map(([event, minutes, properties]) => ({ id, event, at: at(minutes), ...(properties && { properties }) }));

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

describe("windows and ties", () => {
  test("the window runs from the first step to the last", async () => {
    const events = story("a", ["sign up", 0], ["play", 50], ["pay", 70]);
    const within = (minutes: number) =>
      run({ funnelsFilter: { funnelWindowInterval: minutes, funnelWindowIntervalUnit: "minute" } }, events).then(
        counts,
      );
    expect(await within(70)).toEqual([1, 1, 1]);
    expect(await within(69)).toEqual([1, 1, 0]);
    expect(await within(49)).toEqual([1, 0, 0]);
  });

  test("a later start can succeed where the first one is too old", async () => {
    const events = story("a", ["sign up", 0], ["sign up", 100], ["play", 110], ["pay", 120]);
    const funnelsFilter = { funnelWindowInterval: 30, funnelWindowIntervalUnit: "minute" };
    expect(counts(await run({ funnelsFilter }, events))).toEqual([1, 1, 1]);
  });

  test("events of the same time come in the order of the steps", async () => {
    expect(counts(await run({}, story("a", ["pay", 5], ["play", 5], ["sign up", 5])))).toEqual([1, 1, 1]);
  });

  test("one event is not two steps, even if it could be either", async () => {
    const twice = { series: [step("play"), step("play")] };
    expect(counts(await run(twice, story("a", ["play", 0])))).toEqual([1, 0]);
    expect(counts(await run(twice, story("a", ["play", 0], ["play", 1])))).toEqual([1, 1]);
    const unordered = { ...twice, funnelsFilter: { funnelOrderType: "unordered" } };
    expect(counts(await run(unordered, story("a", ["play", 0])))).toEqual([1, 0]);
    expect(counts(await run(unordered, story("a", ["play", 0], ["play", 1])))).toEqual([1, 1]);
  });

  test("a conversion in no time is no part of the averages", async () => {
    const events = [...story("a", ["sign up", 0], ["play", 0]), ...story("b", ["sign up", 0], ["play", 1])];
    const results = await run({ series: series.slice(0, 2) }, events);
    expect(results[1]).toMatchObject({ count: 2, average_conversion_time: 60 });
  });

  test("a step takes its first event; unordered, those that are the closest", async () => {
    const events = story("a", ["sign up", 0], ["play", 10], ["play", 20], ["pay", 40]);
    const [, play, pay] = await run({}, events);
    expect([play?.average_conversion_time, pay?.average_conversion_time]).toEqual([600, 1800]);
    // The event in the middle of three of a kind is left out, as the service does it.
    const repeated = story("a", ["play", 0], ["play", 8], ["play", 16], ["pay", 17]);
    const results = await run(
      {
        series: [step("pay"), step("play")],
        funnelsFilter: { funnelOrderType: "unordered", funnelWindowInterval: 10, funnelWindowIntervalUnit: "minute" },
      },
      repeated,
    );
    expect(results[1]).toMatchObject({ count: 1, average_conversion_time: 60 });
  });

  test("events outside the range, and none at all", async () => {
    expect(await run({ dateRange: { date_from: "2020-01-11" } }, three)).toEqual([]);
    expect(await run({ dateRange: { date_from: "2020-01-01", date_to: "2020-01-09" } }, three)).toEqual([]);
  });
});

describe("exclusions", () => {
  const without = (from: number, to: number) => ({
    funnelsFilter: { exclusions: [{ kind: "EventsNode", event: "refund", funnelFromStep: from, funnelToStep: to }] },
  });

  test("an actor with the event between the steps is left out", async () => {
    const events = [
      ...story("a", ["sign up", 0], ["refund", 5], ["play", 10], ["pay", 20]),
      ...story("b", ["sign up", 0], ["play", 10], ["refund", 15], ["pay", 20]),
      ...story("c", ["refund", 0], ["sign up", 1], ["play", 10], ["pay", 20], ["refund", 30]),
    ];
    expect(counts(await run(without(0, 1), events))).toEqual([2, 2, 2]);
    expect(counts(await run(without(1, 2), events))).toEqual([2, 2, 2]);
    expect(counts(await run(without(0, 2), events))).toEqual([1, 1, 1]);
  });

  test("a new start makes up for it", async () => {
    const events = story("a", ["sign up", 0], ["refund", 5], ["sign up", 6], ["play", 10], ["pay", 20]);
    expect(counts(await run(without(0, 1), events))).toEqual([1, 1, 1]);
  });

  test("unordered: everything starts again", async () => {
    const events = story("a", ["pay", 0], ["refund", 5], ["sign up", 6], ["play", 10]);
    const funnelsFilter = { ...without(0, 2).funnelsFilter, funnelOrderType: "unordered" };
    expect(counts(await run({ funnelsFilter }, events))).toEqual([1, 1, 0]);
  });

  test.each([
    [0, 0, "End of range should be greater than start"],
    [2, 3, "Start of range is greater than number of steps"],
    [1, 3, "End of range is greater than number of steps"],
  ])("from step %i to %i is refused", async (from, to, message) => {
    await expect(run(without(from, to), three)).rejects.toThrow(message);
  });

  test("a step of the funnel cannot be excluded; parts of an unordered one neither", async () => {
    const exclusions = [{ kind: "EventsNode", event: "play", funnelFromStep: 0, funnelToStep: 1 }];
    await expect(run({ funnelsFilter: { exclusions } }, three)).rejects.toThrow("part of funnel steps");
    const funnelsFilter = { ...without(0, 1).funnelsFilter, funnelOrderType: "unordered" };
    await expect(run({ funnelsFilter }, three)).rejects.toThrow("Partial Exclusions not allowed");
  });
});

describe("optional steps", () => {
  const optional = { series: [step("sign up"), step("play", { optionalInFunnel: true }), step("pay")] };

  test("may be left out, and count where they are done", async () => {
    const events = [
      ...story("a", ["sign up", 0], ["play", 10], ["pay", 20]),
      ...story("b", ["sign up", 0], ["pay", 20]),
      ...story("c", ["sign up", 0]),
    ];
    const results = await run(optional, events);
    expect(counts(results)).toEqual([3, 1, 2]);
  });

  test("not everywhere", async () => {
    await expect(run({ ...optional, funnelsFilter: { funnelOrderType: "unordered" } }, three)).rejects.toThrow(
      "Optional funnel steps",
    );
    const first = { series: [step("a", { optionalInFunnel: true }), step("b")] };
    await expect(run(first, three)).rejects.toThrow("The first step of a funnel cannot be optional.");
    const same = { series: [step("a"), step("b", { optionalInFunnel: true }), step("b")] };
    await expect(run(same, three)).rejects.toThrow("cannot be the same as the following required step");
  });
});

describe("breakdowns", () => {
  const by = (attribution: string, more: JsonObject = {}) => ({
    breakdownFilter: { breakdown: "browser", breakdown_type: "event" },
    funnelsFilter: { breakdownAttributionType: attribution, ...more },
    series: series.slice(0, 2),
  });
  const changes = [
    ...story("a", ["sign up", 0, { browser: "Chrome" }], ["play", 1, { browser: "Safari" }]),
    ...story("b", ["sign up", 0], ["play", 1, { browser: "Safari" }]),
    ...story("c", ["sign up", 0, { browser: "Chrome" }]),
  ];
  const shown = (results: Step[][]) => results.map((steps) => [steps[0]?.breakdown_value, ...counts(steps)]);

  test.each<[string, JsonObject, unknown[][]]>([
    [
      "first_touch",
      {},
      [
        [["Chrome"], 2, 1],
        [["Safari"], 1, 1],
      ],
    ],
    [
      "last_touch",
      {},
      [
        [["Safari"], 2, 2],
        [["Chrome"], 1, 0],
      ],
    ],
    // Only events of the value count: no actor signs up and plays with the same one.
    [
      "all_events",
      {},
      [
        [["Chrome"], 2, 0],
        [[""], 1, 0],
      ],
    ],
    [
      "step",
      { breakdownAttributionValue: 0 },
      [
        [["Chrome"], 2, 1],
        [[""], 1, 1],
      ],
    ],
    // An actor that did not get to the step has no value.
    ["step", { breakdownAttributionValue: 1 }, [[["Safari"], 2, 2]]],
  ])("%s %j", async (attribution, more, expected) => {
    expect(shown(await run<Step[][]>(by(attribution, more), changes))).toEqual(expected);
  });

  test("values after the limit are one", async () => {
    const events = ["x", "y", "z"].flatMap((browser, i) =>
      Array.from({ length: 3 - i }, (_, n) =>
        story(`${browser}${n}`, ["sign up", 0, { browser }], ["play", 1, { browser }]),
      ).flat(),
    );
    const query = {
      ...by("first_touch"),
      breakdownFilter: { breakdown: "browser", breakdown_type: "event", breakdown_limit: 1 },
    };
    expect(shown(await run<Step[][]>(query, events))).toEqual([
      [["x"], 3, 3],
      [["Other"], 3, 3],
    ]);
  });

  test("groups and cohorts", async () => {
    const cohort = (id: number) => ({ name: `cohort ${id}`, has: (person: string) => person === "a" });
    const query = { series: series.slice(0, 2), breakdownFilter: { breakdown: [7, "all"], breakdown_type: "cohort" } };
    const results = await run<(Step & { breakdown: string })[][]>(query, changes, { cohort });
    expect(results.map((steps) => [steps[0]?.breakdown, steps[0]?.breakdown_value, ...counts(steps)])).toEqual([
      ["all users", 0, 3, 2],
      ["cohort 7", 7, 1, 1],
    ]);
    const grouped = changes.map((it) => ({ ...it, groups: { 1: it.id === "c" ? "" : "acme" } }));
    const perGroup = { series: series.slice(0, 2), aggregation_group_type_index: 1 };
    expect(counts(await run(perGroup, grouped))).toEqual([1, 1]);
    const byGroup = {
      series: series.slice(0, 2),
      breakdownFilter: { breakdown: "plan", breakdown_type: "group", breakdown_group_type_index: 1 },
    };
    const table = { groupProperties: { 1: { acme: { plan: "pro" } } } };
    expect(shown(await run<Step[][]>(byGroup, grouped, { table }))).toEqual([
      ["pro", 2, 2],
      ["", 1, 0],
    ]);
  });
});

describe("other views", () => {
  test("time to convert", async () => {
    const events = [10, 20, 30, 40].flatMap((minutes, i) =>
      story(`p${i}`, ["sign up", 0], ["play", minutes], ["pay", minutes + 5]),
    );
    const time = (more: JsonObject = {}) =>
      run<JsonObject>({ funnelsFilter: { funnelVizType: "time_to_convert", ...more } }, events);
    // From 900 s to 2700 s in ceil(cbrt(4)) = 2 bins; the last one is for the longest time.
    expect(await time()).toEqual({
      bins: [
        [900, 2],
        [1800, 1],
        [2700, 1],
      ],
      average_conversion_time: 1800,
    });
    expect(await time({ funnelFromStep: 1, funnelToStep: 2 })).toEqual({
      bins: [
        [300, 4],
        [360, 0],
        [420, 0],
      ],
      average_conversion_time: 300,
    });
    expect(await run({ funnelsFilter: { funnelVizType: "time_to_convert" } }, [])).toEqual({
      bins: [
        [0, 0],
        [60, 0],
      ],
      average_conversion_time: null,
    });
  });

  test("conversion by the day of the start", async () => {
    const day = 24 * 60;
    const events = [
      ...story("a", ["sign up", 0], ["play", 1], ["pay", 2]),
      ...story("b", ["sign up", 0], ["sign up", day], ["play", day + 1], ["pay", day + 2]),
      ...story("c", ["sign up", day]),
    ];
    const funnelsFilter = { funnelVizType: "trends", funnelWindowInterval: 12, funnelWindowIntervalUnit: "hour" };
    const dateRange = { date_from: "2020-01-10", date_to: "2020-01-12" };
    expect(await run({ dateRange, funnelsFilter }, events)).toEqual([
      {
        count: 3,
        data: [50, 50, 0],
        days: ["2020-01-10", "2020-01-11", "2020-01-12"],
        labels: ["10-Jan-2020", "11-Jan-2020", "12-Jan-2020"],
      },
    ]);
    const thirds = [...events, ...story("d", ["sign up", 0], ["play", 1])];
    const toPlay = { ...funnelsFilter, funnelToStep: 1 };
    expect(await run({ dateRange, funnelsFilter: toPlay }, thirds)).toMatchObject([{ data: [66.67, 50, 0] }]);
    const unordered = { ...funnelsFilter, funnelOrderType: "unordered" };
    expect(await run({ dateRange, funnelsFilter: unordered }, events)).toMatchObject([{ data: [50, 50, 0] }]);
  });

  test("exclusions and strict order by the day of the start", async () => {
    const day = 24 * 60;
    const events = [
      ...story("a", ["sign up", 0], ["refund", 1], ["play", 2], ["pay", 3]),
      ...story("b", ["sign up", 0], ["play", 1], ["pay", 2]),
      ...story("c", ["sign up", day], ["refund", day + 1]),
      ...story("d", ["sign up", day], ["look", day + 1], ["play", day + 2], ["pay", day + 3]),
    ];
    const dateRange = { date_from: "2020-01-10", date_to: "2020-01-11" };
    const exclusions = [{ kind: "EventsNode", event: "refund", funnelFromStep: 0, funnelToStep: 1 }];
    const trend = (more: JsonObject) =>
      run<{ data: number[] }[]>({ dateRange, funnelsFilter: { funnelVizType: "trends", ...more } }, events);
    expect(await trend({})).toMatchObject([{ data: [100, 50] }]);
    expect(await trend({ exclusions })).toMatchObject([{ data: [100, 100] }]);
    expect(await trend({ funnelOrderType: "strict" })).toMatchObject([{ data: [50, 0] }]);
    const all = [{ ...exclusions[0], funnelToStep: 2 }];
    expect(await trend({ funnelOrderType: "unordered", exclusions: all })).toMatchObject([{ data: [50, 100] }]);
  });

  test("conversion by day and value of a property", async () => {
    const events = [
      ...story("a", ["sign up", 0, { browser: "Chrome" }], ["play", 1], ["pay", 2]),
      ...story("b", ["sign up", 0, { browser: "Chrome" }]),
      ...story("c", ["sign up", 0, { browser: "Safari" }]),
    ];
    const query = {
      dateRange: { date_from: "2020-01-10", date_to: "2020-01-10" },
      breakdownFilter: { breakdown: "browser", breakdown_type: "event" },
      funnelsFilter: { funnelVizType: "trends" },
    };
    expect(await run(query, events)).toMatchObject([
      { data: [50], breakdown_value: ["Chrome"] },
      { data: [0], breakdown_value: ["Safari"] },
    ]);
  });

  test.each<[JsonObject, string]>([
    [{ series: [step("a")] }, "Funnels require at least two steps."],
    [{ funnelsFilter: { funnelFromStep: 2 } }, "funnelFromStep is out of bounds. It must be between 0 and 1."],
    [{ funnelsFilter: { funnelToStep: 3 } }, "funnelToStep is out of bounds. It must be between 1 and 2."],
    [{ funnelsFilter: { funnelFromStep: 1, funnelToStep: 1 } }, "funnelToStep should be greater"],
    [{ series: [step("a", { math: "weekly_active" }), step("b")] }, 'The math "weekly_active"'],
    [{ funnelsFilter: { funnelAggregateByHogQL: "lower(" } }, "Syntax error"],
    [{ series: [{ kind: "ActionsNode", id: 3 }, step("b")] }, "Action ID 3 does not exist!"],
    [{ breakdownFilter: { breakdowns: [{ property: "a", type: "event" }] } }, "`breakdowns` in a funnel"],
  ])("%j is refused", async (query, message) => {
    await expect(run(query, three)).rejects.toThrow(message);
  });

  test("actors may be sessions", async () => {
    const events = [
      ...story("a", ["sign up", 0, { $session_id: "s1" }], ["play", 1, { $session_id: "s2" }]),
      ...story("b", ["sign up", 0, { $session_id: "s3" }], ["play", 1, { $session_id: "s3" }]),
    ];
    const funnelsFilter = { funnelAggregateByHogQL: "properties.$session_id" };
    expect(counts(await run({ series: series.slice(0, 2), funnelsFilter }, events))).toEqual([2, 1]);
  });
});
