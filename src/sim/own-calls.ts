import type { TimeSource } from "../kernel/base/clock.ts";
import { performance } from "../kernel/base/real-time.ts";
import type { Incoming, Outgoing, Send } from "../kernel/call/call.ts";
import { ControlError } from "../kernel/call/errors.ts";
import type { App } from "../kernel/http/app.ts";
import { type Call, callFrom, pathOf } from "../kernel/http/call.ts";

interface OwnCalls {
  app: App;
  clock: TimeSource;
  url: string;
  publicUrl: string | undefined;
  closing: AbortSignal;
}

const closed = () => new ControlError(0, { code: "sim_closed", detail: "the sim was closed" });

/** Calls of the client in this process. What is pending is rejected when the sim closes, or the call's signal ends. */
export function ownCalls(sim: OwnCalls): Send {
  const { host } = new URL(sim.url);
  const pending = new Set<(reason: unknown) => void>();
  sim.closing.addEventListener("abort", () => {
    for (const end of [...pending]) end(closed());
  });
  return ({ signal, ...asked }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (sim.closing.aborted) return reject(closed());
      // most calls are answered at once and never look at a signal
      let gone: AbortController | undefined;
      const signalOf = () => {
        gone ??= new AbortController();
        return gone.signal;
      };
      const end = (reason: unknown) => {
        reject(reason);
        gone?.abort(reason);
      };
      const leave = () => end(signal?.reason);
      pending.add(end);
      signal?.addEventListener("abort", leave, { once: true });
      answer(sim, host, asked, signalOf)
        .then(resolve, reject)
        .finally(() => {
          pending.delete(end);
          signal?.removeEventListener("abort", leave);
        });
    });
}

async function answer(
  { app, clock, publicUrl }: OwnCalls,
  host: string,
  { method, path, body }: Outgoing,
  signal: () => AbortSignal,
): Promise<Incoming> {
  const bytes = Buffer.from(body ?? "");
  const parts = { method, target: path, headers: { host }, rawHeaders: [], peer: "127.0.0.1", signal };
  const times = { at: clock.now(), started: performance.now() };
  const callWith = (content: Buffer): Call =>
    callFrom({ ...parts, ...times, body: content, transport: "fetch", publicUrl });
  const isTooLarge = bytes.length > app.bodyLimit(method, pathOf(path));
  const reply = await (isTooLarge ? app.refuseTooLarge(callWith(Buffer.alloc(0))) : app.handle(callWith(bytes)));
  return { status: reply.status, body: reply.body ?? "" };
}
