import type { FlagBook } from "../flags/book.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Desk } from "../model/desk.ts";
import { captureV1Endpoints } from "./capture-v1.ts";
import { definitionEndpoints } from "./definitions.ts";
import { flagRemoteConfigEndpoints } from "./flag-remote-config.ts";
import { flagEndpoints } from "./flags.ts";
import { recordingEndpoints } from "./recordings.ts";
import { sdkEndpoints } from "./sdk/index.ts";

/** Every public endpoint but the capture rows, which a start loads first (see sim.ts). */
export const lateIngestionEndpoints = (
  desk: Desk,
  book: FlagBook,
  notice: (text: string) => void,
): Endpoint[] => [
  ...captureV1Endpoints(desk),
  ...recordingEndpoints(desk),
  ...flagEndpoints(desk, book, notice),
  ...definitionEndpoints(desk, book),
  ...flagRemoteConfigEndpoints(desk),
  ...sdkEndpoints(desk),
];
