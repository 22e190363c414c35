import type { Call } from "../../kernel/http/call.ts";
import type { Reply } from "../../kernel/http/reply.ts";

/** Answers a call that is a probe of a check, and notes it; undefined for every other call. */
type ProbeTaker = (call: Call) => Reply | undefined;

/** The checks of reverse proxies that run: their probes are answered apart, and never kept. */
export interface ProbeDesk {
  readonly active: boolean;
  take(call: Call): Reply | undefined;
  /** Adds a check. Returns what ends it. */
  open(taker: ProbeTaker): () => void;
}

export function createProbeDesk(): ProbeDesk {
  const takers = new Set<ProbeTaker>();
  return {
    get active() {
      return takers.size > 0;
    },
    take(call) {
      for (const taker of takers) {
        const reply = taker(call);
        if (reply) return reply;
      }
      return undefined;
    },
    open(taker) {
      takers.add(taker);
      return () => void takers.delete(taker);
    },
  };
}
