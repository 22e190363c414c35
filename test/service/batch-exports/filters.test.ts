import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { columnsOf, type EventRecord } from "../../../src/service/batch-exports/columns.ts";
import { recordTest } from "../../../src/service/batch-exports/filters.ts";
import { aBatchExport } from "../../support/documents.ts";
import { anEvent, anS3, start } from "./stage.ts";

const recordWith = (properties: JsonObject, event = "signed_up", person?: JsonObject): EventRecord => ({
  event: anEvent(1, start, { properties, event }),
  by: "received_at",
  personProperties: () => person,
});

const passes = (filter: Json, record: EventRecord): boolean => recordTest(aBatchExport({ filters: [filter] }))(record);

describe("property filters", () => {
  const shown = { browser: "Firefox", n: 10, yes: true, nothing: null, version: "9" };

  test.each<[string, string | undefined, Json, boolean]>([
    ["browser", undefined, "Firefox", true],
    ["browser", "exact", ["Safari", "Firefox"], true],
    ["browser", "exact", "firefox", false],
    ["browser", "exact", [], true],
    ["n", "exact", "10", true],
    ["n", "exact", 10, true],
    ["yes", "exact", "true", true],
    ["missing", "exact", "x", false],
    ["nothing", "exact", "null", false],
    ["browser", "is_not", ["Firefox"], false],
    ["browser", "is_not", ["Safari"], true],
    ["missing", "is_not", "x", true],
    ["browser", "icontains", "FIRE", true],
    ["browser", "icontains", "safari", false],
    ["browser", "not_icontains", "FIRE", false],
    ["missing", "not_icontains", "FIRE", true],
    ["browser", "regex", "^Fire", true],
    ["browser", "regex", "^fire", false],
    ["browser", "not_regex", "^Fire", false],
    ["missing", "not_regex", "^Fire", true],
    ["browser", "is_set", null, true],
    ["nothing", "is_set", null, false],
    ["missing", "is_set", null, false],
    ["missing", "is_not_set", null, true],
    ["n", "gt", 9, true],
    ["n", "gt", 10, false],
    ["n", "gte", "10", true],
    ["version", "lt", 10, true],
    ["n", "lte", 9, false],
    ["browser", "gt", 1, false],
    ["missing", "lt", 1, false],
    ["__proto__", "is_set", null, false],
    ["constructor", "is_set", null, false],
  ])("%s %s %j: %s", (key, operator, value, result) => {
    expect(passes({ key, ...(operator && { operator }), value, type: "event" }, recordWith(shown))).toBe(result);
  });

  test("of persons look at the person; who has none has no property", () => {
    const filter = { key: "email", operator: "icontains", value: "@example.com", type: "person" };
    expect(passes(filter, recordWith({}, "a", { email: "ann@example.com" }))).toBe(true);
    expect(passes(filter, recordWith({ email: "ann@example.com" }))).toBe(false);
  });

  test("all of them must hold", () => {
    const filters = [
      { key: "a", value: "1" },
      { key: "b", value: "2" },
    ];
    const test = recordTest(aBatchExport({ filters }));
    const records: JsonObject[] = [{ a: 1, b: 2 }, { a: 1 }, { b: 2 }];
    expect(records.map((it) => test(recordWith(it)))).toEqual([true, false, false]);
  });

  test.each<[Json, string, string]>([
    [{ key: "a", operator: "is_date_before", value: "1" }, "not_emulated", "is_date_before"],
    [{ key: "a", type: "hogql", value: "1" }, "not_emulated", "hogql"],
    [{ key: "a", operator: "regex", value: "(" }, "invalid_input", '"("'],
    [{ operator: "exact", value: "1" }, "invalid_input", "no key"],
    ["a", "invalid_input", "no key"],
  ])("%j: %s", (filter, code, text) => {
    expect(() => passes(filter, recordWith({}))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(text) }),
    );
  });
});

describe("lists of events", () => {
  test.each<[JsonObject, string[]]>([
    [{}, ["a", "b", "c"]],
    [{ include_events: ["a", "b"] }, ["a", "b"]],
    [{ exclude_events: ["a"] }, ["b", "c"]],
    [{ include_events: ["a", "b"], exclude_events: ["b"] }, ["a"]],
    [{ include_events: [], exclude_events: null }, ["a", "b", "c"]],
  ])("%j", (config, names) => {
    const test = recordTest(aBatchExport({ destination: anS3(config) }));
    expect(["a", "b", "c"].filter((name) => test(recordWith({}, name)))).toEqual(names);
  });
});

describe("columns of a query", () => {
  const columns = (expression: string, type = "S3") =>
    columnsOf(aBatchExport({ destination: { type, config: {} }, schema: { fields: [{ expression, alias: "it" }] } }));
  const valueIn = (expression: string) => {
    const record = recordWith({ $browser: "Firefox", deep: { n: 1 }, "any name": [1], none: null }, "a", {
      email: "ann@example.com",
    });
    return columns(expression)[0]?.of(record);
  };

  test.each<[string, Json]>([
    ["event", "a"],
    ["events.event", "a"],
    ["`event`", "a"],
    ["properties.$browser", "Firefox"],
    ["events.properties.$browser", "Firefox"],
    ["properties.deep.n", "1"],
    ["properties.deep", '{"n":1}'],
    ["properties.`any name`", "[1]"],
    ["properties['any name']", "[1]"],
    ["properties.none", null],
    ["properties.missing.further", null],
    ["properties.constructor", null],
    ["person.properties.email", "ann@example.com"],
    ["person.properties", { email: "ann@example.com" }],
    ["elements_chain", ""],
  ])("%s", (expression, value) => {
    expect(valueIn(expression)).toEqual(value);
  });

  test.each(["count()", "properties", "1", "properties.a + 1", "toString(properties.a)", "nothing", "properties."])(
    "%s is known, or refused",
    (expression) => {
      if (expression === "properties") return expect(columns(expression)[0]?.type).toBe("json");
      expect(() => columns(expression)).toThrow(expect.objectContaining({ code: "not_emulated" }));
    },
  );

  test("a bucket gets _inserted_at in any case; a star is all of the default ones", () => {
    expect(columns("event").map(({ name }) => name)).toEqual(["it", "_inserted_at"]);
    expect(columns("event", "Postgres").map(({ name }) => name)).toEqual(["it"]);
    expect(columns("*").filter(({ name }) => name === "_inserted_at")).toHaveLength(1);
    expect(columns("*")).toHaveLength(10);
  });
});
