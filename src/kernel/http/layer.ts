import { clearTimeout, setTimeout } from "../base/real-time.ts";
import type { Call, CallFault } from "./call.ts";
import type { Rejection, Reply } from "./reply.ts";

/** What is below a layer: the next one, at last the row of the call. Errors are replies there already. */
export type Next = () => Reply | Promise<Reply>;

/** Stands between a call and its row: answers by itself, or passes the call on and may change the reply. */
export type Layer = (call: Call, next: Next) => Reply | Promise<Reply>;

export function through(layers: readonly Layer[], call: Call, core: Next, at = 0): Reply | Promise<Reply> {
  const layer = layers[at];
  return layer === undefined ? core() : layer(call, () => through(layers, call, core, at + 1));
}

export interface Decider {
  /** True while it has something to decide; while it has not, calls only read this. */
  readonly active: boolean;
  /** Decides about a call, and counts it. The path's parameters are filled in, and what the layers above decided. */
  take(call: Call): CallFault | undefined;
}

/** Once a layer has an answer, those below it decide nothing. All decide as calls arrive; `delivering` waits. */
export const deciding =
  (decider: Decider): Layer =>
  (call, next) => {
    const above = call.fault;
    if (!decider.active || above?.answer !== undefined) return next();
    const own = decider.take(call);
    if (own === undefined) return next();
    call.fault = above === undefined ? own : { ...own, ...above, delay: above.delay + own.delay };
    const reply = next();
    return reply instanceof Promise ? reply.then((it) => changed(it, own)) : changed(reply, own);
  };

function changed(given: Reply, { change, transport: ordered }: CallFault): Reply {
  const reply = change?.(given) ?? given;
  const transport = ordered ?? reply.transport;
  if (transport === undefined) return reply;
  // An answer that does not arrive has no status; one that is cut off has.
  const isBegun = transport === "truncate" || transport === "cut";
  return { ...reply, transport, status: isBegun ? reply.status : 0 };
}

interface Delivery {
  readonly closing: AbortSignal;
  onWait(call: Call): void;
  /** Fills the record of a call that no row sees. */
  identify(call: Call, adopts: boolean): void;
}

/** The lowest layer: waits as long as those above have decided, and gives their answer, or else the row's. */
export function delivering({ closing, onWait, identify }: Delivery): Layer {
  async function deliver(call: Call, fault: CallFault, next: Next): Promise<Reply> {
    if (fault.delay > 0) {
      onWait(call);
      await pause(fault.delay, call.signal, closing);
    }
    const answer = await fault.answer;
    if (answer === undefined) return next();
    identify(call, false);
    return { ...answer, rejection: refusalOf(fault, answer) };
  }
  return (call, next) => (call.fault === undefined ? next() : deliver(call, call.fault, next));
}

/** Why a call counts as rejected whose answer replaces the row's; undefined where that is no refusal. */
const refusalOf = ({ transport, rejection }: CallFault, answer: Reply): Rejection | undefined =>
  transport === undefined && answer.status < 400 ? undefined : rejection;

/** Resolves after `ms`, or as soon as one of the signals ends. Never rejects. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signals.some((it) => it.aborted)) return done();
    for (const signal of signals) signal.addEventListener("abort", done);
  });
}
