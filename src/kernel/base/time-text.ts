import { type ClockStart, isInRange } from "./clock.ts";
import { isObject } from "./json.ts";

const momentShape = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * A time in ISO 8601 as ms since the epoch: a day, or a day and a time with or without seconds and an offset.
 * Without an offset it is UTC, whatever the machine's zone. Undefined for anything else, for days that no
 * calendar has, and for times before 1970 or after 9999.
 */
export function readMoment(text: string): number | undefined {
  const found = momentShape.exec(text.trim());
  if (!found) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = found;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const isDay = new Date(midnight).getUTCDate() === Number(day) && Number(month) >= 1 && Number(month) <= 12;
  if (!isDay || h > 23 || m > 59 || s > 59) return undefined;
  const time = midnight + ((h * 60 + m) * 60 + s) * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
  const moment = time - offsetOf(zone);
  return isInRange(moment) ? moment : undefined;
}

/** `+02:00` in ms. */
function offsetOf(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith("-") ? -1 : 1) * minutes * 60_000;
}

/** The units of a duration, in ms. */
const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

const part = /(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d|w)/g;
const durationShape = /^(?:\d{1,15}(?:\.\d{1,6})?(?:ms|s|m|h|d|w))+$/;

/** A duration such as `90s`, `1h`, `1d12h` in whole ms; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  if (!durationShape.test(text)) return undefined;
  const sum = [...text.matchAll(part)].reduce(
    (total, [, count, unit = ""]) => total + Number(count) * (units[unit] ?? 0),
    0,
  );
  return Number.isSafeInteger(Math.round(sum)) ? Math.round(sum) : undefined;
}

const words = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** ms as the two largest units that say it: `12 d 3 h`, `250 ms`. */
export function durationText(ms: number): string {
  const size = Math.abs(ms);
  const at = words.findIndex(([, unit]) => size >= unit);
  if (at === -1) return `${Math.round(ms)} ms`;
  let rest = size;
  const parts = words.slice(at, at + 2).flatMap(([unit, length]) => {
    const whole = Math.floor(rest / length);
    rest -= whole * length;
    return whole === 0 ? [] : [`${whole} ${unit}`];
  });
  return `${ms < 0 ? "-" : ""}${parts.join(" ")}`;
}

/** A time as JSON gives it: ISO 8601, or whole ms since the epoch. */
export function readTime(value: unknown): number | undefined {
  if (typeof value === "string") return readMoment(value);
  return typeof value === "number" && isInRange(value) ? value : undefined;
}

export const clockStartExpected = `"real", a time such as 2025-06-01T12:00:00Z, or {"now": a time, "frozen": true or false}`;

/** How a clock is to start, as options and scenarios give it; undefined when it is none of that. */
export function readClockStart(value: unknown): ClockStart | undefined {
  if (!isObject(value)) return startAt(value, false);
  const { now = "real", frozen = false, ...others } = value;
  if (Object.keys(others).length > 0 || typeof frozen !== "boolean") return undefined;
  return startAt(now, frozen);
}

function startAt(value: unknown, frozen: boolean): ClockStart | undefined {
  const at = value === "real" ? value : readTime(value);
  return at === undefined ? undefined : { at, frozen };
}

/** True for an IANA name, or an offset such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
