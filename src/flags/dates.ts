import type { Json } from "../kernel/json.ts";
import { FlagFailure } from "./reasons.ts";
import { numberOf } from "./values.ts";

const relative = /^-?(\d+)([hdwmy])$/;
const spelled =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?(Z|z|[+-]\d{2}:\d{2})?$/;

const day = 86_400_000;

/** Back by calendar months, to the month's last day where the day does not exist. */
function monthsBefore(now: number, months: number): number {
  const date = new Date(now);
  const dayOfMonth = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(dayOfMonth, last));
  return date.getTime();
}

const units: Record<string, (now: number, count: number) => number> = {
  h: (now, count) => now - (count * day) / 24,
  d: (now, count) => now - count * day,
  w: (now, count) => now - count * 7 * day,
  m: (now, count) => monthsBefore(now, count),
  y: (now, count) => monthsBefore(now, count * 12),
};

/** `-3d` and alike: always in the past, the sign does not matter. NaN when it is not of that form. */
function relativeTime(text: string, now: number): number {
  const found = relative.exec(text);
  const count = Number(found?.[1]);
  return found && count < 10_000 ? (units[found[2] ?? ""]?.(now, count) ?? Number.NaN) : Number.NaN;
}

function minutesOf(offset: string | undefined): number {
  if (offset === undefined || /^z$/i.test(offset)) return 0;
  const [hours = "0", minutes = "0"] = offset.slice(1).split(":");
  return (offset.startsWith("-") ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** RFC 3339, a date, or a naive date and time, which is read as UTC. NaN when it is not of that form. */
function spelledTime(text: string): number {
  const found = spelled.exec(text);
  if (!found) return Number.NaN;
  const [, year, month, date, hour = "0", minute = "0", second = "0", fraction = "0", offset] = found;
  if (offset !== undefined && found[4] === undefined) return Number.NaN;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(date));
  const isReal = new Date(midnight).toISOString().startsWith(`${year}-${month}-${date}`);
  if (!isReal || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return Number.NaN;
  const minutes = Number(hour) * 60 + Number(minute) - minutesOf(offset);
  return midnight + minutes * 60_000 + (Number(second) + Number(fraction)) * 1000;
}

/**
 * A date's text as ms since the epoch; NaN when it is none. Without an offset it is UTC.
 * @throws FlagFailure for other spellings, which upstream hands to a lenient parser.
 */
export function timeOfText(text: string, now: number): number {
  const time = relative.test(text) ? relativeTime(text, now) : spelledTime(text);
  if (Number.isNaN(time) && /\d/.test(text) && !relative.test(text))
    throw new FlagFailure("unsupported_date");
  return time;
}

/** A property as ms since the epoch: numbers and numeric text are seconds (so "2024" is in 1970). */
export function timeOfProperty(value: Json, now: number): number {
  const seconds = numberOf(value);
  if (!Number.isNaN(seconds)) return seconds * 1000;
  return typeof value === "string" ? timeOfText(value, now) : Number.NaN;
}
