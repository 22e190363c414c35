import { inSlices } from "../../../kernel/base/work.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import type { Desk } from "../desk.ts";
import { decodedLimits } from "../packet.ts";

/** Spans of AI calls from any OpenTelemetry SDK. What reads them is loaded with the first request. */
export const otelEndpoint = (desk: Desk): Endpoint => ({
  methods: ["POST"],
  path: "/i/v0/ai/otel",
  family: "capture",
  summary: "Captures the AI spans of OTLP traces (JSON or protobuf) as $ai_… events",
  bodyLimit: decodedLimits.otel,
  async handle(call) {
    const { takeSpans } = await import("./take-spans.ts");
    return inSlices(takeSpans(desk, call));
  },
});
