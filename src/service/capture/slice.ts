import { slice } from "../../kernel/http/slice.ts";
import { captureV1Endpoints } from "./capture-v1.ts";
import type { Desk } from "./desk.ts";
import { otelEndpoint } from "./otel/endpoint.ts";
import { recordingEndpoint } from "./recordings.ts";

/** What a start does not need: capture v1, session recordings, OpenTelemetry. */
export const furtherCaptureSlice = slice(["desk"], ({ desk }: { readonly desk: Desk }) => [
  ...captureV1Endpoints(desk),
  recordingEndpoint(desk),
  otelEndpoint(desk),
]);
