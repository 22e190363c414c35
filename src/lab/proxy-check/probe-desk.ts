import type { ObservingApp } from "../../kernel/http/app.ts";
import type { Call } from "../../kernel/http/call.ts";
import { finalReply, sentReply } from "../../kernel/http/final-reply.ts";
import type { Reply } from "../../kernel/http/reply.ts";

/** Answers a call that is a probe of a check, and notes it; undefined for every other call. */
type ProbeTaker = (call: Call) => Reply | undefined;

export function createProbeDesk() {
  const takers = new Set<ProbeTaker>();
  return {
    get active() {
      return takers.size > 0;
    },
    take(call: Call) {
      for (const taker of takers) {
        const reply = taker(call);
        if (reply) return reply;
      }
      return undefined;
    },
    open(taker: ProbeTaker) {
      takers.add(taker);
      return () => void takers.delete(taker);
    },
  };
}

/** The checks of reverse proxies that run: their probes are answered apart, and never kept. */
export type ProbeDesk = ReturnType<typeof createProbeDesk>;

/** The app with a layer around it that answers probes, whatever became of their bodies: they are not kept. */
export function answeringProbes(app: ObservingApp, desk: ProbeDesk): ObservingApp {
  const layer = (call: Call, next: (call: Call) => Promise<Reply>): Promise<Reply> => {
    const reply = desk.active ? desk.take(call) : undefined;
    if (reply === undefined) return next(call);
    return Promise.resolve(sentReply(call, finalReply(call, { family: "capture" }, reply)));
  };
  return {
    handle: (call) => layer(call, (it) => app.handle(it)),
    refuseTooLarge: (call) => layer(call, (it) => app.refuseTooLarge(it)),
    abandon: (call, why) => layer(call, (it) => app.abandon(it, why)),
    bodyLimit: (method, path) => app.bodyLimit(method, path),
    observe: (call, given, how) => app.observe(call, given, how),
  };
}
