import type { Endpoint } from "../kernel/http/endpoint.ts";
import { captureV1Endpoints } from "../service/capture/capture-v1.ts";
import type { Desk } from "../service/capture/desk.ts";
import { otelEndpoint } from "../service/capture/otel/endpoint.ts";
import { recordingEndpoint } from "../service/capture/recordings.ts";
import { sdkEndpoints } from "../service/capture/sdk/rows.ts";
import { definitionEndpoints } from "../service/flags/endpoint/definitions.ts";
import { flagEndpoints } from "../service/flags/endpoint/flags-rows.ts";
import { flagRemoteConfigEndpoints } from "../service/flags/endpoint/remote-config.ts";
import type { FlagBook } from "../service/flags/flag-book.ts";

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
