import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { slice } from "../../../kernel/http/slice.ts";
import type { Desk } from "../desk.ts";
import { acceptedCallEndpoints, telemetryEndpoints } from "./accepted-calls.ts";
import { promptEndpoints, publicListEndpoints } from "./lists.ts";
import { remoteConfigEndpoints } from "./remote-config.ts";
import { openScripts, siteAppEndpoints, staticScriptEndpoints } from "./static-scripts.ts";

/** posthog-js may be installed beside the app (the working folder) or beside the sim. */
const besideAppAndSim = (): string[] => [process.cwd(), import.meta.dirname];

/** @param starts Folders from which posthog-js is searched, upwards */
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

export const sdkSlice = slice(["desk"], ({ desk }: { readonly desk: Desk }) => sdkEndpoints(desk));
