import { definitionEndpoints } from "../../flags/endpoint/definitions.ts";
import { flagEndpoints } from "../../flags/endpoint/flags-rows.ts";
import { flagRemoteConfigEndpoints } from "../../flags/endpoint/remote-config.ts";
import type { FlagBook } from "../../flags/flag-book.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { captureV1Endpoints } from "../capture-v1.ts";
import type { Desk } from "../desk.ts";
import { otelEndpoint } from "../otel/endpoint.ts";
import { recordingEndpoint } from "../recordings.ts";
import { acceptedCallEndpoints, telemetryEndpoints } from "../sdk/accepted-calls.ts";
import { promptEndpoints, publicListEndpoints } from "../sdk/lists.ts";
import { remoteConfigEndpoints } from "../sdk/remote-config.ts";
import { openScripts, siteAppEndpoints, staticScriptEndpoints } from "../sdk/static-scripts.ts";

/** posthog-js may be installed beside the app (the working folder) or beside the sim. */
const besideAppAndSim = (): string[] => [process.cwd(), import.meta.dirname];

/**
 * The SDKs' endpoints apart from events and flags: remote config, scripts, surveys and others.
 * @param starts Folders from which posthog-js is searched, upwards
 */
export function sdkEndpoints(desk: Desk, starts: readonly string[] = besideAppAndSim()): Endpoint[] {
  const scripts = openScripts(starts);
  return [
    ...remoteConfigEndpoints(desk, scripts),
    ...staticScriptEndpoints(scripts),
    ...publicListEndpoints(desk),
    ...telemetryEndpoints(desk),
    ...promptEndpoints(desk),
    ...acceptedCallEndpoints(desk),
    ...siteAppEndpoints(),
  ];
}

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
