import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { columnValues, previewOf } from "../../../../src/state/journal/feed/preview.ts";

const textOf = (event: string, properties: JsonObject): string =>
  previewOf(event, properties)
    .preview.map((it) => it.filter((text) => text !== "").join(" "))
    .join(" · ");

const rows: [event: string, properties: JsonObject, text: string][] = [
  ["signed_up", { plan: "pro", seats: 4, $lib: "web", utm_source: null, token: "x" }, "plan pro · seats 4"],
  [
    "signed_up",
    { a: null, b: [], c: {}, d: { e: 1 }, f: ["x", 1], g: [{}, {}] },
    "a null · b · c {} · d {…} · f x, 1 · g [2]",
  ],
  ["$pageview", { title: "Checkout", $current_url: "https://a.b/c?d" }, "Checkout"],
  ["$pageview", { $current_url: "https://a.b/c?d" }, "/c"],
  ["$screen", { $screen_name: "Home" }, "Home"],
  [
    "$autocapture",
    { $event_type: "click", $el_text: "Pay now", $elements_chain: 'button.main:text="Pay now"' },
    "click “Pay now” button",
  ],
  ["$autocapture", { $event_type: "submit", $elements: [{ tag_name: "form" }] }, "submit form"],
  ["$exception", { $exception_list: [{ type: "TypeError", value: "x is undefined" }] }, "TypeError x is undefined"],
  ["$exception", { $exception_type: "E", $exception_message: "m" }, "E m"],
  ["$exception", { $exception_list: [null] }, "Error"],
  [
    "$ai_generation",
    { $ai_model: "gpt", $ai_input_tokens: 8, $ai_output_tokens: 2, $ai_latency: 1 },
    "gpt · tokens 8 → 2 · 1.00 s",
  ],
  ["$feature_flag_called", { $feature_flag: "new", $feature_flag_response: false }, "new = false"],
  [
    "$web_vitals",
    { $web_vitals_LCP_value: 2_840, $web_vitals_CLS_value: 0.27, $web_vitals_INP_value: "x" },
    "LCP 2.84 s · CLS 0.27",
  ],
  [
    "survey sent",
    { $survey_name: "NPS", $survey_response: 9, $survey_response_1: "fast" },
    "NPS · answer 9 · answer fast",
  ],
  ["$identify", { $anon_distinct_id: "anon", $set: { plan: "pro" } }, "from anon · plan pro"],
  ["$groupidentify", { $group_type: "company", $group_key: "acme", $group_set: { size: 3 } }, "company acme · size 3"],
  ["$create_alias", { alias: "other" }, "from other"],
  ["$$heatmap", { $heatmap_data: { "https://a": [] } }, "addresses 1"],
];
test.each(rows)("%s %j: %s", (event, properties, text) => {
  expect(textOf(event, properties)).toBe(text);
});

describe("damaged and hostile properties", () => {
  const kinds = [
    "own",
    "$exception",
    "$autocapture",
    "$ai_generation",
    "$web_vitals",
    "$pageview",
    "survey sent",
    "$identify",
    "$groupidentify",
    "$feature_flag_called",
    "$$heatmap",
    "$snapshot_items",
  ];
  const values = [
    null,
    Number.MAX_VALUE,
    "",
    "\u0000\u202e<img src=x>",
    [],
    [[]],
    {},
    { type: { a: 1 }, value: [1] },
    "x".repeat(100_000),
  ];
  const names = [
    "$exception_list",
    "$elements",
    "$elements_chain",
    "$el_text",
    "$set",
    "$current_url",
    "$lib",
    "$session_id",
    "title",
    "$survey_response",
    "$ai_model",
    "$heatmap_data",
    "$snapshot_items",
    "__proto__",
    "constructor",
  ];
  test.each(kinds)("of %s are bounded", (event) => {
    for (const value of values) {
      const properties = JSON.parse(JSON.stringify(Object.fromEntries(names.map((it) => [it, value])))) as JsonObject;
      const made = previewOf(event, properties);
      expect(JSON.stringify(made).length).toBeLessThan(1_200);
      for (const it of made.preview.flat()) expect(typeof it).toBe("string");
    }
  });
  test("very many properties are not all read", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`$p${i}`, i]));
    expect(previewOf("own", many).preview).toEqual([]);
  });
});

test("session, SDK and path", () => {
  expect(
    previewOf("a", { $lib: "posthog-node", $session_id: "s", $current_url: "https://shop.example" }),
  ).toMatchObject({ lib: "node", session: "s", path: "/" });
  expect(previewOf("a", { $lib: 7, $session_id: 7, $current_url: "javascript:alert(1)" })).toMatchObject({
    lib: "7",
    session: null,
    path: "",
  });
});

test("values of columns", () => {
  const properties: JsonObject = { "a.b": 1, a: { c: [1, 2] }, items: [{ sku: "x" }, { sku: "y" }], nothing: null };
  expect(columnValues(properties, ["a.b", "a.c", "items.sku", "nothing", "none", "constructor"])).toEqual([
    "1",
    "1, 2",
    "x, y",
    "null",
    null,
    null,
  ]);
});
