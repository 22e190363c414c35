import type { SimAccess } from "../../kernel/call/access.ts";
import { callBy, fetchBy, type Send } from "../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import { assertionsOf } from "../../lab/assert/client-assertions.ts";
import { checkedWait } from "../../lab/assert/limits.ts";
import { clockBy } from "../../lab/clock/client.ts";
import type { GuardOptions } from "../../lab/egress/blocked-call.ts";
import { guardProcess } from "../../lab/egress/guard.ts";
import { stateBy } from "../../lab/scenario/state/client.ts";
import { recordingBy, tapesBy } from "../../lab/tapes/client.ts";
import { exportsBy } from "../../service/batch-exports/client.ts";
import type { ProjectOptions, SimClient } from "./api.ts";
import { generateBy, type SimTrafficOptions } from "./generate.ts";
import { projectBy } from "./projects.ts";
import { tenantBy } from "./tenant.ts";

export interface ClientParts extends SimAccess {
  send: Send;
  /** How long waits without a limit of their own may take, ms (default: `PHX_SIM_WAIT`, else 4,000). */
  waitMs?: number | undefined;
  close(): Promise<void>;
}

const clientOptions = knownOptions<SimClient>("", {
  project: [keysOf<ProjectOptions>({ name: true, flags: true, settings: true, like: true })],
  generate: [
    keysOf<SimTrafficOptions>({
      ...{ persona: true, users: true, days: true, until: true, seed: true, project: true },
    }),
  ],
  guard: [keysOf<GuardOptions>({ hosts: true, allow: true })],
});

/** The control API as functions. One interface for a sim in process and one elsewhere. */
export function createClient({ send, close, url, inspectorUrl, waitMs, ...keys }: ClientParts): SimClient {
  const call = callBy(send);
  const tenant = tenantBy({ call }, { ...keys, host: url });
  const assertions = assertionsOf(tenant);
  if (waitMs !== undefined) assertions.waitMs = checkedWait(waitMs, `waitMs: ${waitMs}`);
  return clientOptions({
    ...tenant,
    ...stateBy(call),
    inspectorUrl,
    clock: clockBy(call),
    exports: exportsBy(call, fetchBy(send)),
    tapes: tapesBy(call),
    recording: recordingBy(call),
    project: (options = {}) => projectBy(call, url, options, assertions.waitMs),
    generate: generateBy(call, send),
    guard: (options = {}) => guardProcess({ ...options, url }),
    info: () => call("GET", "info"),
    close,
    async [Symbol.asyncDispose]() {
      const notAwaited = await assertions.endWithReports();
      await close();
      if (notAwaited && !assertions.hasFailed) throw notAwaited;
    },
  });
}
