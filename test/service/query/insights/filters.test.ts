import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { filterTest } from "../../../../src/service/query/insights/filters.ts";
import { contextOf, type Stage } from "./stage.ts";

const people = { p: { email: "a@example.com", age: 30 }, q: {} };

/** True if an event with these properties passes. */
function passes(filters: Json, properties: JsonObject, stage: Partial<Stage> = {}): boolean {
  const event = { event: "viewed", at: "2020-01-10T12:00:00Z", id: "p", properties, groups: { 0: "acme" } };
  const table = { personProperties: people, groupProperties: { 0: { acme: { size: 50 } } } };
  return filterTest(filters, contextOf({ events: [event], table, ...stage }))(0);
}

const shown = {
  ...{ browser: "Firefox 50%", n: 10, text: "10", yes: true, nothing: null, empty: "", list: ["a", 1] },
  ...{ version: "v1.10.2-rc.1", day: "2020-01-10", time: "2020-01-10T12:00:00Z", seconds: 1578657600 },
};

describe("operators", () => {
  test.each<[key: string, operator: string | null, value: Json, result: boolean]>([
    ["browser", null, "Firefox 50%", true],
    ["browser", "exact", ["Safari", "Firefox 50%"], true],
    ["browser", "exact", "firefox 50%", false],
    ["browser", "exact", [], true],
    ["n", "exact", "10", true],
    ["n", "exact", ["10.0"], true],
    ["text", "exact", "10.0", false],
    ["text", "exact", 10, true],
    ["yes", "exact", "true", true],
    ["yes", "exact", [true], true],
    ["list", "exact", '["a",1]', true],
    ["nothing", "exact", "null", false],
    ["missing", "exact", "x", false],
    ["missing", "is_not", "x", true],
    ["nothing", "is_not", ["x", "y"], true],
    ["browser", "is_not", ["x", "Firefox 50%"], false],
    ["browser", "icontains", "FOX", true],
    ["browser", "icontains", "f_x", true],
    ["browser", "icontains", "50\\%", true],
    ["browser", "icontains", ["x_x", "fox"], true],
    ["browser", "icontains", ["f_x", "y"], false],
    ["browser", "not_icontains", "fox", false],
    ["missing", "not_icontains", "fox", true],
    // Two values are another function: what is missing passes neither.
    ["missing", "not_icontains", ["fox", "x"], false],
    ["browser", "icontains_multi", ["zzz", "FIRE"], true],
    ["browser", "not_icontains_multi", ["zzz"], true],
    ["browser", "regex", "^Fire.*%$", true],
    ["browser", "regex", "^fire", false],
    ["browser", "regex", ["^x", "fox"], true],
    ["browser", "not_regex", ["^x", "fox"], false],
    ["missing", "regex", ".*", false],
    ["missing", "not_regex", ".*", true],
    ["n", "gt", 9, true],
    ["n", "gt", "9", true],
    ["text", "gt", 9, true],
    ["n", "gt", 10, false],
    ["n", "gte", 10, true],
    ["n", "lt", "100", true],
    ["n", "lte", 9, false],
    ["n", "min", 10, true],
    ["n", "max", 9, false],
    ["browser", "gt", 5, false],
    ["browser", "gt", "Eagle", true],
    ["missing", "lt", 5, false],
    ["n", "between", [1, 10], true],
    ["n", "between", ["11", "20"], false],
    ["n", "not_between", [11, 20], true],
    ["missing", "not_between", [11, 20], false],
    ["empty", "is_set", "is_set", true],
    ["empty", "is_set", null, true],
    ["nothing", "is_set", "is_set", false],
    ["missing", "is_not_set", "is_not_set", true],
    ["n", "in", ["9", "10"], true],
    ["n", "not_in", ["9", "10"], false],
    ["missing", "not_in", ["9"], true],
    ["day", "is_date_exact", "2020-01-10", true],
    ["day", "is_date_before", "2020-01-11", true],
    ["time", "is_date_after", "2020-01-10", true],
    ["time", "is_date_exact", "2020-01-10T13:00:00+01:00", true],
    ["seconds", "is_date_exact", "2020-01-10T12:00:00Z", true],
    ["time", "is_date_after", "-10d", true],
    ["time", "is_date_after", "-9d", false],
    ["browser", "is_date_before", "2030-01-01", false],
    ["missing", "is_date_before", "2030-01-01", false],
    ["version", "semver_eq", "1.10.2", true],
    ["version", "semver_neq", "1.10.2", false],
    ["version", "semver_gt", "1.9.9", true],
    ["version", "semver_gte", "1.10.2", true],
    ["version", "semver_lt", "1.10.2", false],
    ["version", "semver_lte", "1.10.2", true],
    ["version", "semver_tilde", "1.10.0", true],
    ["version", "semver_tilde", "1.9.0", false],
    ["version", "semver_tilde", "1", true],
    ["version", "semver_caret", "1.2.3", true],
    ["version", "semver_caret", "0.2.3", false],
    ["version", "semver_wildcard", "1.10.*", true],
    ["version", "semver_wildcard", "1.*", true],
    ["version", "semver_wildcard", "2.*", false],
    // The service reads a missing version as 0.
    ["missing", "semver_lt", "1.0.0", true],
    ["missing", "semver_eq", "1.0.0", false],
    // A filter that is not complete is ignored.
    ["missing", "exact", null, true],
    ["missing", "gt", null, true],
  ])("%s %s %j: %s", (key, operator, value, result) => {
    expect(passes({ key, type: "event", operator, value }, shown)).toBe(result);
  });

  test("dates without an offset are in the project's zone", () => {
    const filter = { key: "time", operator: "is_date_before", value: "2020-01-10T12:30:00" };
    expect(passes(filter, shown)).toBe(true);
    expect(passes(filter, shown, { timeZone: "Europe/Berlin" })).toBe(false);
  });
});

describe("groups and types", () => {
  const is = (value: string): JsonObject => ({ key: "browser", value });

  test("lists and AND mean all, OR means one; empty ones let everything through", () => {
    expect(passes([is("a"), { key: "n", value: 1 }], { browser: "a", n: 1 })).toBe(true);
    expect(passes([is("a"), { key: "n", value: 2 }], { browser: "a", n: 1 })).toBe(false);
    const either = {
      type: "OR",
      values: [
        { type: "AND", values: [is("x")] },
        { type: "AND", values: [is("a"), is("a")] },
      ],
    };
    expect(passes(either, { browser: "a" })).toBe(true);
    expect(passes({ type: "OR", values: [] }, {})).toBe(true);
    expect(passes([], {})).toBe(true);
    expect(passes({}, {})).toBe(true);
    expect(passes(null, {})).toBe(true);
  });

  test.each<[JsonObject, boolean]>([
    [{ type: "person", key: "email", operator: "icontains", value: "@example.com" }, true],
    [{ type: "person", key: "age", operator: "lt", value: 30 }, false],
    [{ type: "group", key: "size", group_type_index: 0, operator: "gte", value: 50 }, true],
    [{ type: "group", key: "size", group_type_index: 1, operator: "gte", value: 50 }, false],
    [{ type: "event", key: "$group_0", value: "acme" }, true],
    [{ type: "feature", key: "$feature/beta", value: "true" }, true],
    [{ type: "event_metadata", key: "event", value: "viewed" }, true],
    [{ type: "event_metadata", key: "distinct_id", value: "p" }, true],
    [{ type: "cohort", key: "id", value: 1 }, true],
    [{ type: "cohort", key: "id", value: [1], operator: "not_in" }, false],
    [{ type: "cohort", key: "id", value: "1", negation: true }, false],
    [{ type: "hogql", key: "event = 'viewed' and properties.n > 1" }, false],
    [{ type: "hogql", key: "event = 'viewed'" }, true],
    [{ type: "empty" }, true],
  ])("%j: %s", (filter, result) => {
    const cohort = (id: number) => (id === 1 ? { name: "c", has: (person: string) => person === "p" } : undefined);
    expect(passes([filter], { "$feature/beta": true }, { cohort })).toBe(result);
  });

  test.each<[Json, string]>([
    [{ type: "hogql", key: "event" }, "A filter needs a condition"],
    [{ type: "element", key: "colour", value: "x" }, "not implemented for key colour"],
    [{ type: "session", key: "$entry_url", value: "x" }, 'The property "$entry_url" of sessions'],
    [{ type: "person", key: "$virt_revenue", value: 1 }, "$virt_revenue"],
    [{ key: "a", operator: "is_cleaned_path_exact", value: "x" }, 'The operator "is_cleaned_path_exact"'],
    [{ key: "a", operator: "regex", value: "(" }, 'The regular expression "(" is invalid.'],
    [{ key: "a", operator: "between", value: [3, 1] }, "min value to be less"],
    [{ key: "a", operator: "between", value: 3 }, "requires a two-element array"],
    [{ key: "a", operator: "is_date_before", value: "soon" }, "is not a date"],
    [{ key: "a", operator: "semver_caret", value: "x" }, "valid semver string"],
    [{ type: "group", key: "a", value: 1 }, "needs a group_type_index"],
    [{ type: "cohort", key: "id", value: 7 }, "Cohort 7 does not exist."],
    [{ key: "a", value: 1, colour: "red" }, "colour"],
    [{ type: "XOR", values: [] }, "PropertyGroup of unknown type"],
    [{ type: "AND", values: [], id: 1 }, 'The field "id" of a property group'],
    ["x", "must be an object"],
  ])("%j is refused", (filter, message) => {
    expect(() => passes([filter], {})).toThrow(message);
  });
});
