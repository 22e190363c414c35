import type { Json } from "../../../kernel/base/json.ts";
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
 * The spellings that upstream leaves to a general date parser (Rust's `dateparser` 0.2), tried in this
 * order. Without an offset they are in UTC, whatever the project's zone; without a time they take the
 * present time of day. Parts that a row lacks come from now.
 */

const time = String.raw`(?<hours>\d{1,2}):(?<minutes>\d{2})(?::(?<seconds>\d{2}))?(?<fraction>\.\d{1,9})?`;
const half = String.raw`\s*(?<half>am|pm|AM|PM)?`;
const away = String.raw`\s*(?<away>[+-]\d{2}:?(?:\d{2})?|[A-Za-z]{3,4})`;
const named = `(?<name>[A-Za-z]{3,9})`;

const row = (pattern: string): RegExp => new RegExp(`^${pattern}$`);

const rows: readonly RegExp[] = [
  // Wed, 02 Jun 2021 06:31:39 GMT
  row(String.raw`(?:[A-Za-z]{3},\s+)?(?<date>\d{1,2})\s+(?<name>[A-Za-z]{3})\s+(?<year>\d{4})\s+${time}${away}`),
  // 2014-04-26 05:24:37 PM · 2019-11-29 08:08:05-08 · 2017-11-25 13:31 PST
  row(String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<date>\d{2})\s+${time}${half}`),
  row(String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<date>\d{2})\s+${time}${away}`),
  // 2021-02-21 PST · 2020-07-20+08:00
  row(String.raw`(?<year>\d{4})-(?<month>\d{2})-(?<date>\d{2})${away}`),
  // 01:06:06 · 4:00pm · 6:00 AM PST
  row(`${time}${half}`),
  row(String.raw`${time}${half}\s${away}`),
  // 2021-Feb-21
  row(String.raw`(?<year>\d{4})-${named}-(?<date>\d{2})`),
  // May 6 at 9:24 PM · May 27 02:45:27
  row(String.raw`(?<name>[A-Za-z]{3})\s+(?<date>\d{1,2})\s*(?:at)?\s+${time}${half}`),
  // May 8, 2009 5:57:51 PM · September 17, 2012 at 10:09am PST
  row(String.raw`${named}\.?\s+(?<date>\d{1,2}),\s+(?<year>\d{4}|\d{2}),?\s+${time}${half}`),
  row(String.raw`${named}\s+(?<date>\d{1,2}),?\s+(?<year>\d{4})\s*,?(?:at)?\s+${time}${half}\s${away}`),
  // oct. 7, 1970
  row(String.raw`${named}\.?\s+(?<date>\d{1,2}),\s+(?<year>\d{4}|\d{2})`),
  // 12 Feb 2006, 19:17 · 7 oct 70
  row(String.raw`(?<date>\d{1,2})\s+${named}\s+(?<year>\d{4}|\d{2}),?\s+${time}`),
  row(String.raw`(?<date>\d{1,2})\s+${named}\s+(?<year>\d{4}|\d{2})`),
  // 4/8/2014 22:05 · 8/1/71 · 2014/3/31
  row(String.raw`(?<month>\d{1,2})/(?<date>\d{1,2})/(?<year>\d{4}|\d{2})\s+${time}${half}`),
  row(String.raw`(?<month>\d{1,2})/(?<date>\d{1,2})/(?<year>\d{4}|\d{2})`),
  row(String.raw`(?<year>\d{4})/(?<month>\d{1,2})/(?<date>\d{1,2})\s+${time}${half}`),
  row(String.raw`(?<year>\d{4})/(?<month>\d{1,2})/(?<date>\d{1,2})`),
  // 3.31.2014 · 2014.03.30 · 2014.03
  row(String.raw`(?<month>\d{1,2})\.(?<date>\d{1,2})\.(?<year>\d{4}|\d{2})`),
  row(String.raw`(?<year>\d{4})\.(?<month>\d{1,2})(?:\.(?<date>\d{1,2}))?`),
  // 171113 14:14:20
  row(String.raw`(?<year>\d{2})(?<month>\d{2})(?<date>\d{2})\s+(?<hours>\d{2}):(?<minutes>\d{2}):(?<seconds>\d{2})`),
  // 2014年04月08日11时25分18秒
  row(
    String.raw`(?<year>\d{4})年(?<month>\d{2})月(?<date>\d{2})日(?<hours>\d{2})时(?<minutes>\d{2})分(?<seconds>\d{2})秒`,
  ),
  row(String.raw`(?<year>\d{4})年(?<month>\d{2})月(?<date>\d{2})日`),
];

const months = "january february march april may june july august september october november december".split(" ");

/** 1–12 for a name or its first three letters; NaN for other words. */
function monthOf(name: string): number {
  const wanted = name.toLowerCase();
  const index = months.findIndex((month) => month === wanted || month.slice(0, 3) === wanted);
  return index < 0 ? Number.NaN : index + 1;
}

/** Hours that the zones are behind UTC. Others are not understood. */
const zones: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  EDT: 4,
  EST: 5,
  CDT: 5,
  CST: 6,
  MDT: 6,
  MST: 7,
  PDT: 7,
  PST: 8,
};

/** How far a zone's clocks are ahead of UTC in ms; NaN when it is not understood. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined) return 0;
  const found = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (!found) return -3_600_000 * (zones[zone.toUpperCase()] ?? Number.NaN);
  const ahead = Number(found[2]) * 3_600_000 + Number(found[3] ?? 0) * 60_000;
  return found[1] === "-" ? -ahead : ahead;
}

/** The hour of a day, also of a 12-hour clock with its half of the day; NaN if there is no such hour. */
function hourOf(hours: string, half: string | undefined): number {
  const hour = Number(hours);
  if (half === undefined) return hour;
  if (hour < 1 || hour > 12) return Number.NaN;
  return (hour % 12) + (/pm/i.test(half) ? 12 : 0);
}

/** Two digits are the years 1970–2069. */
const yearOf = (year: string): number =>
  year.length === 2 ? Number(year) + (Number(year) < 70 ? 2000 : 1900) : Number(year);

type Parts = Readonly<Partial<Record<string, string>>>;

function timeOfParts(parts: Parts, now: number): number {
  const offset = offsetOf(parts.away);
  const here = new Date(now + (Number.isNaN(offset) ? 0 : offset));
  const year = parts.year === undefined ? here.getUTCFullYear() : yearOf(parts.year);
  const month = parts.name === undefined ? Number(parts.month ?? here.getUTCMonth() + 1) : monthOf(parts.name);
  const date = Number(parts.date ?? here.getUTCDate());
  if (parts.hours === undefined) return wallClockOf(year, month, date) + (here.getTime() % day) - offset;
  const seconds = Number(parts.seconds ?? 0) + Number(parts.fraction ?? 0);
  return wallClockOf(year, month, date, hourOf(parts.hours, parts.half), Number(parts.minutes), seconds) - offset;
}

const perDigits: Readonly<Record<number, number>> = { 10: 1000, 13: 1, 19: 1e-6 };

/** A date in one of the other spellings as ms since the epoch; NaN when it is none of them. */
function lenientTime(text: string, now: number): number {
  if (/^\d{10,19}$/.test(text)) return Number(text) * (perDigits[text.length] ?? Number.NaN);
  for (const spelling of rows) {
    const found = spelling.exec(text);
    if (found) return timeOfParts(found.groups ?? {}, now);
  }
  return Number.NaN;
}

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
