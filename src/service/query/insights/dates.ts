import { dayOf, lengths, offsetText, startDay, zoneOf } from "../hogql/time.ts";
import type { QueryProject } from "../kind.ts";
import { refuse } from "../refusals.ts";

export type Interval = "minute" | "hour" | "day" | "week" | "month";

const { minute, hour, day } = lengths;

/** Amounts of units that a relative date goes back, and fields that it sets. Upstream: dateutil's relativedelta. */
export interface Delta {
  readonly years?: number;
  readonly months?: number;
  readonly weeks?: number;
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  /** 1–12. */
  readonly month?: number;
  /** 1–31; a month with fewer days takes its last. */
  readonly day?: number;
  /** A time of day, ms. */
  readonly time?: number;
  /** A time within the hour, ms. */
  readonly timeOfHour?: number;
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

/** A wall clock moved by a delta. `sign` -1 goes back. */
export function moved(wall: number, delta: Delta, sign: 1 | -1): number {
  const date = new Date(wall);
  const timeOfDay = wall - Math.floor(wall / day) * day;
  const months = (delta.years ?? 0) * 12 + (delta.months ?? 0);
  const index = date.getUTCFullYear() * 12 + (delta.month ?? date.getUTCMonth() + 1) - 1 + sign * months;
  const [year, month] = [Math.floor(index / 12), ((index % 12) + 12) % 12];
  const dayOfMonth = Math.min(delta.day ?? date.getUTCDate(), daysIn(year, month));
  const withinHour = timeOfDay % hour;
  const time = delta.time ?? timeOfDay - withinHour + (delta.timeOfHour ?? withinHour);
  const length =
    ((delta.weeks ?? 0) * 7 + (delta.days ?? 0)) * day +
    (delta.hours ?? 0) * hour +
    (delta.minutes ?? 0) * minute +
    (delta.seconds ?? 0) * 1000;
  return Date.UTC(year, month, dayOfMonth) + time + sign * length;
}

/** The local time of a project. A *wall clock* is what a clock there shows, as if it were UTC, ms. */
export type ProjectCalendar = ReturnType<typeof calendarOf>;

export function calendarOf({ now, timeZone, weekStart }: QueryProject) {
  const { wall, instant } = zoneOf(timeZone);
  return {
    now: wall(now),
    wall,
    /** The instant at which a clock shows this; one that is skipped is the moment of the change. */
    instant,
    startOf(wall: number, interval: Interval): number {
      if (interval === "minute" || interval === "hour") return Math.floor(wall / lengths[interval]) * lengths[interval];
      return startDay(dayOf(wall), interval, weekStart) * day;
    },
    /**
     * ISO 8601 with the offset in force, `Z` for zero, and microseconds unless they are zero; the last ms of a second
     * is its last microsecond, with which ranges end.
     */
    iso(wall: number): string {
      const [whole = "", ms = ""] = new Date(wall).toISOString().replace("Z", "").split(".");
      const text = ms === "000" ? whole : `${whole}.${ms}${ms === "999" ? "999" : "000"}`;
      return text + offsetText(wall - instant(wall));
    },
  };
}

const absolute =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** The wall clock of an ISO date, with or without a time and an offset; undefined if it is none. */
export function absoluteDate(text: string, calendar: ProjectCalendar): number | undefined {
  const found = absolute.exec(text);
  if (!found) return undefined;
  const [, year, month, date, hours = "0", minutes = "0", seconds = "0", fraction = "", offset] = found;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(date));
  const isReal =
    new Date(midnight).getUTCDate() === Number(date) && new Date(midnight).getUTCMonth() + 1 === Number(month);
  if (!isReal || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const written = midnight + Number(hours) * hour + Number(minutes) * minute + Number(seconds) * 1000 + ms;
  if (offset === undefined) return written;
  const digits = offset === "Z" ? "0000" : offset.slice(1).replace(":", "");
  const ahead = (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * minute;
  return calendar.wall(written - (offset.startsWith("-") ? -ahead : ahead));
}

const relative = /^[-+]?(\d+)?([hdwmqysM])(Start|End)?$/;
const endOfDay = day - 1;

/** Fields that `Start` and `End` set. Upstream PostHog/posthog posthog/utils.py, `get_delta_mapping_for`. */
const positions: Readonly<Record<string, Delta>> = {
  hStart: { timeOfHour: 0 },
  hEnd: { timeOfHour: hour - 1 },
  dStart: { time: 0 },
  dEnd: { time: endOfDay },
  mStart: { day: 1 },
  mEnd: { day: 31 },
  yStart: { month: 1, day: 1 },
  yEnd: { day: 31 },
};

const units: Readonly<Record<string, (count: number) => Delta>> = {
  h: (hours) => ({ hours }),
  d: (days) => ({ days }),
  w: (weeks) => ({ weeks }),
  m: (months) => ({ months }),
  q: (count) => ({ weeks: 13 * count }),
  y: (years) => ({ years }),
  s: (seconds) => ({ seconds }),
  M: (minutes) => ({ minutes }),
};

/** How far a relative date such as `-7d`, `dStart` or `-1mStart` goes back; undefined if it is none. */
function deltaOf(text: string): Delta | undefined {
  const found = relative.exec(text);
  if (!found) return undefined;
  const [, number, unit = "", position = ""] = found;
  return { ...(number !== undefined && units[unit]?.(Number(number))), ...positions[unit + position] };
}

/** Of the year 1; `Date.UTC` takes it for 1901. */
const firstDay = Date.parse("0001-01-01");

/** A date of a query as a wall clock. @throws SimError if it is neither an ISO date nor a relative one */
export function readDate(
  text: string,
  {
    calendar,
    from = calendar.now,
    isTruncated = false,
  }: { calendar: ProjectCalendar; from?: number; isTruncated?: boolean },
): { wall: number; delta: Delta | undefined } {
  const wall = absoluteDate(text, calendar);
  if (wall !== undefined) return { wall, delta: undefined };
  const delta = deltaOf(text);
  if (!delta) throw refuse(`${JSON.stringify(text)} is not a date: use an ISO date, or a relative one such as -7d.`);
  const back = moved(from, delta, -1);
  // Python has no other years
  if (!(back >= firstDay && back < Date.UTC(10_000, 0)))
    throw refuse(`${JSON.stringify(text)} is out of range: the years go from 1 to 9999.`);
  const unit = delta.hours === undefined ? "day" : "hour";
  return { wall: isTruncated ? calendar.startOf(back, unit) : back, delta };
}
