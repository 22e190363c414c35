import { inSlices } from "../../kernel/base/work.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { slice } from "../../kernel/http/slice.ts";
import { captureV1Endpoints } from "./capture-v1.ts";
import type { Desk } from "./desk.ts";
import { decodedLimits } from "./packet.ts";
import { recordingEndpoint } from "./recordings.ts";

/** Spans of AI calls from any OpenTelemetry SDK. What reads them is loaded with the first request. */
const otelEndpoint = (desk: Desk): Endpoint => ({
  methods: ["POST"],
  path: "/i/v0/ai/otel",
  family: "capture",
  summary: "Captures the AI spans of OTLP traces (JSON or protobuf) as $ai_… events",
  bodyLimit: decodedLimits.otel,
  async handle(call) {
    const { takeSpans } = await import("./otel/take-spans.ts");
    return inSlices(takeSpans(desk, call));
  },
});

/** What a start does not need: capture v1, session recordings, OpenTelemetry. */
export const furtherCaptureSlice = slice(["desk"], ({ desk }: { readonly desk: Desk }) => [
  ...captureV1Endpoints(desk),
  recordingEndpoint(desk),
  otelEndpoint(desk),
]);
