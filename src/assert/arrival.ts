import type { JsonObject } from "../base/json.ts";
import type { StoredEvent } from "../journal/event.ts";
import type { EventFilter } from "../journal/log/traffic-log.ts";
import { namesIn } from "./asked-pattern.ts";
import type { AssertDesk } from "./desk.ts";
import { endingOf } from "./gone.ts";
import { fitsEvent } from "./match/judge.ts";

/** Whether an event that fits has come since this was made. */
export interface Arrival {
  /** Resolves with true as soon as one has come; with false after `ms`, or when the caller or the sim goes. */
  within(ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Listens for an event that a list would show. @param isWanted Asked of events that fit all else */
export function arrivalOf(
  { dispatcher, closing }: Pick<AssertDesk, "dispatcher" | "closing">,
  { event: name, since = 0, until = Number.POSITIVE_INFINITY, ...filter }: EventFilter,
  where: JsonObject,
  isWanted: (event: StoredEvent) => boolean = () => true,
): Arrival {
  let hasCome = false;
  let tell = () => {};
  const stop = dispatcher.listen({
    ...filter,
    names: name === undefined ? namesIn([where]) : new Set([name]),
    tell(event) {
      if (event.seq <= since || event.seq > until || !fitsEvent(where, event) || !isWanted(event)) return;
      hasCome = true;
      tell();
    },
  });
  return {
    async within(ms, signal) {
      if (hasCome) return true;
      const ending = endingOf(signal, closing);
      const timer = setTimeout(ending.end, ms);
      await new Promise<void>((resolve) => {
        tell = resolve;
        if (ending.signal.aborted) resolve();
        else ending.signal.addEventListener("abort", () => resolve());
      });
      clearTimeout(timer);
      ending.release();
      return hasCome;
    },
    close: stop,
  };
}
