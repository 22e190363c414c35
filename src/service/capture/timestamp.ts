import type { Warning } from "../../state/journal/drop-reasons.ts";

const minute = 60_000;
const hour = 60 * minute;

/** Events that are further in the future get the current time. Upstream common/types timestamp.rs. */
export const futureTolerance = 23 * hour;

const firstYear = Date.parse("0000-01-01T00:00:00Z");

const calendar =
  /^([+-]?\d{4,6})[-/](\d{1,2})[-/](\d{1,2})(?:[Tt ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/;
const rfc2822 = /^(?:[A-Za-z]{3},\s*)?(\d{1,2})(\s+[A-Za-z]{3}\s+\d{4})\s+\d{2}:\d{2}(?::\d{2})?\s+\S{1,6}$/;
const clockText = String.raw`(?:,?\s+(?<hours>\d{1,2}):(?<minutes>\d{2})(?::(?<seconds>\d{2}))?(?:\.(?<fraction>\d{1,9}))?\s*(?<half>am|pm|AM|PM)?)?`;
const monthName = String.raw`(?<name>[A-Za-z]{3,9})\.?`;

/** Dates in other orders, as the crate dateparser reads them. */
const otherOrders = [
  ...["/", "-", String.raw`\.`].map((by) => String.raw`(?<month>\d{1,2})${by}(?<day>\d{1,2})${by}(?<year>\d{4}|\d{2})`),
  String.raw`(?<year>\d{4})\.(?<month>\d{1,2})\.(?<day>\d{1,2})`,
  String.raw`(?<year>\d{4})-${monthName}-(?<day>\d{2})`,
  String.raw`${monthName}\s+(?<day>\d{1,2}),\s+(?<year>\d{4}|\d{2})`,
  String.raw`(?<day>\d{1,2})\s+${monthName}\s+(?<year>\d{4}|\d{2})`,
  String.raw`(?<year>\d{4})年(?<month>\d{2})月(?<day>\d{2})日`,
].map((date) => new RegExp(`^${date}${clockText}$`));

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const monthsInFull = "january february march april may june july august september october november december".split(" ");

function monthOf(name: string): number {
  const text = name.toLowerCase();
  const at = text.length === 3 ? months.indexOf(text) : monthsInFull.indexOf(text);
  return at === -1 ? Number.NaN : at + 1;
}

/** Two digits are from 1970 to 2069. */
function yearOf(text: string): number {
  const year = Number(text);
  return text.length > 2 ? year : year + (year < 70 ? 2000 : 1900);
}

function hoursOf(text: string, half: string | undefined): number {
  const hours = Number(text);
  if (half === undefined) return hours < 24 ? hours : Number.NaN;
  return hours < 1 || hours > 12 ? Number.NaN : (hours % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
}

function parseOtherOrder(text: string): number {
  for (const pattern of otherOrders) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) continue;
    const { year = "", month, name = "", day = "", hours = "0", minutes = "0", seconds = "0" } = groups;
    const { fraction = "", half } = groups;
    if (Number(minutes) > 59 || Number(seconds) > 59) return Number.NaN;
    const clock = hoursOf(hours, half) * hour + Number(minutes) * minute + Number(seconds) * 1000;
    const date = utcOf(yearOf(year), month === undefined ? monthOf(name) : Number(month), Number(day));
    return date + clock + Number(fraction.slice(0, 3).padEnd(3, "0"));
  }
  return Number.NaN;
}

const epoch = /^\d{1,16}(?:\.\d{1,9})?$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Epoch seconds stay below this until the year 5138, milliseconds are above it since 1973. */
const firstMilliseconds = 1e11;

/** `+02`, `+0230` or `+02:30` in ms. */
function zoneOffset(zone: string | undefined): number {
  if (!zone || !/^[+-]/.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "");
  const size = Number(digits.slice(0, 2)) * hour + Number(digits.slice(2)) * minute;
  return zone.startsWith("-") ? -size : size;
}

/** Date.UTC reads years below 100 as 19xx; setUTCFullYear does not. */
function utcOf(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // a day that the month does not have is in another month
  return date.getUTCMonth() === month - 1 ? date.getTime() : Number.NaN;
}

function parseCalendar(text: string): number {
  const [, year, month, day, hours = "0", minutes = "0", seconds = "0", fraction = "", zone] =
    calendar.exec(text) ?? [];
  if (year === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return Number.NaN;
  const clock = Number(hours) * hour + Number(minutes) * minute + Number(seconds) * 1000;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  return utcOf(Number(year), Number(month), Number(day)) + clock + milliseconds - zoneOffset(zone);
}

function parseOther(text: string): number {
  if (calendar.test(text)) return parseCalendar(text);
  const [, day, month] = rfc2822.exec(text) ?? [];
  if (day !== undefined) return isDay(Date.parse(`${day}${month} GMT`), day) ? Date.parse(text) : Number.NaN;
  if (!epoch.test(text)) return parseOtherOrder(text);
  const number = Number(text);
  return Math.floor(number < firstMilliseconds ? number * 1000 : number);
}

/** Date.parse reads 30 February as 1 March, and 24:00 as the next day. */
const isDay = (time: number, day: string): boolean => new Date(time).getUTCDate() === Number(day);

/** `YYYY-MM-DDTHH:MM:SSZ` and `….mmmZ`, as all JavaScript SDKs send. */
const isUsual = (text: string): boolean =>
  (text.length === 24 || text.length === 20) && text.endsWith("Z") && text.charCodeAt(10) === 0x54;

/**
 * A time in a form that the service reads, as ms since the epoch; NaN for others: RFC 3339,
 * short offsets (`+03`), no zone (UTC), date only, `/` dates, months by name, RFC 2822, epoch seconds and
 * milliseconds. A date without a time is midnight, where the service takes the time of arrival.
 */
export function parseTime(text: string): number {
  if (isUsual(text)) {
    const time = Date.parse(text);
    if (isDay(time, text.slice(8, 10))) return time;
  }
  return parseOther(text.trim());
}

/** A time in RFC 3339, as in capture v1; NaN for others. */
export const parseRfc3339 = (text: string): number => (rfc3339.test(text) ? parseCalendar(text) : Number.NaN);

interface Timing {
  timestamp: string | null | undefined;
  /** ms before arrival; replaces the timestamp. */
  offset: number | null | undefined;
  /** The sender's clock at sending, ms since the epoch. */
  sentAt: number | undefined;
  /** Arrival, ms since the epoch. */
  now: number;
  ignoreSentAt: boolean;
}

interface Timed {
  time: number;
  warning?: Warning;
}

function rawTime({ timestamp, offset, sentAt, now, ignoreSentAt }: Timing): Timed {
  if (typeof offset === "number") return { time: now - offset };
  if (timestamp === undefined || timestamp === null) return { time: now };
  const time = parseTime(timestamp);
  if (Number.isNaN(time)) return { time: now, warning: "ignored_invalid_timestamp" };
  return { time: sentAt === undefined || ignoreSentAt ? time : time + (now - sentAt) };
}

export function eventTime(timing: Timing): Timed {
  const raw = rawTime(timing);
  if (raw.time > timing.now + futureTolerance) return { time: timing.now, warning: "timestamp_in_the_future" };
  if (!(raw.time >= firstYear)) return { time: 0 };
  return raw;
}
