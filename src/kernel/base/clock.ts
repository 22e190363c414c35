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

/** The sim's clock: the machine's time until it is set, frozen or moved. */
export class SimClock implements TimeSource {
  readonly #machine: () => number;
  /** Ahead of the machine, ms; what a clock shows that stands is kept instead. */
  #offset = 0;
  #stands: number | undefined;

  /** @param machine The machine's clock; tests pass their own. @throws RangeError outside `timeRange` */
  constructor(start: ClockStart = realTime, machine: () => number = Date.now) {
    this.#machine = machine;
    this.start(start);
  }

  readonly now = (): number => this.#stands ?? this.#shown();

  #shown(): number {
    return Math.min(Math.max(this.#machine() + this.#offset, timeRange.first), timeRange.last);
  }

  get isReal(): boolean {
    return this.#stands === undefined && this.#offset === 0;
  }

  get isFrozen(): boolean {
    return this.#stands !== undefined;
  }

  /** Shows this time from now on; a frozen clock stays frozen. @throws RangeError outside `timeRange` */
  set(now: number): void {
    if (!isInRange(now)) throw new RangeError(`a clock cannot show ${now}`);
    if (this.#stands === undefined) this.#offset = now - this.#machine();
    else this.#stands = now;
  }

  freeze(): void {
    this.#stands ??= this.#shown();
  }

  run(): void {
    if (this.#stands === undefined) return;
    this.#offset = this.#stands - this.#machine();
    this.#stands = undefined;
  }

  /** What `resume` goes on with, in this process or a later one. */
  get setting(): ClockState {
    return this.#stands === undefined ? { ahead: this.#offset } : { stands: this.#stands };
  }

  get running(): ClockState {
    return { ahead: this.now() - this.#machine() };
  }

  resume(setting: ClockState): void {
    this.#stands = "stands" in setting ? setting.stands : undefined;
    this.#offset = "ahead" in setting ? setting.ahead : 0;
  }

  /** Starts over. @throws RangeError outside `timeRange` */
  start({ at, frozen }: ClockStart): void {
    this.#stands = undefined;
    this.#offset = 0;
    // frozen first: between set and freeze a running clock may reach the next millisecond
    if (frozen) this.freeze();
    if (at !== "real") this.set(at);
  }
}

export const realTime: ClockStart = { at: "real", frozen: false };
