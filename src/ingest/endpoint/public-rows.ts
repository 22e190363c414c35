import { definitionEndpoints } from "../../flags/endpoint/definitions.ts";
import { flagEndpoints } from "../../flags/endpoint/flags-rows.ts";
import { flagRemoteConfigEndpoints } from "../../flags/endpoint/remote-config.ts";
import type { FlagBook } from "../../flags/flag-book.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { captureV1Endpoints } from "../capture-v1.ts";
import type { Desk } from "../desk.ts";
import { recordingEndpoint } from "../recordings.ts";
import { sdkEndpoints } from "../sdk/sdk-rows.ts";

/** Every public endpoint but the capture rows, which a start loads first (see sim.ts). */
export const lateIngestionEndpoints = (
  desk: Desk,
  book: FlagBook,
  notice: (text: string) => void,
): Endpoint[] => [
  ...captureV1Endpoints(desk),
  recordingEndpoint(desk),
  ...flagEndpoints(desk, book, notice),
  ...definitionEndpoints(desk, book),
  ...flagRemoteConfigEndpoints(desk),
  ...sdkEndpoints(desk),
];
