import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { queryOfFilters } from "../../../../src/service/query/insights/legacy-filters.ts";
import { kinds } from "../../../../src/service/query/kinds.ts";

describe("filters of former times", () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      "trends",
      {
        insight: "TRENDS",
        events: [
          {
            id: "$pageview",
            name: "Views",
            order: 1,
            type: "events",
            math: "dau",
            properties: { plan__icontains: "pro" },
          },
          { id: null, order: 2, type: "events" },
        ],
        actions: [{ id: "7", order: 0, type: "actions" }],
        date_from: "-7d",
        interval: "minute",
        display: "ActionsLineGraph",
        breakdown: "$browser",
        breakdown_type: "events",
        compare: true,
        filter_test_accounts: true,
        show_legend: true,
        properties: [{ key: "a", value: "b", type: "event" }],
      },
      {
        kind: "TrendsQuery",
        dateRange: { date_from: "-7d" },
        interval: "hour",
        series: [
          { kind: "ActionsNode", id: 7, properties: [] },
          {
            kind: "EventsNode",
            event: "$pageview",
            name: "Views",
            math: "dau",
            properties: [{ key: "plan", operator: "icontains", value: "pro", type: "event" }],
          },
          { kind: "EventsNode", event: null, properties: [] },
        ],
        filterTestAccounts: true,
        properties: [{ key: "a", value: "b", type: "event" }],
        breakdownFilter: { breakdown: "$browser", breakdown_type: "event" },
        compareFilter: { compare: true },
        trendsFilter: { display: "ActionsLineGraph", showLegend: true },
      },
    ],
    [
      "funnels",
      {
        insight: "FUNNELS",
        events: [
          { id: "a", order: 0, math: "dau" },
          { id: "b", order: 1 },
        ],
        exclusions: [{ id: "x", type: "events", funnel_from_step: 0, funnel_to_step: 1 }],
        funnel_window_interval: 3,
        funnel_window_interval_unit: "hour",
        breakdowns: [{ property: "plan", type: "person" }],
        aggregation_group_type_index: 0,
      },
      {
        kind: "FunnelsQuery",
        series: [
          { kind: "EventsNode", event: "a", properties: [] },
          { kind: "EventsNode", event: "b", properties: [] },
        ],
        properties: [],
        breakdownFilter: { breakdown: "plan", breakdown_type: "person" },
        aggregation_group_type_index: 0,
        funnelsFilter: {
          funnelWindowInterval: 3,
          funnelWindowIntervalUnit: "hour",
          exclusions: [{ kind: "EventsNode", event: "x", funnelFromStep: 0, funnelToStep: 1 }],
        },
      },
    ],
    [
      "retention",
      {
        insight: "RETENTION",
        period: "Week",
        total_intervals: 5,
        target_entity: { id: "$pageview", type: "events", uuid: "x" },
        returning_entity: '{"id": "pay", "type": "events"}',
        interval: "day",
        events: [{ id: "ignored" }],
      },
      {
        kind: "RetentionQuery",
        properties: [],
        retentionFilter: {
          period: "Week",
          totalIntervals: 5,
          targetEntity: { id: "$pageview", type: "events" },
          returningEntity: { id: "pay", type: "events" },
        },
      },
    ],
    [
      "stickiness, once a way to show trends",
      { insight: "TRENDS", shown_as: "Stickiness", events: [{ id: "a", math: "sum" }] },
      {
        kind: "StickinessQuery",
        series: [{ kind: "EventsNode", event: "a", math: "dau", properties: [] }],
        properties: [],
      },
    ],
    [
      "lifecycle",
      { insight: "LIFECYCLE", events: '[{"id": "a"}]', toggledLifecycles: ["new"] },
      {
        kind: "LifecycleQuery",
        series: [{ kind: "EventsNode", event: "a", properties: [] }],
        properties: [],
        lifecycleFilter: { toggledLifecycles: ["new"] },
      },
    ],
  ])("%s", (_, filters, query) => {
    const read = queryOfFilters(filters);
    expect(read).toEqual(query);
    const shape = kinds.find(({ kind }) => kind === read.kind)?.shape;
    expect(shape?.safeParse(read).error?.issues).toBeUndefined();
  });

  test("without an insight they are trends; the display of a funnel may make it a trend", () => {
    expect(queryOfFilters({ events: [] })).toMatchObject({ kind: "TrendsQuery", series: [] });
    expect(queryOfFilters({ insight: "FUNNELS", display: "ActionsLineGraph" })).toMatchObject({
      funnelsFilter: { funnelVizType: "trends" },
    });
  });

  test("what has no query is refused", () => {
    expect(() => queryOfFilters({ insight: "PATHS" })).toThrow('The insight "PATHS" is not supported.');
    expect(() => queryOfFilters({ data_warehouse: [{ id: "x" }] })).toThrow("data warehouses");
    const breakdowns = [{ property: "a" }, { property: "b" }];
    expect(() => queryOfFilters({ insight: "FUNNELS", breakdowns })).toThrow("more than one breakdown");
  });
});
