import type { Json } from "../../../kernel/base/json.ts";
import { lenientTime } from "./lenient-dates.ts";
import { numberOf } from "./values.ts";
import { wallClockOf, type Zone } from "./zone.ts";

const relative = /^-?(\d+)([hdwmy])$/;
const offsetTime = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;
const naiveTime = /^(\d{1,4})-(\d{1,2})-(\d{1,2})(?:(?:T|\s+)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d+)?)?)?$/;

const hour = 3_600_000;
const day = 24 * hour;

/** Days of a month that may lie outside of 1–12. */
const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Back month by month; a day that a month lacks becomes its last and stays that. Upstream as below. */
function monthsBefore(wallClock: number, months: number, step: 1 | 12): number {
  const date = new Date(wallClock);
  let day = date.getUTCDate();
  let month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  for (let i = 0; i < months; i++) {
    month -= step;
    day = Math.min(day, daysIn(Math.floor(month / 12), (month % 12) + 1));
  }
  return date.setUTCFullYear(Math.floor(month / 12), month % 12, day);
}

const units: Record<string, (wallClock: number, count: number) => number> = {
  h: (wallClock, count) => wallClock - count * hour,
  d: (wallClock, count) => wallClock - count * day,
  w: (wallClock, count) => wallClock - count * 7 * day,
  m: (wallClock, count) => monthsBefore(wallClock, count, 1),
  y: (wallClock, count) => monthsBefore(wallClock, count, 12),
};

/**
 * `-3d` and alike: always in the past, the sign does not matter; calculated on the zone's wall clock. NaN
 * when it is not of that form or 10,000 and more. Upstream PostHog rust/feature-flags, relative_date.
 */
function relativeTime(text: string, now: number, zone: Zone): number {
  const found = relative.exec(text);
  const back = found && units[found[2] ?? ""];
  const count = Number(found?.[1]);
  return back && count < 10_000 ? zone.instant(back(zone.wallClock(now), count)) : Number.NaN;
}

/** RFC 3339. NaN when it is not of that form. */
function timeWithOffset(text: string): number {
  const found = offsetTime.exec(text);
  if (!found) return Number.NaN;
  const [, year, month, date, hours, minutes, seconds, fraction = "0", , sign, awayHours, awayMinutes] = found;
  const whole = Number(seconds) + Number(fraction);
  const wall = wallClockOf(Number(year), Number(month), Number(date), Number(hours), Number(minutes), whole);
  if (sign === undefined) return wall;
  if (Number(awayHours) > 23 || Number(awayMinutes) > 59) return Number.NaN;
  const away = Number(awayHours) * hour + Number(awayMinutes) * 60_000;
  return sign === "-" ? wall + away : wall - away;
}

/** A date, or a date and time, without an offset: the zone's wall clock. NaN when it is not of that form. */
function timeInZone(text: string, zone: Zone): number {
  const found = naiveTime.exec(text);
  if (!found) return Number.NaN;
  const [, year, month, date, hours = "0", minutes = "0", seconds = "0", fraction = "0"] = found;
  const whole = Number(seconds) + Number(fraction);
  return zone.instant(wallClockOf(Number(year), Number(month), Number(date), Number(hours), Number(minutes), whole));
}

/**
 * A date's text as ms since the epoch; NaN when it is none. In this order: relative to now, RFC 3339, a
 * naive date (with time) in the zone, the other spellings in UTC. Upstream PostHog rust/feature-flags,
 * properties/property_matching.
 */
export function timeOfText(text: string, now: number, zone: Zone): number {
  if (relative.test(text)) return relativeTime(text, now, zone);
  if (offsetTime.test(text)) return timeWithOffset(text);
  return naiveTime.test(text) ? timeInZone(text, zone) : lenientTime(text, now);
}

/** Seconds since the epoch as ms. A negative fraction is cut off, NaN is 0. Upstream as above. */
function timeOfSeconds(seconds: number): number {
  if (Number.isNaN(seconds)) return 0;
  const whole = Math.floor(seconds);
  const fraction = Math.max(0, seconds % 1);
  return Math.abs(whole) < 8.3e12 ? (whole + fraction) * 1000 : Number.NaN;
}

/** A property as ms since the epoch: numbers and numeric text are seconds (so "2024" is in 1970). */
export function timeOfProperty(value: Json, now: number, zone: Zone): number {
  const seconds = numberOf(value);
  if (seconds !== undefined) return timeOfSeconds(seconds);
  return typeof value === "string" ? timeOfText(value, now, zone) : Number.NaN;
}
