/**
 * A time zone. A *wall clock* is what a clock there shows, written as if it were UTC (ms since the epoch):
 * dates are calculated on it without regard to clock changes.
 */
export interface Zone {
  /** The wall clock at an instant (ms since the epoch). */
  wallClock(instant: number): number;
  /**
   * The instant at which the wall clock shows this. Of two (clocks go back) the earlier one; NaN when there
   * is none (clocks go forward). Upstream PostHog rust/feature-flags, properties/relative_date.
   */
  instant(wallClock: number): number;
}

export const utc: Zone = { wallClock: (instant) => instant, instant: (wallClock) => wallClock };

const day = 86_400_000;

/** What the zone's clocks differ from UTC at an instant, in ms; whole seconds, as time zones have it. */
function offsetReader(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("en-US-u-ca-gregory-nu-latn", {
    timeZone,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (instant) => {
    const second = Math.floor(instant / 1000) * 1000;
    const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    const year = parts.get("era") === "BC" ? 1 - number("year") : number("year");
    const date = new Date(0);
    date.setUTCFullYear(year, number("month") - 1, number("day"));
    return date.setUTCHours(number("hour"), number("minute"), number("second")) - second;
  };
}

/** Formatting is slow and asked for the same few instants again and again. */
function remembered(read: (instant: number) => number): (instant: number) => number {
  const known = new Map<number, number>();
  return (instant) => {
    // Since 1972 no zone has changed its clocks within a quarter of an hour that begins at a full one.
    const quarter = Math.floor(instant / 900_000);
    const found = known.get(quarter);
    if (found !== undefined) return found;
    if (known.size >= 1000) known.clear();
    const offset = read(instant);
    known.set(quarter, offset);
    return offset;
  };
}

/** The zone of an IANA name; UTC when there is no such name. */
export function zoneOf(name: string): Zone {
  if (name === "UTC") return utc;
  let offset: (instant: number) => number;
  try {
    offset = remembered(offsetReader(name));
  } catch {
    return utc;
  }
  const isInRange = (time: number) => Math.abs(time) < 8.64e15 - day;
  return {
    wallClock: (instant) => (isInRange(instant) ? instant + offset(instant) : Number.NaN),
    instant(wallClock) {
      if (!isInRange(wallClock)) return Number.NaN;
      const candidates = [wallClock - day, wallClock + day].map((near) => wallClock - offset(near));
      const real = candidates.filter((instant) => instant + offset(instant) === wallClock);
      return real.length === 0 ? Number.NaN : Math.min(...real);
    },
  };
}

/** A date and time as a wall clock; NaN if there is no such day or no such time. */
export function wallClockOf(year: number, month: number, date: number, hours = 0, minutes = 0, seconds = 0): number {
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, date);
  const isReal = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === date;
  if (!isReal || hours > 23 || minutes > 59 || seconds >= 61) return Number.NaN;
  return midnight.getTime() + hours * 3_600_000 + minutes * 60_000 + seconds * 1000;
}
