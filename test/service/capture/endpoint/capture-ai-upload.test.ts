import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { key, openEdge } from "../edge.ts";

interface Part {
  name: string;
  content: string | Buffer;
  type?: string;
}

const boundary = "----boundary";

function multipart(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, content, type }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n`),
    Buffer.from(`${type === undefined ? "" : `Content-Type: ${type}\r\n`}\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

const headers = { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${boundary}` };

const event = { event: "$ai_generation", distinct_id: "u" };
const eventPart = (more: object = {}): Part => ({ name: "event", content: JSON.stringify({ ...event, ...more }) });
const model: Part = { name: "event.properties", content: '{"$ai_model":"m"}' };

const post = (parts: readonly Part[] | Buffer, given: Record<string, string> = headers) =>
  openEdge().send({ target: "/i/v0/ai", headers: given, body: Buffer.isBuffer(parts) ? parts : multipart(parts) });

describe("/i/v0/ai", () => {
  test("an event with its properties and blobs beside it", async () => {
    const { status, json, events } = await post([
      eventPart(),
      model,
      { name: "event.properties.$ai_input", content: '[{"role":"user"}]', type: "application/json" },
      { name: "event.properties.$ai_output", content: "two\r\nlines", type: "text/plain" },
      { name: "event.properties.picture", content: Buffer.from([0, 255, 13, 10]), type: "image/png" },
    ]);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      accepted_parts: [
        { name: "event", "content-type": null, "content-encoding": null },
        { name: "event.properties", length: model.content.length },
        { name: "event.properties.$ai_input", "content-type": "application/json" },
        { name: "event.properties.$ai_output", length: 10 },
        { name: "event.properties.picture", "content-type": "image/png", length: 4 },
      ],
    });
    expect(events).toMatchObject([
      {
        event: "$ai_generation",
        distinct_id: "u",
        project: 1,
        properties: {
          $ai_model: "m",
          $ai_input: [{ role: "user" }],
          $ai_output: "two\r\nlines",
          picture: { content_type: "image/png", bytes: 4 },
        },
      },
    ]);
  });

  test("properties inside the event; packed", async () => {
    const body = gzipSync(multipart([eventPart({ properties: { $ai_model: "m" } })]));
    const { status, note } = await post(body, { ...headers, "content-encoding": "gzip" });
    expect([status, note.steps]).toEqual([200, ["gzip"]]);
  });

  const rows: [string, readonly Part[] | Buffer, Record<string, string>, number, RegExp][] = [
    ["nothing", Buffer.alloc(0), headers, 400, /^request missing data payload$/],
    [
      "another content type",
      [eventPart(), model],
      { ...headers, "content-type": "application/json" },
      400,
      /must be multipart/,
    ],
    [
      "no boundary",
      [eventPart(), model],
      { ...headers, "content-type": "multipart/form-data" },
      400,
      /Invalid boundary/,
    ],
    ["no Authorization", [eventPart(), model], { "content-type": headers["content-type"] }, 401, /without an api_key/],
    ["a personal key", [eventPart(), model], { ...headers, authorization: "Bearer phx_1" }, 401, /personal_api_key$/],
    ["no parts at all", Buffer.from("x"), headers, 400, /Multipart parsing failed/],
    ["cut off", multipart([eventPart(), model]).subarray(0, 90), headers, 400, /Multipart parsing failed/],
    ["another part first", [model, eventPart()], headers, 400, /First part must be 'event'/],
    ["an event that is no JSON", [{ name: "event", content: "{" }], headers, 400, /Event part must be valid JSON/],
    [
      "an event that is no UTF-8",
      [{ name: "event", content: Buffer.from([255]) }],
      headers,
      400,
      /Event part must be valid UTF-8/,
    ],
    ["an event that is no object", [{ name: "event", content: "[]" }], headers, 400, /must be a JSON object/],
    ["properties twice", [eventPart({ properties: {} }), model], headers, 400, /cannot have both/],
    [
      "a blob twice",
      [eventPart(), model, { name: "event.properties.a", content: "" }, { name: "event.properties.a", content: "" }],
      headers,
      400,
      /Duplicate blob/,
    ],
    ["another event", [eventPart({ event: "e" }), model], headers, 400, /must start with '\$ai_', got 'e'/],
    ["no name", [eventPart({ event: undefined }), model], headers, 400, /missing 'event' field/],
    ["no distinct_id", [eventPart({ distinct_id: undefined }), model], headers, 400, /missing 'distinct_id'/],
    ["no model", [eventPart({ properties: {} })], headers, 400, /must contain '\$ai_model'/],
    ["an empty model", [eventPart({ properties: { $ai_model: "" } })], headers, 400, /\$ai_model must be/],
  ];
  test.each(rows)("refused: %s", async (_, parts, given, status, text) => {
    const outcome = await post(parts, given);
    expect([outcome.status, outcome.events]).toEqual([status, []]);
    expect(outcome.text).toMatch(text);
    expect(outcome.rejected).toBeDefined();
  });
});
