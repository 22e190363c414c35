import { ROOT_CONTEXT, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim();
});
afterEach(() => sim.close());

type Options = ConstructorParameters<typeof JsonExporter>[0];

const exporters: Readonly<Record<string, (options: Options) => JsonExporter | ProtobufExporter>> = {
  JSON: (options) => new JsonExporter(options),
  protobuf: (options) => new ProtobufExporter(options),
};
const kinds = Object.keys(exporters).flatMap((kind) =>
  (["none", "gzip"] as const).map((compression) => [kind, compression] as const),
);

/** An agent that asks a model, whose provider fails at the second time; and a span that is not about AI. */
function work(provider: TracerProvider): void {
  const tracer = provider.getTracer("agent", "1.2.3");
  const agent = tracer.startSpan("answer", { attributes: { "gen_ai.operation.name": "invoke_agent" } });
  const inAgent = trace.setSpan(ROOT_CONTEXT, agent);
  const chat = tracer.startSpan(
    "chat gpt-4o-mini",
    {
      startTime: [1_780_000_000, 0],
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-mini",
        "gen_ai.usage.input_tokens": 812,
        "gen_ai.usage.output_tokens": 164,
        "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: "hi" }] }]),
        "gen_ai.request.temperature": 0.25,
        "gen_ai.response.finish_reasons": ["stop"],
        "posthog.distinct_id": "customer-1",
      },
    },
    inAgent,
  );
  chat.end([1_780_000_001, 20_000_000]);
  const failed = tracer.startSpan("chat gpt-4o", { attributes: { "gen_ai.operation.name": "chat" } }, inAgent);
  failed.recordException({ name: "RateLimitError", message: "HTTP 429" });
  failed.setStatus({ code: SpanStatusCode.ERROR, message: "rate limited" });
  failed.end();
  tracer.startSpan("GET /", { attributes: { "http.request.method": "GET" } }, inAgent).end();
  agent.end();
}

test.each(kinds)("the exporter for %s, compression %s", async (kind, compression) => {
  const exporter = exporters[kind]?.({
    url: `${sim.url}/i/v0/ai/otel`,
    headers: { authorization: `Bearer ${sim.apiKey}` },
    compression: compression as never,
  });
  if (!exporter) throw new Error("no exporter");
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  work(provider);
  await provider.forceFlush();
  await provider.shutdown();

  const events = await sim.events.list({ filter: "is:kept" });
  expect(events.map((it) => it.event).toSorted()).toEqual(["$ai_generation", "$ai_generation", "$ai_trace"]);
  const root = events.find((it) => it.event === "$ai_trace");
  const [chat, failed] = events.filter((it) => it.event === "$ai_generation");
  expect(root?.properties).toMatchObject({ $ai_span_name: "answer", $lib: "posthog-otel", $lib_version: "1.2.3" });
  expect(chat).toMatchObject({
    distinct_id: "customer-1",
    timestamp: new Date(1_780_000_000_000).toISOString(),
    properties: {
      $ai_trace_id: root?.properties.$ai_trace_id,
      $ai_parent_id: root?.properties.$ai_span_id,
      $ai_model: "gpt-4o-mini",
      $ai_provider: "openai",
      $ai_input_tokens: 812,
      $ai_output_tokens: 164,
      $ai_latency: 1.02,
      $ai_input: [{ role: "user", parts: [{ type: "text", content: "hi" }] }],
      "gen_ai.request.temperature": 0.25,
      "gen_ai.response.finish_reasons": ["stop"],
      $ai_ingestion_source: "otel",
    },
  });
  expect(failed?.properties).toMatchObject({
    $ai_is_error: true,
    $ai_error: "RateLimitError: HTTP 429",
    $ai_http_status: 429,
  });
  // one id for all spans of a trace that names no user
  expect(failed?.distinct_id).toBe(root?.distinct_id);

  const [other] = await sim.events.list({ filter: "is:dropped" });
  expect(other).toMatchObject({ reason: "not_an_ai_span", properties: { $otel_span_name: "GET /" } });
});
