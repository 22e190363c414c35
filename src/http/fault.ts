import type { Call } from "./call.ts";
import type { Family } from "./endpoint.ts";
import type { Reply, Transport } from "./reply.ts";

/** What is to go wrong with one call, or what is to be said to it. */
export interface CallFault {
  /** A scripted answer is no fault, and is marked as what it is; absent: a fault. */
  readonly source?: "script";
  /** The rules' names; the journal and the answer's mark carry it. */
  readonly name: string;
  /** Time before anything else happens, ms of real time. */
  readonly delay: number;
  /** Given in place of the handler's answer: the handler does not run, and nothing is kept. */
  readonly answer?: Reply;
  /** How the handler's answer is changed on its way out. */
  readonly change?: (reply: Reply) => Reply;
  /** What the door does with the handler's answer; what was sent is kept nevertheless. */
  readonly transport?: Transport;
  /** Flags that the evaluation fails: every second one, or these. Read by the handler. */
  readonly flags?: "partial" | readonly string[];
  /** What the project has used up. Read by the handlers. */
  readonly quota?: readonly string[];
}

/** Where the app asks what is to go wrong. */
export interface FaultPort {
  /** Is any rule in force? All that a call pays while there is none. */
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

/** The reply as a fault leaves it. */
export function faulted(reply: Reply, fault: CallFault): Reply {
  const mark = fault.source === "script" ? { scripted: true as const } : { fault: fault.name };
  const changed: Reply = { ...(fault.change?.(reply) ?? reply), ...mark };
  if (fault.transport === undefined) return changed;
  changed.transport = fault.transport;
  // Nobody reads an answer that does not arrive; one that is cut off has its status.
  return fault.transport === "truncate" ? changed : { ...changed, status: 0 };
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
