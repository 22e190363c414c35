import type { Endpoint } from "../../http/endpoint.ts";
import type { Desk } from "../../model/desk.ts";
import { conversationEndpoints } from "./conversations.ts";
import { messagingEndpoints } from "./messaging.ts";
import { promptEndpoints } from "./prompts.ts";
import { publicListEndpoints } from "./public-lists.ts";
import { pushSubscriptionEndpoints } from "./push-subscriptions.ts";
import { remoteConfigEndpoints } from "./remote-config.ts";
import { siteAppEndpoints } from "./site-apps.ts";
import { openScripts, staticScriptEndpoints } from "./static-scripts.ts";
import { telemetryEndpoints } from "./telemetry.ts";

/** posthog-js may be installed beside the app that is developed (the working folder) or beside the sim. */
const besideAppAndSim = (): string[] => [process.cwd(), import.meta.dirname];

/**
 * What SDKs ask for besides events and flags: remote config, scripts, surveys and the like.
 * `starts`: folders from which posthog-js is looked for, upwards.
 */
export function sdkEndpoints(desk: Desk, starts: readonly string[] = besideAppAndSim()): Endpoint[] {
  const scripts = openScripts(starts);
  return [
    ...remoteConfigEndpoints(desk, scripts),
    ...staticScriptEndpoints(scripts),
    ...publicListEndpoints(desk),
    ...telemetryEndpoints(desk),
    ...promptEndpoints(desk),
    ...pushSubscriptionEndpoints(desk),
    ...messagingEndpoints(desk),
    ...conversationEndpoints(desk),
    ...siteAppEndpoints(),
  ];
}
