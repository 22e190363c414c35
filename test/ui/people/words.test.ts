import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { browserSnippet } from "../../../ui/copy/snippets.ts";
import { filterOf, identifyCalls, nameOf, valueLine } from "../../../ui/views/people/words.ts";

const person = (ids: string[], properties: JsonObject = {}) => ({
  uuid: "0195a000-0000-7000-8000-0000000000c1",
  project: 1,
  distinct_ids: ids,
  is_identified: false,
  created_at: "",
  version: 0,
  properties,
});

const made = "0195a000-0000-7000-8000-0000000000a1";

describe("what a person is called", () => {
  test.each<[what: string, ids: string[], properties: JsonObject, name: string]>([
    ["e-mail", [made, "u1"], { email: "ada@example.com", name: "Ada" }, "ada@example.com"],
    ["name", [made], { email: "", name: "Ada" }, "Ada"],
    ["an id that someone chose", [made, "u1"], { email: 7 }, "u1"],
    ["an id that was made", [made], {}, made],
    ["uuid", [], {}, "0195a000-0000-7000-8000-0000000000c1"],
  ])("%s", (_, ids, properties, name) => {
    expect(nameOf(person(ids, properties))).toBe(name);
  });
});

describe("the filter of a person's events", () => {
  test.each([
    [["a"], "distinct_id:a"],
    [["a", "b c"], 'distinct_id:a,"b c"'],
    [["a,b"], 'distinct_id:"a,b"'],
    [["a*"], 'distinct_id:"a*"'],
    [['say "x"'], 'distinct_id:"say \\"x\\""'],
    [[], "person:0195a000-0000-7000-8000-0000000000c1"],
  ])("%j", (ids, filter) => {
    expect(filterOf(person(ids))).toBe(filter);
  });

  test("of very many ids is by uuid", () => {
    expect(filterOf(person(Array.from({ length: 400 }, (_, i) => `id-${i}`)))).toMatch(/^person:/);
  });
});

test("values are shown on one short line", () => {
  expect(valueLine({ a: [1, "\u202e"] })).toBe('{"a":[1,"\\u202e"]}');
  expect(valueLine("x".repeat(200))).toHaveLength(81);
});

test("the snippet has the project's own key and host", () => {
  const text = browserSnippet("phc_mine", "http://127.0.0.1:1", ...identifyCalls.browser);
  expect(text).toContain('posthog.init("phc_mine", { api_host: "http://127.0.0.1:1" })');
});
