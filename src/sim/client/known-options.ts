import { keysOf, type MethodOptions } from "../../kernel/call/option-keys.ts";
import { eventOptions } from "../../lab/assert/events-api.ts";
import { clockOptions } from "../../lab/clock/client.ts";
import type { GuardOptions } from "../../lab/egress/blocked-call.ts";
import { answerOptions } from "../../lab/faults/answers-client.ts";
import { lintOptions } from "../../lab/lint/client.ts";
import { personOptions } from "../../lab/person-history/client.ts";
import { proxyOptions } from "../../lab/proxy-check/client.ts";
import { stateOptions } from "../../lab/scenario/state/client.ts";
import { recordingOptions } from "../../lab/sessions/client.ts";
import { tapeOptions } from "../../lab/tapes/client.ts";
import { exportOptions } from "../../service/batch-exports/client.ts";
import { flagOptions } from "../../service/flags/client.ts";
import { queryOptions } from "../../service/query/client.ts";
import type { ProjectOptions } from "./api.ts";
import { trafficOptions } from "./generate.ts";

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
