import { isTimeZone } from "../../../kernel/base/time-text.ts";
import { zoneOf as flagZone } from "../../flags/engine/zone.ts";
import { Refusal } from "./refusal.ts";
import type { TimeUnit } from "./types.ts";

/** Lengths in ms of units that have one. */
export const lengths = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** A time zone; a *wall* time is what clocks there show, as ms since the epoch as if it were UTC. */
export interface ClockZone {
  readonly name: string;
  wall(instant: number): number;
  /** Of two instants the earlier one; a time that clocks skip is read with the offset before the change. */
  instant(wall: number): number;
}

/** @throws Refusal for a name that is no time zone */
export function zoneOf(name: string): ClockZone {
  if (name === "UTC") return { name, wall: (instant) => instant, instant: (wall) => wall };
  if (!isTimeZone(name)) throw new Refusal(`Unknown time zone ${JSON.stringify(name)}`);
  const { wallClock, instant } = flagZone(name);
  return {
    name,
    wall: wallClock,
    instant(wall) {
      const found = instant(wall);
      return Number.isNaN(found) ? wall - (wallClock(wall - lengths.day) - (wall - lengths.day)) : found;
    },
  };
}

export const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

const dayMs = lengths.day;
export const dayOf = (wall: number): number => Math.floor(wall / dayMs);
/** Monday is 1, Sunday 7. */
export const weekday = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1;

export interface CalendarDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

export function calendar(day: number): CalendarDay {
  const date = new Date(day * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Day number of a date; months outside 1 to 12 go to other years. */
export const dayNumber = (year: number, month: number, day: number): number => {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return dayOf(date.getTime());
};

/** First day of the unit that a day is in; `weekStart` 0 for Sunday, 1 for Monday. */
export function startDay(day: number, unit: TimeUnit, weekStart: 0 | 1 = 1): number {
  const { year, month } = calendar(day);
  if (unit === "week") return day - (weekStart === 1 ? weekday(day) - 1 : weekday(day) % 7);
  if (unit === "month") return dayNumber(year, month, 1);
  if (unit === "quarter") return dayNumber(year, month - ((month - 1) % 3), 1);
  return unit === "year" ? dayNumber(year, 1, 1) : day;
}

/** A day some months later; the last day of the month if it has no such day. */
function addMonths(day: number, months: number): number {
  const from = calendar(day);
  const first = dayNumber(from.year, from.month + months, 1);
  const next = dayNumber(from.year, from.month + months + 1, 1);
  return first + Math.min(from.day, next - first) - 1;
}

const monthsIn: Partial<Record<TimeUnit, number>> = { month: 1, quarter: 3, year: 12 };

/** A day plus a number of days, weeks, months, quarters or years. */
export function addToDay(day: number, unit: TimeUnit, count: number): number {
  const months = monthsIn[unit];
  return months === undefined ? day + count * (unit === "week" ? 7 : 1) : addMonths(day, count * months);
}

/** An instant plus a number of units; days and longer units keep the time on the clock. */
export function addToInstant(instant: number, unit: TimeUnit, count: number, zone: ClockZone): number {
  if (unit === "second" || unit === "minute" || unit === "hour") return instant + count * lengths[unit];
  const wall = zone.wall(instant);
  const day = dayOf(wall);
  return zone.instant(addToDay(day, unit, count) * dayMs + (wall - day * dayMs));
}

/** Number of a unit since the epoch on the clock: differences are how many borders lie between two times. */
export function unitNumber(wall: number, unit: TimeUnit): number {
  const day = dayOf(wall);
  if (unit === "week") return Math.floor((day + 3) / 7);
  const months = monthsIn[unit];
  if (months === undefined) return Math.floor(wall / lengths[unit as "second" | "minute" | "hour" | "day"]);
  const { year, month } = calendar(day);
  return Math.floor((year * 12 + month - 1) / months);
}

/** ISO 8601 week and its year. */
export function isoWeek(day: number): { year: number; week: number } {
  const thursday = day - weekday(day) + 4;
  const { year } = calendar(thursday);
  return { year, week: Math.floor((thursday - dayNumber(year, 1, 1)) / 7) + 1 };
}

export function dayText(day: number): string {
  const { year, month, day: date } = calendar(day);
  return `${pad(year, 4)}-${pad(month)}-${pad(date)}`;
}

/** `12:30:00`, or with microseconds. */
function clockText(wall: number, digits: 0 | 6): string {
  const date = new Date(wall);
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map((it) => pad(it)).join(":");
  return digits === 0 ? time : `${time}.${pad(microseconds(wall), 6)}`;
}

export const microseconds = (wall: number): number => Math.floor((wall - Math.floor(wall / 1000) * 1000) * 1000 + 0.5);

/** As ClickHouse prints it: `2026-01-31 12:30:00`, with `digits` of the second. */
export const timeText = (wall: number, digits: 0 | 6): string => `${dayText(dayOf(wall))} ${clockText(wall, digits)}`;

/** As the service's JSON has it: ISO 8601; `Z` for UTC, no offset without a zone. */
export function isoText(instant: number, zone: ClockZone | undefined): string {
  const wall = zone ? zone.wall(instant) : instant;
  const text = timeText(wall, microseconds(wall) === 0 ? 0 : 6).replace(" ", "T");
  if (!zone) return text;
  return text + offsetText(wall - instant);
}

/** The offset of a zone, ms, as `+02:00`; `Z` for zero. */
export function offsetText(offset: number): string {
  const minutes = Math.round(offset / 60_000);
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

const isoShape =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:[T ]|T )(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const packedShape = /^(\d{4})(\d{2})(\d{2})(?:[T ]?(\d{2})(\d{2})(\d{2}))?$/;
const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const mailShape =
  /^(?:[a-z]{3,9},?\s+)?(\d{1,2})\s+([a-z]{3,9})\s+(\d{4})(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;

const europeanShape =
  /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;

function wallOf(parts: readonly (string | undefined)[], fraction = ""): number | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((it) => Number(it ?? 0));
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined;
  const number = dayNumber(year, month, day);
  if (day < 1 || calendar(number).month !== month) return undefined;
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0")) / 1000;
  return number * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + micros;
}

function shifted(wall: number | undefined, offset: string | undefined, zone: ClockZone): number | undefined {
  if (wall === undefined || offset === undefined) return wall === undefined ? undefined : zone.instant(wall);
  const [, sign, hours, minutes = "0"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  if (sign === undefined) return wall;
  return wall - (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/**
 * A time as `parseDateTimeBestEffort` reads it: ISO 8601, packed digits, Unix seconds and milliseconds, RFC 2822,
 * day/month/year. Undefined for what is no time.
 * @throws Refusal for what may be a time in another form
 */
export function readTime(text: string, zone: ClockZone): number | undefined {
  const trimmed = text.trim();
  if (/^\d{9,10}(?:\.\d{1,6})?$/.test(trimmed)) return Number(trimmed) * 1000;
  if (/^\d{12,13}$/.test(trimmed)) return Number(trimmed);
  const packed = packedShape.exec(trimmed);
  if (packed) return shifted(wallOf(packed.slice(1)), undefined, zone);
  const iso = isoShape.exec(trimmed);
  if (iso) return shifted(wallOf(iso.slice(1, 7), iso[7]), iso[8], zone);
  const [, day, month = "", year, hour, minute, second, offset] = mailShape.exec(trimmed) ?? [];
  const number = monthNames.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  if (number > 0) return shifted(wallOf([year, String(number), day, hour, minute, second]), offset, zone);
  const european = europeanShape.exec(trimmed);
  if (european) {
    const [date, monthText, yearText, ...clock] = european.slice(1, 7);
    return shifted(wallOf([yearText, monthText, date, ...clock]), european[7], zone);
  }
  if (/\d[-/:.]\d|\d{4}/.test(trimmed) && /^[\w ,:./+-]{6,40}$/.test(trimmed))
    throw new Refusal(`The time ${JSON.stringify(trimmed)} is in a form that is not emulated`);
  return undefined;
}

/** A time as the text form of ClickHouse's DateTime: a date, a time, up to six digits of a second. */
export function readPlainTime(text: string, zone: ClockZone): number | undefined {
  const found = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?)?$/.exec(text);
  return found ? shifted(wallOf(found.slice(1, 7), found[7]), undefined, zone) : undefined;
}

/** A day as `toDate` reads it; a time of the form `2026-01-31 12:30:00` may follow. */
export function readDay(text: string): number | undefined {
  const found = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text.length === 19 ? text.slice(0, 10) : text);
  const wall = wallOf((found ?? /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? []).slice(1, 4));
  return found || /^\d{8}$/.test(text) ? wall && dayOf(wall) : undefined;
}
