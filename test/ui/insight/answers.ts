import type { Json } from "../../../src/kernel/base/json.ts";
import type { Answer } from "../../../ui/parts/insight/picture.ts";

/** The time of the results below: noon of 22 November 2026 in Berlin. */
export const setting = { now: Date.parse("2026-11-22T11:00:00Z"), timeZone: "Europe/Berlin" };

const days = ["2026-11-20", "2026-11-21", "2026-11-22"];
const labels = ["20-Nov-2026", "21-Nov-2026", "22-Nov-2026"];

const action = (name: string, more: { [key: string]: Json } = {}) => ({
  id: name,
  type: "events",
  order: 0,
  name,
  custom_name: null,
  math: "total",
  ...more,
});

const trend = (name: string, data: number[], more: { [key: string]: Json } = {}): Json => ({
  action: action(name),
  label: name,
  count: data.reduce((sum, it) => sum + it, 0),
  data,
  labels,
  days,
  ...more,
});

const series = (...events: string[]): Json => events.map((event) => ({ kind: "EventsNode", event, name: event }));

const trends = (more: { [key: string]: Json }, display?: string): Json => ({
  kind: "InsightVizNode",
  source: {
    kind: "TrendsQuery",
    series: series("order_completed"),
    interval: "day",
    ...more,
    ...(display !== undefined && { trendsFilter: { display } }),
  },
});

const step = (name: string, order: number, count: number, median: number | null = null): Json => ({
  action_id: name,
  name,
  custom_name: null,
  order,
  people: [],
  count,
  type: "events",
  average_conversion_time: median,
  median_conversion_time: median,
});

const funnel = (funnelsFilter: { [key: string]: Json } = {}): Json => ({
  kind: "InsightVizNode",
  source: { kind: "FunnelsQuery", series: series("basket_opened", "order_completed"), funnelsFilter },
});

const hogql = (query: string, more: { [key: string]: Json } = {}): Json => ({
  kind: "DataVisualizationNode",
  source: { kind: "HogQLQuery", query },
  ...more,
});

/** Queries with results in the service's form. */
export const answers = {
  line: { query: trends({}, "ActionsLineGraph"), results: [trend("order_completed", [3, 0, 2])] },
  compared: {
    query: trends({ compareFilter: { compare: true } }),
    results: [
      trend("order_completed", [3, 0, 2], { compare: true, compare_label: "current" }),
      trend("order_completed", [1, 1, 2], {
        compare: true,
        compare_label: "previous",
        days: ["2026-11-17", "2026-11-18", "2026-11-19"],
      }),
    ],
  },
  brokenDown: {
    query: trends({ breakdownFilter: { breakdown: "plan", breakdown_type: "event" } }, "ActionsBar"),
    results: [
      trend("pro", [3, 0, 2], { action: action("order_completed"), breakdown_value: "pro" }),
      trend("$$_posthog_breakdown_null_$$", [1, 0, 0], {
        action: action("order_completed"),
        breakdown_value: "$$_posthog_breakdown_null_$$",
      }),
    ],
  },
  area: {
    query: trends({ series: series("a", "b") }, "ActionsAreaGraph"),
    results: [trend("a", [1, 2, 3]), trend("b", [1, 1, 1])],
  },
  number: {
    query: trends({ compareFilter: { compare: true } }, "BoldNumber"),
    results: [
      {
        action: action("order_completed"),
        label: "order_completed",
        count: 0,
        data: [],
        aggregated_value: 431,
        compare_label: "current",
      },
      {
        action: action("order_completed"),
        label: "order_completed",
        count: 0,
        data: [],
        aggregated_value: 339,
        compare_label: "previous",
      },
    ],
  },
  ranking: {
    query: trends({ breakdownFilter: { breakdown: "product" } }, "ActionsBarValue"),
    results: [
      { action: action("order_completed"), label: "Monstera", breakdown_value: "Monstera", aggregated_value: 9206 },
      { action: action("order_completed"), label: "Ficus", breakdown_value: "Ficus", aggregated_value: 6144 },
    ],
  },
  pie: {
    query: trends({ breakdownFilter: { breakdown: "product" } }, "ActionsPie"),
    results: [
      { action: action("order_completed"), label: "Monstera", breakdown_value: "Monstera", aggregated_value: 1 },
    ],
  },
  table: {
    query: trends({}, "ActionsTable"),
    results: [{ action: action("order_completed"), label: "order_completed", aggregated_value: 5 }],
  },
  steps: { query: funnel(), results: [step("basket_opened", 0, 4), step("order_completed", 1, 1, 400)] },
  stepsBrokenDown: {
    query: funnel(),
    results: [
      [
        { ...(step("basket_opened", 0, 4) as object), breakdown_value: ["pro"] },
        { ...(step("order_completed", 1, 1) as object), breakdown_value: ["pro"] },
      ],
      [
        { ...(step("basket_opened", 0, 2) as object), breakdown_value: ["free"] },
        { ...(step("order_completed", 1, 2) as object), breakdown_value: ["free"] },
      ],
    ] as Json,
  },
  timeToConvert: {
    query: funnel({ funnelVizType: "time_to_convert" }),
    results: {
      bins: [
        [60, 2],
        [120, 1],
      ],
      average_conversion_time: 80,
    },
  },
  conversion: { query: funnel({ funnelVizType: "trends" }), results: [{ count: 3, data: [0, 50, 100], days, labels }] },
  retention: {
    query: {
      kind: "InsightVizNode",
      source: { kind: "RetentionQuery", retentionFilter: { period: "Day", totalIntervals: 3 } },
    },
    results: [
      {
        date: "2026-11-20T00:00:00+01:00",
        label: "Day 0",
        values: [
          { count: 10, label: "Day 0" },
          { count: 4, label: "Day 1" },
          { count: 2, label: "Day 2" },
        ],
      },
      {
        date: "2026-11-21T00:00:00+01:00",
        label: "Day 1",
        values: [
          { count: 5, label: "Day 0" },
          { count: 1, label: "Day 1" },
          { count: 0, label: "Day 2" },
        ],
      },
    ],
  },
  lifecycle: {
    query: { kind: "InsightVizNode", source: { kind: "LifecycleQuery", series: series("$pageview"), interval: "day" } },
    results: [
      trend("$pageview - new", [3, 1, 0], { status: "new" }),
      trend("$pageview - dormant", [0, -2, -1], { status: "dormant" }),
    ],
  },
  stickiness: {
    query: {
      kind: "InsightVizNode",
      source: { kind: "StickinessQuery", series: series("$pageview"), interval: "day" },
    },
    results: [
      {
        action: action("$pageview"),
        label: "$pageview",
        count: 3,
        data: [2, 1],
        days: [1, 2],
        labels: ["1 day", "2 days"],
      },
    ],
  },
  hogql: {
    query: hogql("select event, count() from events group by event"),
    results: [
      ["$pageview", 12],
      ["order_completed", 3],
    ],
    columns: ["event", "count()"],
  },
  hogqlLine: {
    query: hogql("select day, n from t", {
      display: "ActionsLineGraph",
      chartSettings: { xAxis: { column: "day" }, yAxis: [{ column: "n" }] },
    }),
    results: [
      ["2026-11-20", 1],
      ["2026-11-21", 4],
    ],
    columns: ["day", "n"],
  },
} satisfies Record<string, Answer & { query: Json }>;

export type AnswerName = keyof typeof answers;

export const answerOf = (name: AnswerName): Answer & { query: Json } => answers[name];
