import type { FaultRules, Taken } from "./rules.ts";

/** What is read of a call; the request core's `Call` has it. */
interface Sent {
  readonly method: string;
  readonly path: string;
}

/** The faults as the request core asks for them. `owner` finds a call's project; it runs only for rules about a project. */
export const faultPort = <C extends Sent, F extends string>(
  faults: FaultRules,
  closing: AbortSignal,
  owner: (call: C, family: F) => number | null,
) => ({
  closing,
  get active() {
    return faults.active;
  },
  take(call: C, family: F): Taken | undefined {
    const { method, path } = call;
    return faults.take({ method, path, family, project: () => owner(call, family) });
  },
});
