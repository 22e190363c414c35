import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { hogQLKind } from "../../../../src/service/query/hogql/hogql-query.ts";
import { eventsKind } from "../../../../src/service/query/insights/events-query.ts";
import { funnelsKind } from "../../../../src/service/query/insights/funnels.ts";
import { trendsKind } from "../../../../src/service/query/insights/trends.ts";
import type { QueryPerson } from "../../../../src/service/query/kind.ts";
import { runIn } from "../insights/stage.ts";
import { ask, rowsOf } from "./run-query.ts";
import { stage } from "./stage.ts";

const dateRange = { date_from: "2026-01-01", date_to: "2026-01-03" };
const trends = async (query: JsonObject) => {
  const { results } = runIn(stage(), trendsKind, { dateRange, ...query });
  return (results as JsonObject[]).map((it) => [it.breakdown_value ?? it.label, it.data]);
};
const paid = { kind: "EventsNode", event: "paid" };
const all = { kind: "EventsNode", event: null };

describe("HogQL in insights", () => {
  test("a filter", async () => {
    const properties = [{ type: "hogql", key: "properties.amount > 3 and person.properties.age > 30" }];
    expect(await trends({ series: [paid], properties })).toEqual([["paid", [1, 0, 0]]]);
  });

  test("a filter with a query, and with a session", async () => {
    const ofPayers = "distinct_id in (select distinct_id from events where event = 'paid')";
    const properties = [{ type: "hogql", key: `${ofPayers} and session.$pageview_count = 2` }];
    expect(await trends({ series: [all], properties })).toEqual([["All events", [1, 2, 0]]]);
  });

  test("a breakdown", async () => {
    const breakdownFilter = { breakdown_type: "hogql", breakdown: "if(properties.amount > 3, 'large', 'small')" };
    expect(await trends({ series: [paid], breakdownFilter })).toEqual([
      ["large", [1, 0, 0]],
      ["small", [0, 1, 0]],
    ]);
  });

  test("the math of a series", async () => {
    const series = [{ ...all, math: "hogql", math_hogql: "round(sum(properties.amount) / uniq(person_id), 2)" }];
    expect(await trends({ series })).toEqual([["All events", [10, 2.17, 0]]]);
    await expect(trends({ series: [{ ...all, math: "hogql", math_hogql: "properties.amount" }] })).rejects.toThrow(
      'Column properties.["amount"] is not under aggregate function',
    );
    await expect(trends({ series: [{ ...all, math: "hogql" }] })).rejects.toThrow("needs an expression in math_hogql");
  });

  test("the actors of a funnel", async () => {
    const funnelsFilter = { funnelAggregateByHogQL: "upper(distinct_id)" };
    const series = [all, { kind: "EventsNode", event: "$pageview" }];
    const { results } = runIn(stage(), funnelsKind, { series, funnelsFilter, dateRange });
    expect((results as JsonObject[]).map((it) => it.count)).toEqual([3, 1]);
  });

  test("columns and conditions of a list of events", async () => {
    const select = ["event", "properties.amount * 2 as twice", "toHour(timestamp)"];
    // The table of tests has no whole events, which lists need.
    const context = stage();
    const table = { ...context.table, event: () => ({}) as never };
    const { results, types } = runIn({ ...context, table }, eventsKind, {
      select,
      where: ["properties.amount > 3"],
      after: "2026-01-01",
      orderBy: ["properties.amount DESC"],
    });
    expect(results).toEqual([
      ["paid", 20, 11],
      ["signed up", 8, 13],
    ]);
    expect(types).toEqual(["String", "Nullable(Float64)", "UInt8"]);
  });

  test("mistakes have their place", async () => {
    const properties = [{ type: "hogql", key: "properties.amount >\n evnt" }];
    await expect(trends({ series: [paid], properties })).rejects.toMatchObject({
      code: "invalid_input",
      message: "Unable to resolve field: evnt. Did you mean: event? (line 2, column 2)",
    });
    await expect(trends({ series: [paid], properties: [{ type: "hogql", key: "count() > 1" }] })).rejects.toThrow(
      "An aggregation has no place in an expression for single events",
    );
  });
});

describe("filters and values of a query", () => {
  test("{filters}: dates, properties, test accounts", async () => {
    const query = "select event from events where {filters} order by timestamp";
    const context = stage({
      testAccountFilters: [{ key: "email", type: "person", operator: "icontains", value: "ann" }],
    });
    const rows = (filters: JsonObject) => rowsOf(query, context, { filters });
    expect(await rows({ dateRange: { date_from: "2026-01-02", date_to: "2026-01-02T10:01:30" } })).toEqual([
      ["paid"],
      ["$pageview"],
    ]);
    expect(await rows({ dateRange: { date_from: "-1d" } })).toEqual([["signed up"]]);
    expect(await rows({ properties: [{ key: "plan", operator: "exact", value: ["pro"] }] })).toEqual([
      ["paid"],
      ["$pageview"],
    ]);
    expect(await rows({ filterTestAccounts: true })).toEqual([["paid"], ["$pageview"], ["$pageview"]]);
    const repeated = query.replace("events", "events array join [1, 2] as x");
    const filters = { properties: [{ key: "plan", operator: "exact", value: ["pro"] }] };
    expect(await rowsOf(repeated, context, { filters })).toEqual([["paid"], ["paid"], ["$pageview"], ["$pageview"]]);
    expect(await rows({})).toHaveLength(5);
    expect(await rowsOf(query, context)).toHaveLength(5);
  });

  test("bounds of the dates", async () => {
    const query =
      "select count() from events where timestamp >= {filters.dateRange.from} and timestamp < {filters.dateRange.to}";
    expect(await rowsOf(query, stage(), { filters: { dateRange: { date_from: "2026-01-02" } } })).toEqual([[4]]);
    expect(await rowsOf(query, stage())).toEqual([[5]]);
  });

  test("{values} and {variables}", async () => {
    const query = "select count() from events where event in {names} and properties.amount >= {variables.least}";
    const variables = { x: { code_name: "least", variableId: "x", value: 3 } };
    expect(await rowsOf(query, stage(), { values: { names: ["paid", "signed up"] }, variables })).toEqual([[2]]);
    expect(await rowsOf("select {a}, {b}", stage(), { values: { a: "it's", b: null } })).toEqual([["it's", null]]);
    expect(await rowsOf("select {c}", stage(), { values: { a: 1 } })).toBe(
      "Placeholder {c} is not available in this context. You can use the following: a (line 1, column 8)",
    );
  });
});

describe("the response", () => {
  test("100 rows unless the query has a limit, 50,000 at most", async () => {
    const many = "select number from (select arrayJoin(range(200)) as number)".replace("arrayJoin(range(200))", "1");
    expect(await ask(many, stage())).toMatchObject({ hasMore: false, limit: 100, offset: 0 });
    const union = Array.from({ length: 30 }, () => "select event from events").join(" union all ");
    expect(await ask(`select * from (${union})`, stage())).toMatchObject({ hasMore: true, limit: 100 });
    expect((await ask(`select * from (${union})`, stage())).results).toHaveLength(100);
    expect(await ask("select event from events limit 2", stage())).toMatchObject({ hasMore: null, limit: null });
    expect((await ask("select event from events limit 60000", stage())).hogql).toContain("LIMIT 50000");
  });

  test("columns have the names of the service", async () => {
    const { columns, types, hogql } = await ask(
      "select event, properties.plan, person.properties.email, count(), lower(event) as l, count(distinct event), properties.nested.deep, event = 'x' and 1 < 2, quantile(0.5)(properties.amount) from events group by 1, 2, 3, 5, 7, 8 limit 1",
      stage(),
    );
    expect(columns).toEqual([
      ...["event", "plan", "email", "count()", "l", "count(DISTINCT event)", "nested__deep"],
      ...["and(equals(event, 'x'), less(1, 2))", "quantile(0.5)(properties.amount)"],
    ]);
    expect(types[2]).toEqual(["email", "Nullable(String)"]);
    expect(hogql.startsWith("SELECT\n    event,\n    properties.plan,")).toBe(true);
  });

  test("fields without effect are refused", () => {
    const read = (more: object) => hogQLKind.shape.safeParse({ kind: "HogQLQuery", query: "select 1", ...more });
    expect(read({ name: "a name", modifiers: {}, explain: false }).success).toBe(true);
    for (const more of [{ explain: true }, { sendRawQuery: true }, { connectionId: "x" }, { limit: 5 }])
      expect(read(more).success).toBe(false);
  });
});

test("persons and groups are tables", async () => {
  const created_at = Date.parse("2026-01-01T00:00:00Z");
  const context = stage({
    persons: (): QueryPerson[] => [
      { uuid: "33333333-3333-4333-8333-333333333333", created_at, is_identified: true, properties: { age: 30 } },
      { uuid: "44444444-4444-4444-8444-444444444444", created_at, is_identified: false, properties: {} },
    ],
    groups: () => [{ type: 0, key: "acme", created_at, properties: { name: "Acme" } }],
  });
  expect(await rowsOf("select id, properties.age + 1, is_identified, created_at from persons", context)).toEqual([
    ["33333333-3333-4333-8333-333333333333", 31, true, "2026-01-01T01:00:00+01:00"],
    ["44444444-4444-4444-8444-444444444444", null, false, "2026-01-01T01:00:00+01:00"],
  ]);
  expect(await rowsOf("select index, key, created_at, properties from groups", context)).toEqual([
    [0, "acme", "2026-01-01T01:00:00+01:00", '{"name":"Acme"}'],
  ]);
  expect(await rowsOf("select count() from persons", stage())).toBe("The table persons is not available");
});
