import type { Happened } from "../kernel/agenda.ts";
import type { ClockFacts } from "../kernel/clock-facts.ts";
import type { ControlCall } from "./call.ts";

export type { ClockFacts, Happened };

/** A time: a date, ISO 8601 (UTC unless it says otherwise), or ms since 1970. */
export type Moment = Date | string | number;

/** Where every timestamp of the sim comes from. Timeouts, and how long a wait waits, stay real time. */
export interface Clock {
  now(): Promise<Date>;
  /** The time, whether it stands or is the machine's, and when something is due. */
  get(): Promise<ClockFacts>;
  /**
   * Goes to a time, also backwards, and performs nothing; a frozen clock stays frozen there unless told.
   * `real` goes back to the machine's time. @throws ControlError before 1970 and after 9999
   */
  set(time: Moment, options?: { frozen?: boolean }): Promise<ClockFacts>;
  /**
   * Moves on by a duration (`1h`, `90s`, `1d12h`, or ms), performing what becomes due on the way at its time.
   * Returns what came about, in order. @throws ControlError
   */
  advance(by: string | number): Promise<Happened[]>;
  /** Stands still, where it is or at a time. */
  freeze(at?: Moment): Promise<ClockFacts>;
  /** Runs on from where it stands. */
  resume(): Promise<ClockFacts>;
}

const momentOf = (time: Moment): string | number => (time instanceof Date ? time.getTime() : time);

export function clockBy(call: ControlCall): Clock {
  const get = () => call<ClockFacts>("GET", "clock");
  const put = async (body: { now?: string | number; frozen?: boolean | undefined }): Promise<ClockFacts> => {
    const { hint: _, ...facts } = await call<ClockFacts & { hint: string | null }>("PUT", "clock", body);
    return facts;
  };
  return {
    now: async () => new Date((await get()).now),
    get,
    set: (time, { frozen } = {}) => put({ now: momentOf(time), frozen }),
    advance: async (by) => (await call<{ happened: Happened[] }>("POST", "clock/advance", { by })).happened,
    freeze: (at) => put({ ...(at !== undefined && { now: momentOf(at) }), frozen: true }),
    resume: () => put({ frozen: false }),
  };
}
