import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { key, openEdge } from "../edge.ts";

const json = { authorization: `Bearer ${key}`, "content-type": "application/json" };
const protobuf = { ...json, "content-type": "application/x-protobuf" };

/** Attributes of OTLP's JSON. */
const attributes = (given: object) =>
  Object.entries(given).map(([name, value]) => ({
    key: name,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));

const span = (given: object, more: object = {}) => ({
  traceId: "0102030405060708090a0b0c0d0e0f10",
  spanId: "0102030405060708",
  name: "chat",
  startTimeUnixNano: "1780000000000000000",
  endTimeUnixNano: "1780000001500000000",
  attributes: attributes(given),
  ...more,
});

const request = (spans: readonly object[], resource: object = {}) => ({
  resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ spans }] }],
});

const post = (body: unknown, headers: Record<string, string> = json, edge = openEdge()) =>
  edge.send({ target: "/i/v0/ai/otel", headers, body });

/** The one event of a span with these attributes. */
async function eventOf(given: object, more: object = {}) {
  const { events } = await post(request([span(given, more)]));
  expect(events).toHaveLength(1);
  return events[0];
}

/** A varint: seven bits a byte, the lowest first; the highest bit says that another byte follows. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
/** Protobuf by hand: a field with a size is `field number * 8 + 2`, its size, its bytes. */
const sized = (field: number, content: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(Buffer.byteLength(content))]), Buffer.from(content)]);
/** A fixed64: `field number * 8 + 1`, eight bytes. */
const fixed = (field: number, value: bigint): Buffer => {
  const bytes = Buffer.alloc(9, field * 8 + 1);
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
};
/** KeyValue { key = 1, value = 2 { content } } */
const pair = (name: string, content: Buffer): Buffer => sized(9, Buffer.concat([sized(1, name), sized(2, content)]));

/** ExportTraceServiceRequest.resource_spans = 1, .scope_spans = 2, .spans = 2, and the fields of a span. */
const inRequest = (...fields: Buffer[]): Buffer => sized(1, sized(2, sized(2, Buffer.concat(fields))));

const operation = pair("gen_ai.operation.name", sized(1, "chat"));

describe("/i/v0/ai/otel", () => {
  test("a span becomes an event; the journal keeps the event as the body", async () => {
    const edge = openEdge();
    const body = request([span({ "gen_ai.operation.name": "chat", "gen_ai.system": "x" })], {
      "service.name": "app",
      "host.name": "noise",
      "user.id": "u-1",
    });
    const {
      status,
      json: answer,
      events,
      note,
    } = await post(gzipSync(JSON.stringify(body)), { ...json, "content-encoding": "gzip" }, edge);
    expect([status, answer, note.steps]).toEqual([200, {}, ["gzip", "otlp"]]);
    expect(events).toMatchObject([
      { event: "$ai_generation", distinct_id: "u-1", timestamp: "2026-05-28T20:26:40.000Z", outcome: "kept" },
    ]);
    expect(events[0]?.properties).toEqual({
      $geoip_disable: true,
      $ip: "127.0.0.1",
      $lib: "posthog-otel",
      "service.name": "app",
      $ai_trace_id: "0102030405060708090a0b0c0d0e0f10",
      $ai_span_id: "0102030405060708",
      $ai_ingestion_source: "otel",
      $ai_span_name: "chat",
      $ai_provider: "x",
      $ai_latency: 1.5,
    });
  });

  test("protobuf: values of each kind, unknown fields", async () => {
    const { status, events, note } = await post(
      inRequest(
        sized(1, Buffer.alloc(16, 1)),
        sized(2, Buffer.alloc(8, 2)),
        sized(5, "chat é"),
        fixed(7, 1_780_000_000_000_000_000n),
        operation,
        pair("minus", Buffer.from([3 * 8, 0xfe, ...Array.from({ length: 8 }, () => 0xff), 1])),
        pair("large", Buffer.from([3 * 8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10])),
        pair("double", fixed(4, 0x3ff8_0000_0000_0000n)),
        pair("yes", Buffer.from([2 * 8, 1])),
        pair("bytes", sized(7, Buffer.from([171, 205]))),
        pair("list", sized(5, sized(1, sized(1, "a")))),
        pair("object", sized(6, sized(1, Buffer.concat([sized(1, "__proto__"), sized(2, sized(1, "b"))])))),
        pair("none", Buffer.alloc(0)),
        // trace_state = 3, flags = 16 (fixed32)
        sized(3, "x"),
        Buffer.from([0x85, 1, 0, 0, 0, 0]),
      ),
      protobuf,
    );
    expect([status, note.steps]).toEqual([200, ["protobuf", "otlp"]]);
    expect(events[0]).toMatchObject({ event: "$ai_generation", timestamp: "2026-05-28T20:26:40.000Z" });
    const { minus, large, double, yes, bytes, list, object, none, $ai_span_name } = events[0]?.properties ?? {};
    expect([minus, large, double, yes, bytes, list, none, $ai_span_name]).toEqual([
      ...[-2, 2 ** 53, 1.5, true, "abcd", ["a"], undefined, "chat é"],
    ]);
    expect(JSON.stringify(object)).toBe('{"__proto__":"b"}');
  });

  const nested = (depth: number): Buffer => {
    let value = sized(1, "x");
    for (let i = 0; i < depth; i++) value = sized(5, sized(1, value));
    return value;
  };

  const damaged: [string, Buffer, RegExp][] = [
    ["cut off", inRequest(operation).subarray(0, 20), /buffer underflow/],
    ["a size beyond the end", Buffer.from([10, 0xff, 0xff, 3]), /buffer underflow/],
    ["an endless number", Buffer.alloc(40, 0xff), /invalid varint/],
    ["a group", Buffer.from([11]), /invalid wire type/],
    ["field 0", Buffer.from([2, 0]), /invalid tag/],
    ["a number where a message is", Buffer.from([8, 1]), /invalid wire type: 0 \(expected 2\)/],
    ["text that is no UTF-8", inRequest(sized(5, Buffer.from([255]))), /not UTF-8/],
    ["text", Buffer.from("hello"), /Invalid protobuf/],
  ];
  test.each(damaged)("damaged protobuf is refused: %s", async (_, body, why) => {
    const { status, text, events } = await post(body, protobuf);
    expect([status, events]).toEqual([400, []]);
    expect(text).toMatch(/^failed to parse request: Invalid protobuf: /);
    expect(text).toMatch(why);
  });

  test("nesting, and empty messages that would fill the memory", async () => {
    expect((await post(inRequest(operation, pair("deep", nested(20))), protobuf)).status).toBe(200);
    const deep = await post(inRequest(operation, pair("deep", nested(60))), protobuf);
    expect([deep.status, deep.text]).toEqual([400, expect.stringMatching(/recursion limit reached/)]);
    const many = Buffer.alloc(2 * 600_000);
    for (let at = 0; at < many.length; at += 2) many[at] = 10;
    const { status, text } = await post(many, protobuf);
    expect([status, text]).toEqual([400, expect.stringMatching(/more than 500000 messages/)]);
  });

  const ai = { "gen_ai.operation.name": "chat" };
  const refused: [string, unknown, Record<string, string>, number, RegExp][] = [
    ["nothing", Buffer.alloc(0), json, 400, /^request missing data payload$/],
    ["no key", request([]), { "content-type": "application/json" }, 401, /without an api_key/],
    ["a personal key", request([]), { ...json, authorization: "Bearer phx_1234" }, 401, /personal_api_key$/],
    ["an unknown key", request([]), { ...json, authorization: "Bearer phc_no" }, 401, /Project API key invalid/],
    [
      "a type like JSON",
      request([]),
      { ...json, "content-type": "application/json/evil" },
      400,
      /Content-Type must be/,
    ],
    ["another type", request([]), { ...json, "content-type": "text/plain" }, 400, /Content-Type must be/],
    ["another encoding", request([]), { ...json, "content-encoding": "br" }, 400, /Unsupported content-encoding: br/],
    ["damaged gzip", Buffer.from([31, 139, 1]), { ...json, "content-encoding": "gzip" }, 400, /invalid GZIP data/],
    ["no JSON", "{", json, 400, /^failed to parse request: Invalid JSON: /],
    ["a list", "[]", json, 400, /Invalid OTLP trace format/],
    ["no list", { resourceSpans: 1 }, json, 400, /`resourceSpans` is not a list/],
    ["spans that are none", request([1 as never]), json, 400, /`spans\[0\]` is not an object/],
    [
      "too much when unpacked",
      gzipSync(Buffer.alloc(5 * 1024 * 1024, 32)),
      { ...json, "content-encoding": "gzip" },
      413,
      /larger than 4194304 bytes/,
    ],
    ["101 AI spans", request(Array.from({ length: 101 }, () => span(ai))), json, 400, /Too many AI spans: 101 exceeds/],
    ["1001 spans", request(Array.from({ length: 1001 }, () => span({}))), json, 400, /Too many spans: 1001 exceeds/],
    [
      "a resource that is repeated too often",
      request(
        Array.from({ length: 100 }, () => span(ai)),
        { large: "x".repeat(300_000) },
      ),
      json,
      413,
      /decoded payload is larger/,
    ],
  ];
  test.each(refused)("refused: %s", async (_, body, headers, status, why) => {
    const outcome = await post(body, headers);
    expect([outcome.status, outcome.events]).toEqual([status, []]);
    expect(outcome.text).toMatch(why);
  });

  test("an unknown key in the dialect of the service: 200, and the events are dropped", async () => {
    const edge = openEdge("production");
    const { status, events } = await post(request([span(ai)]), { ...json, authorization: "Bearer phc_no" }, edge);
    expect([status, events[0]?.reason]).toEqual([200, "unknown_project_key"]);
  });

  test("keys are masked", async () => {
    const { note } = await post(request([span({ ...ai, said: "phx_secret_key_1234" })]));
    expect(note.redacted).toBe(true);
    expect(note.text).not.toContain("secret_key");
  });

  test("spans that are not about AI are dropped, and named", async () => {
    const { status, events } = await post(request([span({ "http.method": "GET" }, { name: "GET /" }), span(ai)]));
    expect(status).toBe(200);
    expect(events.map((it) => [it.event, it.reason, it.properties.$otel_span_name])).toEqual([
      ["$otel_span", "not_an_ai_span", "GET /"],
      ["$ai_generation", null, undefined],
    ]);
  });

  test("spans without a user share an id: of the session, else of the trace", async () => {
    const other = { traceId: "ff".repeat(16) };
    const ids = async (given: object) =>
      Promise.all([eventOf({ ...ai, ...given }), eventOf({ ...ai, ...given }, other)]).then((all) =>
        all.map((it) => it?.distinct_id),
      );
    const [one, two] = await ids({});
    expect(one).not.toBe(two);
    expect((await ids({}))[0]).toBe(one);
    expect(new Set(await ids({ "gen_ai.conversation.id": "c" })).size).toBe(1);
  });

  test("the Vercel AI SDK", async () => {
    const wrapper = await eventOf({
      "ai.operationId": "ai.generateText",
      "ai.prompt": '{"prompt":"x"}',
      "ai.prompt.messages": '[{"role":"user","content":"hi"}]',
      "ai.response.text": "hello",
      "ai.telemetry.metadata.posthog_distinct_id": "u-2",
    });
    expect(wrapper).toMatchObject({
      event: "$ai_trace",
      distinct_id: "u-2",
      properties: {
        $ai_lib: "opentelemetry/vercel-ai",
        $ai_input_state: { role: "user", content: "hi" },
        $ai_output_state: { role: "assistant", content: "hello" },
      },
    });
    expect(Object.keys(wrapper?.properties ?? {}).filter((it) => it.startsWith("ai."))).toEqual([]);
    const tool = await eventOf(
      { "ai.operationId": "ai.toolCall", "ai.toolCall.name": "look", "ai.toolCall.args": '{"a":1}' },
      { parentSpanId: "aa".repeat(8) },
    );
    expect(tool).toMatchObject({
      event: "$ai_span",
      properties: { $ai_span_name: "look", $ai_input_state: { a: 1 }, $ai_parent_id: "aa".repeat(8) },
    });
    expect((await eventOf({ "ai.operationId": "ai.streamText.doStream" }))?.event).toBe("$ai_generation");
    expect((await eventOf({ "ai.operationId": "ai.embed.doEmbed" }))?.event).toBe("$ai_embedding");
  });

  test("OpenLLMetry", async () => {
    const event = await eventOf({
      "llm.request.type": "chat",
      "gen_ai.prompt.1.content": "hi",
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.0.role": "system",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.tool_calls.0.name": "look",
      "traceloop.entity.name": "x",
    });
    expect(event).toMatchObject({
      event: "$ai_generation",
      properties: {
        $ai_input: [{ role: "system" }, { role: "user", content: "hi" }],
        $ai_output_choices: [{ role: "assistant", tool_calls: [{ name: "look" }] }],
        $ai_lib: "opentelemetry/traceloop",
      },
    });
  });

  test("OpenInference", async () => {
    const event = await eventOf({
      "openinference.span.kind": "LLM",
      "llm.model_name": "m",
      "llm.token_count.prompt": 7,
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "hi",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "look",
      "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
      "input.value": "hi",
    });
    expect(event).toMatchObject({
      event: "$ai_generation",
      properties: {
        $ai_model: "m",
        $ai_input_tokens: 7,
        $ai_input: [{ role: "user", content: "hi" }],
        $ai_output_choices: [
          {
            role: "assistant",
            tool_calls: [{ id: null, type: "function", function: { name: "look", arguments: "{}" } }],
          },
        ],
      },
    });
  });

  test("system instructions, and messages of the older conventions", async () => {
    const event = await eventOf({
      ...ai,
      events:
        '[{"event.name":"gen_ai.user.message","content":"hi"},{"event.name":"gen_ai.choice","message":{"content":"yes"}}]',
      "gen_ai.system_instructions": '[{"type":"text","content":"short"}]',
    });
    expect(event?.properties).toMatchObject({
      $ai_input: [
        { role: "system", content: "short" },
        { role: "user", content: "hi" },
      ],
      $ai_output_choices: [{ content: "yes" }],
    });
  });
});
