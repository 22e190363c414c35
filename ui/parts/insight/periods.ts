import { numberText, spanText } from "../text.ts";

/** Names of the service's intervals and retention periods, in lower case. */
const lengths = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** When a result was computed, and in which time zone its days are. */
export interface Setting {
  /** ms since the epoch. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** A local time as if it were UTC, ms: results have local times without a zone. NaN if the text is none. */
const localMs = (day: string): number => Date.parse(`${day.slice(0, 10)}T${/\d\d:\d\d/.exec(day)?.[0] ?? "00:00"}:00Z`);

/** The current local time of the project in the same form. */
function localNow({ now, timeZone }: Setting): number {
  const parts = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return Date.parse(`${parts.format(now).replace(" ", "T")}Z`);
}

/** The start of the period that is `count` periods after the one of this day. */
function later(day: string, interval: string, count: number): number {
  const start = localMs(day);
  if (interval in lengths) return start + count * lengths[interval as keyof typeof lengths];
  const at = new Date(start);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + count, 1);
}

/** True if the period `count` periods after this day is not over yet. */
export const isUnfinished = (day: string, interval: string, setting: Setting, count = 0): boolean =>
  later(day, interval, count + 1) > localNow(setting);

/** True if the period `count` periods after this day has begun. */
export const hasBegun = (day: string, interval: string, setting: Setting, count = 0): boolean =>
  later(day, interval, count) <= localNow(setting);

/** The start of a period in short: `9 Nov`, `14:00`, `Nov 2026`. */
export function dayText(day: string, interval: string): string {
  const at = new Date(localMs(day));
  if (Number.isNaN(at.getTime())) return day;
  if (["second", "minute", "hour"].includes(interval)) return at.toISOString().slice(11, 16);
  const month = months[at.getUTCMonth()] ?? "";
  return interval === "month" ? `${month} ${at.getUTCFullYear()}` : `${at.getUTCDate()} ${month}`;
}

/** The start of a period for a table: `2026-11-09`, `2026-11-09 14:00`. */
export const wholeDay = (day: string): string => day.slice(0, 16).replace("T", " ").replace(" 00:00", "");

/** How numbers are written. */
export type Format = (value: number) => string;

const rounded = (digits: number): Format => {
  const scale = 10 ** digits;
  return (value) => numberText(Math.round(value * scale) / scale);
};

const plainNumber = rounded(2);

export const percentText: Format = (value) => `${rounded(1)(value)} %`;

const formats: Readonly<Record<string, Format>> = {
  duration: (value) => spanText(value * 1_000),
  duration_ms: spanText,
  percentage: percentText,
  percentage_scaled: (value) => percentText(value * 100),
};

/** Fields of the service's `trendsFilter` about numbers. */
export interface NumberLook {
  readonly aggregationAxisFormat?: string | null;
  readonly aggregationAxisPrefix?: string | null;
  readonly aggregationAxisPostfix?: string | null;
  readonly decimalPlaces?: number | null;
}

/** The format that an insight asks for (default: at most two decimals). */
export function formatOf(look: NumberLook = {}): Format {
  const { decimalPlaces } = look;
  const digits = typeof decimalPlaces === "number" && decimalPlaces >= 0 ? Math.min(10, decimalPlaces) : 2;
  const format = formats[look.aggregationAxisFormat ?? ""] ?? (digits === 2 ? plainNumber : rounded(digits));
  const [before, after] = [look.aggregationAxisPrefix ?? "", look.aggregationAxisPostfix ?? ""];
  return before + after === "" ? format : (value) => before + format(value) + after;
}
