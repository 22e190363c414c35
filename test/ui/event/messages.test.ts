import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { blockText, messageCount, messagesOf, mostMessages } from "../../../ui/views/event/kinds/messages.ts";

const call = (input: Json, id?: string) => ({ is: "call", name: "look", id, input });

const rows: [what: string, value: Json, messages: object[]][] = [
  ["a text", "hi", [{ role: "user", parts: [{ is: "text", text: "hi" }] }]],
  ["text with JSON", '[{"role":"system","content":"s"}]', [{ role: "system", parts: [{ is: "text", text: "s" }] }]],
  ["texts", ["a", "b"], [{ role: "user" }, { role: "user" }]],
  [
    "OpenAI: a call and its result",
    [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "found" },
    ],
    [
      { role: "assistant", parts: [call("{}", "c")] },
      { role: "tool", parts: [{ is: "result", name: "look", output: "found" }] },
    ],
  ],
  [
    "OpenAI: choices",
    { choices: [{ index: 0, message: { role: "assistant", content: "yes", refusal: "no" }, finish_reason: "stop" }] },
    [
      {
        role: "assistant",
        parts: [
          { is: "text", text: "yes" },
          { is: "refusal", text: "no" },
        ],
      },
    ],
  ],
  [
    "OpenAI: responses",
    [
      { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "found" },
    ],
    [
      { role: "user", parts: [{ is: "thinking", text: "hm" }] },
      { role: "assistant", parts: [{ is: "text", text: "yes" }] },
      { role: "user", parts: [call("{}", "c")] },
      { role: "tool", parts: [{ is: "result", name: "look", output: "found" }] },
    ],
  ],
  [
    "Anthropic",
    [
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "tool_use", id: "t", name: "look", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "found" }] }],
      },
      { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }] },
    ],
    [
      { role: "assistant", parts: [{ is: "thinking", text: "hm" }, call({ a: 1 }, "t")] },
      { role: "user", parts: [{ is: "result", name: "look", output: "found" }] },
      { role: "user", parts: [{ is: "file", what: "image", about: "image/png · 3 B" }] },
    ],
  ],
  [
    "Gemini",
    [
      {
        role: "model",
        parts: [{ text: "hm", thought: true }, { text: "yes" }, { functionCall: { name: "look", args: { a: 1 } } }],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "look", response: { b: 2 } } },
          { inlineData: { mimeType: "audio/wav", data: "AAAAAAAA" } },
        ],
      },
    ],
    [
      { role: "assistant", parts: [{ is: "thinking", text: "hm" }, { is: "text", text: "yes" }, call({ a: 1 })] },
      {
        role: "user",
        parts: [
          { is: "result", name: "look", output: { b: 2 } },
          { is: "file", what: "file", about: "audio/wav · 6 B" },
        ],
      },
    ],
  ],
  [
    "OpenTelemetry",
    [
      {
        role: "assistant",
        parts: [
          { type: "text", content: "yes" },
          { type: "tool_call", id: "t", name: "look", arguments: { a: 1 } },
        ],
      },
    ],
    [{ role: "assistant", parts: [{ is: "text", text: "yes" }, call({ a: 1 }, "t")] }],
  ],
  [
    "posthog-ai's own form of calls",
    [{ role: "assistant", content: [{ type: "function", id: "f", function: { name: "look", arguments: { a: 1 } } }] }],
    [{ role: "assistant", parts: [call({ a: 1 }, "f")] }],
  ],
  ["LangChain", [{ type: "human", content: "hi" }], [{ role: "user", parts: [{ is: "text", text: "hi" }] }]],
  [
    "images by address are text",
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://tracker.test/x.png" } }] }],
    [{ role: "user", parts: [{ is: "file", what: "image", about: "https://tracker.test/x.png" }] }],
  ],
  [
    "wrong types stay visible",
    [3, null, { role: 7, content: 8 }, { role: "user", content: [{ type: "text", text: 5 }, [1]] }, { constructor: 1 }],
    [
      { role: "user", parts: [{ is: "other", value: 3 }] },
      { role: "user", parts: [{ is: "other", value: 8 }] },
      {
        role: "user",
        parts: [
          { is: "other", value: { type: "text", text: 5 } },
          { is: "other", value: [1] },
        ],
      },
      { role: "user", parts: [{ is: "other", value: { constructor: 1 } }] },
    ],
  ],
  ["nothing", null, []],
];

describe("messages", () => {
  test.each(rows)("%s", (_, value, expected) => {
    expect(messagesOf(value, "user")).toMatchObject(expected);
    expect(messagesOf(value, "user")).toHaveLength(expected.length);
  });

  test("many: the last are read", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ role: "user", content: String(i) }));
    const read = messagesOf(many, "user");
    expect([read.length, messageCount(many)]).toEqual([mostMessages, 10_000]);
    expect(read.at(-1)).toEqual({ role: "user", parts: [{ is: "text", text: "9999" }] });
  });

  test("blocks: JSON on lines; text that is none, or too deep, as it is", () => {
    const deep = "[".repeat(5_000) + "]".repeat(5_000);
    expect(blockText('{"a":[1,2]}')).toBe(blockText({ a: [1, 2] }));
    expect([blockText("{no"), blockText(deep), blockText(undefined)]).toEqual(["{no", deep, ""]);
  });
});
