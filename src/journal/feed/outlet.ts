import { bytesOf } from "./batch.ts";
import type { SimFrame } from "./frames.ts";
import { limits } from "./limits.ts";
import type { Timer, Wire } from "./ports.ts";

/** What a client is told goes through here: nothing waits in a queue of ours. */
export interface Outlet {
  say(frame: SimFrame): void;
  send(bytes: Buffer): void;
  /** Does the other side still take what it gets? */
  hasRoom(): boolean;
  /** To be asked once in a while: has the other side taken nothing for too long? */
  isStalled(): boolean;
}

/** @param onSent Called whenever the system has taken something. */
export function createOutlet(wire: Wire, timer: Timer, onSent: () => void): Outlet {
  let progressAt = timer.now();
  let waiting = 0;
  const progress = () => {
    progressAt = timer.now();
  };
  const sent = () => {
    progress();
    onSent();
  };
  function send(bytes: Buffer): void {
    if (wire.buffered() === 0) progress();
    wire.send(bytes, sent);
  }
  return {
    send,
    say: (frame) => send(bytesOf(frame)),
    hasRoom: () => wire.buffered() < limits.buffered,
    isStalled() {
      const now = wire.buffered();
      if (now === 0 || now < waiting) progress();
      waiting = now;
      return timer.now() - progressAt > limits.stalled;
    },
  };
}
