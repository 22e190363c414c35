import { eventOptions } from "../assert/events-api.ts";
import { clockOptions } from "../clock/client.ts";
import type { GuardOptions } from "../egress/blocked-call.ts";
import { answerOptions } from "../faults/answers-client.ts";
import { keysOf, type MethodOptions } from "../kernel/call/option-keys.ts";
import { lintOptions } from "../lint/client.ts";
import { personOptions } from "../people/client.ts";
import { proxyOptions } from "../proxies/client.ts";
import { stateOptions } from "../scenario/state/client.ts";
import { exportOptions } from "../service/batch-exports/client.ts";
import { flagOptions } from "../service/flags/client.ts";
import { queryOptions } from "../service/query/client.ts";
import { recordingOptions } from "../sessions/client.ts";
import { tapeOptions } from "../tapes/client.ts";
import { trafficOptions } from "../traffic/client.ts";
import type { ProjectOptions } from "./api.ts";

/** The options of all methods of a client. */
export const knownOptions: MethodOptions = {
  ...eventOptions,
  ...personOptions,
  ...flagOptions,
  ...answerOptions,
  ...proxyOptions,
  ...recordingOptions,
  ...lintOptions,
  ...queryOptions,
  ...trafficOptions,
  ...stateOptions,
  ...clockOptions,
  ...exportOptions,
  ...tapeOptions,
  settle: [["idleMs", "timeoutMs"]],
  project: [keysOf<ProjectOptions>({ name: true, flags: true, settings: true, like: true })],
  guard: [keysOf<GuardOptions>({ hosts: true, allow: true })],
};
