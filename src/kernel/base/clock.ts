/** Where every timestamp of the sim comes from. Milliseconds since the epoch. */
export interface TimeSource {
  now(): number;
}

export const systemClock: TimeSource = { now: () => Date.now() };

export interface SettableClock extends TimeSource {
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

/** The times that a clock can show, ms since the epoch: 1970 to 9999, which every format can write. */
export const timeRange = { first: 0, last: Date.UTC(9999, 11, 31, 23, 59, 59, 999) } as const;

export const isInRange = (time: number): boolean =>
  Number.isInteger(time) && time >= timeRange.first && time <= timeRange.last;

export const isoOf = (time: number): string => new Date(time).toISOString();

/** How a clock starts: with the machine's time, or at a time (ms since the epoch); frozen there, or running on. */
export interface ClockStart {
  at: number | "real";
  frozen: boolean;
}

export type ClockState = { stands: number } | { ahead: number };

export interface SimClock extends TimeSource {
  readonly isReal: boolean;
  readonly isFrozen: boolean;
  /** Shows this time from now on; a frozen clock stays frozen. @throws RangeError outside `timeRange` */
  set(now: number): void;
  freeze(): void;
  run(): void;
  /** Starts over. @throws RangeError outside `timeRange` */
  start(start: ClockStart): void;
  /** What `resume` goes on with, in this process or a later one. */
  readonly setting: ClockState;
  readonly running: ClockState;
  resume(setting: ClockState): void;
}

/** @param machine The machine's clock; tests pass their own. */
export function createClock(start: ClockStart = realTime, machine: () => number = Date.now): SimClock {
  /** Ahead of the machine, ms; what a clock shows that stands is kept instead. */
  let offset = 0;
  let stands: number | undefined;

  const running = () => Math.min(Math.max(machine() + offset, timeRange.first), timeRange.last);

  const clock: SimClock = {
    now: () => stands ?? running(),
    get isReal() {
      return stands === undefined && offset === 0;
    },
    get isFrozen() {
      return stands !== undefined;
    },
    set(now) {
      if (!isInRange(now)) throw new RangeError(`a clock cannot show ${now}`);
      if (stands === undefined) offset = now - machine();
      else stands = now;
    },
    freeze() {
      stands ??= running();
    },
    run() {
      if (stands === undefined) return;
      offset = stands - machine();
      stands = undefined;
    },
    get setting() {
      return stands === undefined ? { ahead: offset } : { stands };
    },
    get running() {
      return { ahead: clock.now() - machine() };
    },
    resume(setting) {
      stands = "stands" in setting ? setting.stands : undefined;
      offset = "ahead" in setting ? setting.ahead : 0;
    },
    start({ at, frozen }) {
      stands = undefined;
      offset = 0;
      // frozen first: between set and freeze a running clock may reach the next millisecond
      if (frozen) clock.freeze();
      if (at !== "real") clock.set(at);
    },
  };
  clock.start(start);
  return clock;
}

export const realTime: ClockStart = { at: "real", frozen: false };
