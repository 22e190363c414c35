import { AsyncLocalStorage } from "node:async_hooks";
import type { Attempt } from "./attempt.ts";

/** Guarded requests on their way to a connection: they give it its name and its caller. */
export interface Trail {
  /** Runs `action` with what its connections are for; undefined says that they are for nothing that is guarded. */
  during<T>(attempt: Attempt | undefined, action: () => T): T;
  /** For requests that open their connection elsewhere than below the call which makes them. */
  leave(attempt: Attempt): void;
  /** What the connection to this host, opened now, is for. Each attempt names one connection only. */
  take(host: string): Attempt | undefined;
  /** Sockets that were refused already: what comes over them later is the same call. */
  readonly refused: WeakSet<object>;
}

export function createTrail(): Trail {
  const storage = new AsyncLocalStorage<Attempt | undefined>();
  const taken = new WeakSet<Attempt>();
  // The latest of each host. Only guarded hosts come here, so it stays small.
  const left = new Map<string, Attempt>();
  return {
    during: (attempt, action) => storage.run(attempt, action),
    leave: (attempt) => void left.set(attempt.place.host, attempt),
    take(host) {
      const running = storage.getStore();
      const found = running && !taken.has(running) ? running : left.get(host);
      if (found) taken.add(found);
      left.delete(host);
      return found;
    },
    refused: new WeakSet(),
  };
}
