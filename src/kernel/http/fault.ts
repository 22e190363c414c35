import { clearTimeout, setTimeout } from "../base/real-time.ts";
import type { Call, CallFault } from "./call.ts";
import type { Family } from "./endpoint.ts";
import type { Reply } from "./reply.ts";

/** Where the app asks what is to go wrong. */
export interface FaultPort {
  /** True while a rule is active; while none is, calls only read this. */
  readonly active: boolean;
  /** Ends every wait: the sim closes. */
  readonly closing: AbortSignal;
  /** Decides about a call, and counts it. The path's parameters are filled in. */
  take(call: Call, family: Family): CallFault | undefined;
}

/** The first port's decision about a call, or else the second's. `closing` is the second's. */
export const eitherPort = (first: Omit<FaultPort, "closing">, second: FaultPort): FaultPort => ({
  closing: second.closing,
  get active() {
    return first.active || second.active;
  },
  take: (call, family) =>
    (first.active ? first.take(call, family) : undefined) ??
    (second.active ? second.take(call, family) : undefined),
});

/** The lower port answers where the upper one leaves a call its answer; what goes wrong with it then touches that. */
export const overlaid = (upper: FaultPort, lower: Omit<FaultPort, "closing">): FaultPort => ({
  closing: upper.closing,
  get active() {
    return upper.active || lower.active;
  },
  take(call, family) {
    const fault = upper.active ? upper.take(call, family) : undefined;
    if (!lower.active || fault?.answer !== undefined) return fault;
    const below = lower.take(call, family);
    if (fault === undefined || below === undefined) return fault ?? below;
    const { answer, rejection, delay, transport } = below;
    return {
      ...(transport && { transport }),
      ...fault,
      delay: fault.delay + delay,
      ...(answer && { answer }),
      ...(rejection && { rejection }),
    };
  },
});

/** How the answer to a call is marked; one of a tape has its own source. */
const marks: Readonly<Record<"fault" | "script" | "tape", (name: string) => Partial<Reply>>> = {
  fault: (name) => ({ fault: name }),
  script: () => ({ scripted: true }),
  tape: () => ({}),
};

/** The reply as a fault leaves it. */
export function faulted(reply: Reply, fault: CallFault): Reply {
  const changed: Reply = {
    ...(fault.change?.(reply) ?? reply),
    ...marks[fault.source ?? "fault"](fault.name),
  };
  if (fault.transport === undefined) return changed;
  changed.transport = fault.transport;
  // An answer that does not arrive has no status; one that is cut off has.
  const isBegun = fault.transport === "truncate" || fault.transport === "cut";
  return isBegun ? changed : { ...changed, status: 0 };
}

/** Resolves after `ms`, or as soon as one of the signals ends. Never rejects. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) {
      if (signal.aborted) done();
      else signal.addEventListener("abort", done);
    }
  });
}
