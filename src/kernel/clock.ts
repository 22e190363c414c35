/** Where every timestamp of the sim comes from. Milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands still until it is told otherwise. */
export interface SettableClock extends Clock {
  set(now: number): void;
}

export function fixedClock(start: number): SettableClock {
  let now = start;
  return {
    now: () => now,
    set: (next) => {
      now = next;
    },
  };
}
