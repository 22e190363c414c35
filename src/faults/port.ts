import type { CallFacts } from "./call-facts.ts";
import type { FaultRules, Taken } from "./rules.ts";

/** The faults as the request core asks for them. `owner` finds a call's project; it runs only for rules about a project. */
export const faultPort = <C extends Omit<CallFacts, "family" | "project">, F extends string>(
  faults: FaultRules,
  closing: AbortSignal,
  owner: (call: C, family: F) => number | null,
) => ({
  closing,
  get active() {
    return faults.active;
  },
  take(call: C, family: F): Taken | undefined {
    const { method, path, headers } = call;
    return faults.take({ method, path, headers, family, project: () => owner(call, family) });
  },
});
