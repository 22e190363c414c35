import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { eventsKind } from "../../../../src/service/query/insights/events-query.ts";
import type { TableEvent } from "../table-of.ts";
import { runKind, type Stage } from "./stage.ts";

const at = (hour: number, more: Partial<TableEvent> = {}): TableEvent => ({
  event: "viewed",
  id: "a",
  at: new Date(Date.UTC(2020, 0, 19, hour)).toISOString(),
  ...more,
});

const events = [
  at(10, { properties: { n: 3, tags: ["x"], $browser: "Chrome" } }),
  at(8, { event: "bought", id: "b", properties: { n: 20 } }),
  at(12, { properties: { n: "9" } }),
  at(14, { id: "c" }),
  at(-30, { event: "old" }),
  at(16, { event: "future" }),
];
const table = { personProperties: { a: { email: "a@example.com", plan: "pro" } } };

interface Answer {
  results: unknown[][];
  columns: string[];
  types: string[];
  hasMore: boolean;
  limit: number;
  offset: number;
}

const run = async (query: JsonObject, stage: Partial<Stage> = {}): Promise<Answer> =>
  (await runKind(eventsKind, query, { events, table, ...stage })) as unknown as Answer;

describe("the list of events", () => {
  test("columns of the last day, the latest first", async () => {
    const { results, columns, types, hasMore, limit, offset } = await run({
      select: [
        "event",
        "timestamp -- Time",
        "distinct_id",
        "properties.n",
        "person.properties.plan",
        "properties.tags",
      ],
    });
    expect(results).toEqual([
      ["viewed", "2020-01-19T14:00:00Z", "c", null, null, null],
      ["viewed", "2020-01-19T12:00:00Z", "a", 9, "pro", null],
      ["viewed", "2020-01-19T10:00:00Z", "a", 3, "pro", '["x"]'],
      ["bought", "2020-01-19T08:00:00Z", "b", 20, null, null],
    ]);
    expect(columns[1]).toBe("timestamp -- Time");
    expect(types.slice(0, 4)).toEqual(["String", "DateTime64(6, 'UTC')", "String", "Nullable(Float64)"]);
    expect({ hasMore, limit, offset }).toEqual({ hasMore: false, limit: 100, offset: 0 });
  });

  test("whole events, in the order of their arrival", async () => {
    const { results, columns } = await run({ select: [], limit: 1 });
    expect(columns).toEqual(["*"]);
    expect(results).toEqual([
      [
        {
          uuid: "00000000-0000-4000-8000-000000000001",
          event: "viewed",
          properties: { n: 3, tags: ["x"], $browser: "Chrome" },
          timestamp: "2020-01-19T10:00:00Z",
          team_id: 1,
          distinct_id: "a",
          elements_chain: "",
          created_at: "2020-01-19T10:00:00Z",
          person_mode: "full",
        },
      ],
    ]);
  });

  test("pages", async () => {
    const page = (offset: number) =>
      run({ select: ["properties.n"], orderBy: ["timestamp ASC"], limit: 2, offset }).then(({ results, hasMore }) => [
        results.flat(),
        hasMore,
      ]);
    expect(await page(0)).toEqual([[20, 3], true]);
    expect(await page(2)).toEqual([[9, null], false]);
    expect(await page(9)).toEqual([[], false]);
  });

  test("expressions", async () => {
    const { results, types } = await run({
      select: ["upper(event) -- Name", "properties.n"],
      where: ["properties.n > 5 or event = 'bought'"],
      orderBy: ["upper(event) DESC", "properties.n ASC"],
    });
    expect(results).toEqual([
      ["VIEWED", 9],
      ["BOUGHT", 20],
    ]);
    expect(types).toEqual(["String", "Nullable(Float64)"]);
  });

  test("the first of many", async () => {
    const many = Array.from({ length: 3000 }, (_, i) => at(10, { properties: { n: (i * 7919) % 3000 } }));
    const { results } = await run(
      { select: ["properties.n"], orderBy: ["properties.n"], limit: 3, offset: 1 },
      { events: many },
    );
    expect(results).toEqual([[1], [2], [3]]);
  });

  test("orders; missing values come last", async () => {
    const ids = (...orderBy: string[]) =>
      run({ select: ["distinct_id", "properties.n"], orderBy }).then(({ results }) =>
        results.map(([id, n]) => `${id}${n ?? ""}`),
      );
    expect(await ids("distinct_id DESC", "timestamp DESC")).toEqual(["c", "b20", "a9", "a3"]);
    expect((await ids("properties.n ASC")).at(-1)).toBe("c");
    expect((await ids("properties.n DESC")).at(-1)).toBe("c");
  });

  test("filters, times, names and persons", async () => {
    const names = (query: JsonObject, stage: Partial<Stage> = {}) =>
      run({ select: ["event"], orderBy: ["timestamp"], ...query }, stage).then(({ results }) => results.flat());
    expect(await names({ event: "bought" })).toEqual(["bought"]);
    expect(await names({ events: ["bought", "old"], after: "all" })).toEqual(["old", "bought"]);
    expect(await names({ after: "2020-01-19T08:00:00Z", before: "2020-01-19T12:00:00Z" })).toEqual(["viewed"]);
    expect(await names({ before: "2020-01-20" })).toEqual(["bought", "viewed", "viewed", "viewed", "future"]);
    expect(await names({ personId: "b" })).toEqual(["bought"]);
    expect(await names({ properties: [{ key: "n", operator: "gt", value: 5 }] })).toEqual(["bought", "viewed"]);
    expect(await names({ fixedProperties: [{ type: "person", key: "plan", value: "pro" }] })).toEqual([
      "viewed",
      "viewed",
    ]);
    const testAccountFilters = [{ type: "person", key: "email", operator: "not_icontains", value: "@example.com" }];
    expect(await names({ filterTestAccounts: true }, { testAccountFilters })).toEqual(["bought", "viewed"]);
    const action = (id: number) => (id === 1 ? { name: "buying", steps: [{ event: "bought" }] } : undefined);
    expect(await names({ actionId: 1 }, { action })).toEqual(["bought"]);
    await expect(names({ actionId: 2 }, { action })).rejects.toThrow("Action does not exist");
  });

  test("persons", async () => {
    const person = (uuid: string) =>
      uuid === "a"
        ? { uuid, created_at: Date.UTC(2020, 0, 1), is_identified: true, properties: { email: "a@example.com" } }
        : undefined;
    const { results } = await run(
      { select: ["person", "person_display_name"], event: "viewed", orderBy: ["timestamp DESC"], limit: 2 },
      { person },
    );
    expect(results).toEqual([
      [{ distinct_id: "c" }, { display_name: "c", id: "c", distinct_id: "c" }],
      [
        { uuid: "a", created_at: "2020-01-01T00:00:00Z", properties: { email: "a@example.com" }, distinct_id: "a" },
        { display_name: "a@example.com", id: "a", distinct_id: "a" },
      ],
    ]);
  });

  test("times are in the project's zone", async () => {
    const { results, types } = await run({ select: ["timestamp"], limit: 1 }, { timeZone: "Europe/Berlin" });
    expect([results, types]).toEqual([[["2020-01-19T15:00:00+01:00"]], ["DateTime64(6, 'Europe/Berlin')"]]);
  });

  test("what is not supported is refused by name", async () => {
    await expect(run({ select: ["event"], where: ["count() > 1"] })).rejects.toThrow("An aggregation has no place");
    await expect(run({ select: ["event"], orderBy: ["nothing"] })).rejects.toThrow("nothing");
    await expect(run({ select: ["event"], where: ["event"] })).rejects.toThrow("A filter needs a condition");
    await expect(run({ select: ["event"], source: {} })).rejects.toThrow("source");
  });
});
