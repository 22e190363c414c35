import type { Endpoint } from "../http/endpoint.ts";
import type { Desk } from "../model/desk.ts";
import { captureEndpoints } from "./capture.ts";
import { captureV1Endpoints } from "./capture-v1.ts";
import { definitionEndpoints } from "./definitions.ts";
import { flagEndpoints } from "./flags.ts";
import { flagRemoteConfigEndpoints } from "./flag-remote-config.ts";
import { recordingEndpoints } from "./recordings.ts";
import { sdkEndpoints } from "./sdk/index.ts";

/** Every public endpoint: what SDKs send to and ask. */
export const ingestionEndpoints = (desk: Desk): Endpoint[] => [
  ...captureEndpoints(desk),
  ...captureV1Endpoints(desk),
  ...recordingEndpoints(desk),
  ...flagEndpoints(desk),
  ...definitionEndpoints(desk),
  ...flagRemoteConfigEndpoints(desk),
  ...sdkEndpoints(desk),
];
