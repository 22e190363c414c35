import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { conditionsOf } from "../../../ui/views/dashboards/conditions.ts";
import {
  draftName,
  draftOf,
  draftQuery,
  draftScenario,
  type InsightDraft,
  missingIn,
} from "../../../ui/views/dashboards/draft.ts";

const on = (key: string, operator: string, value: JsonObject[string]): JsonObject => ({
  type: "event",
  key,
  operator,
  value,
});

describe("what a query can express of a filter", () => {
  test.each<[string, readonly string[], readonly JsonObject[]]>([
    ["", [], []],
    ["event:order_completed", ["order_completed"], []],
    ["event:a,b prop.plan:pro", ["a", "b"], [on("plan", "exact", "pro")]],
    ['(name:"a b") AND prop.plan:pro,team', ["a b"], [on("plan", "exact", ["pro", "team"])]],
    ["-prop.plan:pro", [], [on("plan", "is_not", "pro")]],
    ["prop.plan!=pro", [], [on("plan", "is_not", "pro")]],
    ["prop.plan~Pro", [], [on("plan", "icontains", "Pro")]],
    ["-prop.plan~Pro", [], [on("plan", "not_icontains", "Pro")]],
    ["prop.path:/a.b/*", [], [on("path", "regex", "^/a\\.b/.*$")]],
    ["prop.amount:>10 prop.amount<=20", [], [on("amount", "gt", "10"), on("amount", "lte", "20")]],
    ["has:prop.email", [], [on("email", "is_set", "is_set")]],
    ["-has:prop.email", [], [on("email", "is_not_set", "is_not_set")]],
    ['prop."a.b":1', [], [on("a.b", "exact", "1")]],
    ["event:check*", [], [{ type: "event_metadata", key: "event", operator: "regex", value: "^check.*$" }]],
    ["-event:a", [], [{ type: "event_metadata", key: "event", operator: "is_not", value: "a" }]],
    ["id:ada", [], [{ type: "event_metadata", key: "distinct_id", operator: "exact", value: "ada" }]],
    ["outcome:kept", [], []],
  ])("%s", (text, events, properties) => {
    expect(conditionsOf(text)).toEqual({ events, properties, project: undefined, leftOut: [] });
  });

  test("the project of a filter is that of the insight", () => expect(conditionsOf("project:3").project).toBe(3));

  test.each([
    ["is:dropped", "is:dropped"],
    ["-is:warned", "-is:warned"],
    ["hello", "hello"],
    ["prop.a.b:1", "prop.a.b:1"],
    ["prop.a:null", "prop.a:null"],
    ["-prop.a:>1", "-prop.a:>1"],
    ["prop.at:>2026-01-01", "prop.at:>2026-01-01"],
    ["since:5m", "since:5m"],
    ["time:2025-06-01T12:00:00Z..2025-06-01T12:05:00Z", "time:2025-06-01T12:00:00Z..2025-06-01T12:05:00Z"],
    ["event:a OR event:b", "event:a OR event:b"],
    ["seq:>4", "seq:>4"],
    ["outcome:dropped", "outcome:dropped"],
    ["has:route", "has:route"],
    ["unknown:x", "unknown:x"],
    ["(", "("],
  ])("%s is left out, with the reason", (text, term) => {
    const { events, properties, leftOut } = conditionsOf(text);
    expect([events, properties, leftOut]).toEqual([[], [], [{ term, why: expect.stringMatching(/./) }]]);
  });

  test("the rest of a filter stays", () => {
    const { events, properties, leftOut } = conditionsOf("event:a is:own prop.plan:pro");
    expect([events, properties, leftOut.map((it) => it.term)]).toEqual([
      ["a"],
      [on("plan", "exact", "pro")],
      ["is:own"],
    ]);
  });
});

describe("the query of the form", () => {
  const conditions = conditionsOf("event:a,b prop.plan:pro");
  const properties = [on("plan", "exact", "pro")];
  const of = (change: Partial<InsightDraft>) => ({ ...draftOf(conditions), ...change });

  test("a trend", () => {
    const draft = of({ math: "sum", mathProperty: " amount ", breakdown: "plan", interval: "week" });
    const node = (event: string) => ({ kind: "EventsNode", event, name: event, math: "sum", math_property: "amount" });
    expect(draftQuery(draft, conditions)).toEqual({
      kind: "InsightVizNode",
      source: {
        kind: "TrendsQuery",
        series: [node("a"), node("b")],
        interval: "week",
        dateRange: { date_from: "-7d" },
        properties,
        breakdownFilter: { breakdown: "plan", breakdown_type: "event" },
        trendsFilter: { display: "ActionsLineGraph" },
      },
    });
    expect(draftName(draft)).toBe("a, b, sum of amount by plan");
  });

  test("a number of any event", () => {
    const draft = of({ kind: "number", events: "", range: "all", breakdown: "plan" });
    expect(draftQuery(draft, conditionsOf(""))).toEqual({
      kind: "InsightVizNode",
      source: {
        kind: "TrendsQuery",
        series: [{ kind: "EventsNode", event: null, name: "All events", math: "total" }],
        dateRange: { date_from: "all" },
        trendsFilter: { display: "BoldNumber" },
        compareFilter: { compare: false },
      },
    });
    expect(draftName(draft)).toBe("All events");
  });

  test("a funnel, in the order of its steps", () => {
    const draft = of({ kind: "funnel", events: "b, a" });
    expect(draftQuery(draft, conditions)).toMatchObject({
      source: { kind: "FunnelsQuery", series: [{ event: "b" }, { event: "a" }], properties },
    });
    expect(draftName(draft)).toBe("b to a");
  });

  test.each([
    [{}, undefined],
    [{ kind: "funnel", events: "a" }, "A funnel needs the names of two events at least."],
    [{ math: "avg" }, "Name the property that is counted."],
    [{ kind: "funnel", math: "avg", events: "a,b" }, undefined],
  ] as const)("what is missing in %j", (change, missing) => expect(missingIn(of(change))).toBe(missing));

  test("as a part of a scenario", () => {
    const query = draftQuery(of({}), conditions);
    expect(JSON.parse(draftScenario("Orders", query, "Sales"))).toEqual({
      insights: [{ name: "Orders", query }],
      dashboards: [{ name: "Sales", tiles: [{ insight: "Orders" }] }],
    });
    expect(JSON.parse(draftScenario("Orders", query, undefined))).toEqual({ insights: [{ name: "Orders", query }] });
  });
});
