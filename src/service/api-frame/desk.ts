import { setImmediate as turn } from "node:timers/promises";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventReader } from "../../state/journal/event-reader.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import type { Desk } from "../capture/desk.ts";

/** Requests of a key, per kind of endpoint and window. Upstream PostHog/posthog posthog/rate_limit.py. */
const limits = {
  crud: [
    { most: 480, seconds: 60 },
    { most: 4800, seconds: 3600 },
  ],
  analytics: [
    { most: 240, seconds: 60 },
    { most: 1200, seconds: 3600 },
  ],
  query: [
    { most: 240, seconds: 60 },
    { most: 2400, seconds: 3600 },
  ],
  definitions: [{ most: 600, seconds: 60 }],
} as const;

export type Pace = keyof typeof limits;

export const noThrottle: Throttle = { pass() {} };

function waitFor(times: readonly number[], now: number, most: number, seconds: number): number {
  const oldest = times.at(-most);
  return oldest === undefined ? 0 : Math.max(0, oldest + seconds * 1000 - now) / 1000;
}

function refuse(wait: number): never {
  const seconds = Math.ceil(wait);
  const unit = seconds === 1 ? "second" : "seconds";
  throw new SimError("throttled", `Request was throttled. Expected available in ${seconds} ${unit}.`, {
    retryAfter: seconds,
  });
}

/** Sliding windows: the times of the last requests are kept for as long as they count. Refused requests do not count. */
export function createThrottle(clock: TimeSource) {
  const seen = new Map<string, number[]>();
  return {
    /** Counts a request of the key. @throws SimError throttled */
    pass(key: string, pace: Pace) {
      const now = clock.now();
      const windows = limits[pace];
      const longest = Math.max(...windows.map((it) => it.seconds)) * 1000;
      const times = (seen.get(`${pace} ${key}`) ?? []).filter(
        // Times after now were seen before the clock was set back.
        (time) => time > now - longest && time <= now,
      );
      const wait = Math.max(...windows.map((it) => waitFor(times, now, it.most, it.seconds)));
      if (wait > 0) refuse(wait);
      times.push(now);
      seen.set(`${pace} ${key}`, times);
    },
  };
}

export type Throttle = ReturnType<typeof createThrottle>;

export interface ResourceDesk extends Omit<Desk, "people"> {
  readonly people: PersonStore;
  readonly events: EventReader;
  /** Rate limits; a sim without them has one that lets everything pass. */
  readonly throttle: Throttle;
}

/** Number of events read before other work gets its turn. */
const turnEvents = 200;

/** Events one after another; other work gets its turn between them. */
export async function* calmly(events: Iterable<StoredEvent | undefined>): AsyncGenerator<StoredEvent> {
  let looked = 0;
  for (const event of events) {
    if (event) yield event;
    if (!event || ++looked % turnEvents === 0) await turn();
  }
}
