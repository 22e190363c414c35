import { definitionEndpoints } from "../flags/endpoint/definitions.ts";
import { flagEndpoints } from "../flags/endpoint/flags-rows.ts";
import { flagRemoteConfigEndpoints } from "../flags/endpoint/remote-config.ts";
import type { FlagBook } from "../flags/flag-book.ts";
import { captureV1Endpoints } from "../ingest/capture-v1.ts";
import type { Desk } from "../ingest/desk.ts";
import { otelEndpoint } from "../ingest/otel/endpoint.ts";
import { recordingEndpoint } from "../ingest/recordings.ts";
import { sdkEndpoints } from "../ingest/sdk/rows.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";

/** All public endpoints apart from the capture rows, which a start loads first (see sim.ts). */
export const lateIngestionEndpoints = (
  desk: Desk,
  book: FlagBook,
  notice: (text: string) => void,
): Endpoint[] => [
  ...captureV1Endpoints(desk),
  recordingEndpoint(desk),
  otelEndpoint(desk),
  ...flagEndpoints(desk, book, notice),
  ...definitionEndpoints(desk, book),
  ...flagRemoteConfigEndpoints(desk),
  ...sdkEndpoints(desk),
];
