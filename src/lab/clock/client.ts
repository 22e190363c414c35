import type { Happened } from "../../kernel/base/agenda.ts";
import type { ControlCall } from "../../kernel/call/call.ts";
import { knownOptions } from "../../kernel/call/option-keys.ts";
import type { ClockFacts } from "./shapes.ts";

export type { ClockFacts, Happened };

/** A time: a date, ISO 8601 (default zone: UTC), or ms since 1970. */
export type Moment = Date | string | number;

/** The source of every timestamp of the sim. Timeouts and waits use real time. */
export interface Clock {
  now(): Promise<Date>;
  /** The time, whether it is frozen or the machine's, and when the next work is due. */
  get(): Promise<ClockFacts>;
  /**
   * Sets the time, also backwards; performs no work that is due. A frozen clock stays frozen (default).
   * `real` restores the machine's time. @throws ControlError before 1970 and after 9999
   */
  set(time: Moment, options?: { frozen?: boolean }): Promise<ClockFacts>;
  /**
   * Advances by a duration (`1h`, `90s`, `1d12h`, or ms) and performs the work that becomes due, each at its time.
   * Returns that work, in order. @throws ControlError
   */
  advance(by: string | number): Promise<Happened[]>;
  /** Stops the clock, at its current time or at another one. */
  freeze(at?: Moment): Promise<ClockFacts>;
  /** Lets the clock run from its current time. */
  resume(): Promise<ClockFacts>;
}

const momentOf = (time: Moment): string | number => (time instanceof Date ? time.getTime() : time);

export function clockBy(call: ControlCall): Clock {
  const get = () => call<ClockFacts>("GET", "clock");
  const put = async (body: { now?: string | number; frozen?: boolean | undefined }): Promise<ClockFacts> => {
    const { hint: _, ...facts } = await call<ClockFacts & { hint: string | null }>("PUT", "clock", body);
    return facts;
  };
  return withOptions({
    now: async () => new Date((await get()).now),
    get,
    set: (time, { frozen } = {}) => put({ now: momentOf(time), frozen }),
    advance: async (by) => (await call<{ happened: Happened[] }>("POST", "clock/advance", { by })).happened,
    freeze: (at) => put({ ...(at !== undefined && { now: momentOf(at) }), frozen: true }),
    resume: () => put({ frozen: false }),
  });
}

const withOptions = knownOptions<Clock>("clock", { set: { 1: ["frozen"] } });
