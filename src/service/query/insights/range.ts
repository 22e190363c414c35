import { lengths, pad } from "../hogql/time.ts";
import { refuse } from "../refusals.ts";
import { type Delta, type Interval, moved, type ProjectCalendar, readDate } from "./dates.ts";
import type { DateRange } from "./shapes.ts";

/** The dates of a query, as wall clocks. Upstream PostHog/posthog posthog/hogql_queries/utils/query_date_range.py. */
export interface Range {
  readonly interval: Interval;
  readonly from: number;
  /** The last ms. */
  readonly to: number;
  /** Time from which events count: usually the start of the interval of `from`. */
  readonly countedFrom: number;
}

export interface RangeOptions {
  readonly interval: Interval;
  /** True if the range ends now, and starts exactly as far back as it says. */
  readonly isExact?: boolean;
  /** Wall clock of the first event, for `all`. */
  earliest(): number;
}

const defaultDays = 7;
const oneDay = lengths.day;

interface Bounds extends Range {
  readonly fromDelta: Delta | undefined;
  readonly toDelta: Delta | undefined;
}

function boundsOf(
  dates: DateRange | null | undefined,
  calendar: ProjectCalendar,
  { interval, isExact = false, earliest }: RangeOptions,
): Bounds {
  const isExplicit = dates?.explicitDate === true;
  const isFine = interval === "minute" || interval === "hour";

  let from = calendar.startOf(calendar.now, "day") - defaultDays * oneDay;
  let fromDelta: Delta | undefined;
  if (dates?.date_from === "all") from = earliest();
  else if (typeof dates?.date_from === "string") {
    const read = readDate(dates.date_from, { calendar, isTruncated: interval !== "minute" && !isExact });
    [from, fromDelta] = [read.wall, read.delta];
  }

  let to = calendar.now;
  let toDelta: Delta | undefined;
  if (dates?.date_to) {
    const read = readDate(dates.date_to, { calendar });
    [to, toDelta] = [read.wall, read.delta];
  }
  const endsNow = isExact && !dates?.date_to;
  if (!endsNow && !isExplicit) {
    const isRelative = !dates?.date_to || toDelta !== undefined;
    if (!isFine) to = calendar.startOf(to, "day") + oneDay - 1;
    else if (isRelative) to = calendar.startOf(to, interval) + (interval === "hour" ? 3_600_000 : 60_000) - 1;
  }
  return { interval, from, to, fromDelta, toDelta, countedFrom: countedFrom() };

  /** Upstream: `use_start_of_interval`. */
  function countedFrom(): number {
    // Weeks are cut off at the day, so that the first one may be incomplete.
    const start = calendar.startOf(from, interval === "week" ? "day" : interval);
    if (isExact) return from;
    if (dates?.date_from === undefined || dates.date_from === null) return start;
    if (isExplicit) return from;
    if (fromDelta === undefined) return start;
    return isFine || (interval === "day" && fromDelta.hours !== undefined) ? from : start;
  }
}

/** The dates of a query. @throws SimError if one is wrong */
export const rangeOf = (dates: DateRange | null | undefined, calendar: ProjectCalendar, options: RangeOptions): Range =>
  boundsOf(dates, calendar, options);

const timeOfDay = (wall: number): number => wall - Math.floor(wall / oneDay) * oneDay;
const at = (wall: number, time: number): number => Math.floor(wall / oneDay) * oneDay + time;

/**
 * The period before, of the same length, at the same times of day. Upstream: `get_compare_period_dates`.
 * @throws SimError if a date is wrong
 */
export function previousRange(
  dates: DateRange | null | undefined,
  calendar: ProjectCalendar,
  options: RangeOptions,
): Range {
  const { interval, from, to, fromDelta, toDelta } = boundsOf(dates, calendar, options);
  const length = to - from;
  let start = from - length;
  let end = from;
  if (interval === "hour") {
    start = at(start, timeOfDay(from));
    const hour = calendar.startOf(start + length, "hour");
    end = hour + (timeOfDay(to) % 3_600_000);
  } else if (interval !== "minute") {
    start = at(start, timeOfDay(from));
    const days = fromDelta?.days ?? 0;
    // "Last 7 days" has eight days: one more keeps the weekdays together.
    if (interval === "day" && days > 0 && days % 7 === 0 && toDelta === undefined) start += oneDay;
    end = at(start + length, timeOfDay(to));
  }
  return shifted(dates, calendar, options, { interval, from: start, to: end });
}

/** The period that starts further back, e.g. `-1m`. @throws SimError if a date is wrong */
export function comparedRange(
  dates: DateRange | null | undefined,
  calendar: ProjectCalendar,
  options: RangeOptions,
  compareTo: string,
): Range {
  const { interval, from, to } = boundsOf(dates, calendar, options);
  const start = readDate(compareTo, { calendar, from }).wall;
  return shifted(dates, calendar, options, { interval, from: start, to: start + to - from });
}

/** The same rule for the first interval as in the range that was moved. */
function shifted(
  dates: DateRange | null | undefined,
  calendar: ProjectCalendar,
  options: RangeOptions,
  range: Pick<Range, "interval" | "from" | "to">,
): Range {
  const { from, countedFrom } = boundsOf(dates, calendar, options);
  const isCut = countedFrom === from;
  const start = calendar.startOf(range.from, range.interval === "week" ? "day" : range.interval);
  return { ...range, countedFrom: isCut ? range.from : start };
}

const mostIntervals = 100_000;

export interface Buckets {
  /** Wall clock of each start. */
  readonly starts: readonly number[];
  /** Index of the interval of an instant; -1 outside of all. */
  indexOf(instant: number): number;
}

export const steps: Readonly<Record<Interval, Delta>> = {
  minute: { minutes: 1 },
  hour: { hours: 1 },
  day: { days: 1 },
  week: { weeks: 1 },
  month: { months: 1 },
};

/** @throws SimError if there are too many */
export function bucketsOf(
  { interval, from, to }: Pick<Range, "interval" | "from" | "to">,
  calendar: ProjectCalendar,
): Buckets {
  const starts: number[] = [];
  const edges: number[] = [];
  const last = calendar.startOf(to, interval);
  for (let wall = calendar.startOf(from, interval); wall <= last; ) {
    if (starts.length === mostIntervals) {
      throw refuse(
        `The date range has more than ${mostIntervals.toLocaleString("en-US")} intervals: use a longer interval.`,
      );
    }
    starts.push(wall);
    edges.push(calendar.instant(wall));
    wall = moved(wall, steps[interval], 1);
  }
  const end = calendar.instant(moved(last, steps[interval], 1));
  return { starts, indexOf: finder(Float64Array.from(edges), end) };
}

/** Finds the interval of an instant: intervals are nearly of the same length, so the first guess is close. */
function finder(edges: Float64Array, end: number): (instant: number) => number {
  const count = edges.length;
  const first = edges[0] ?? 0;
  const length = (end - first) / Math.max(count, 1);
  return (instant) => {
    if (count === 0 || instant < first || instant >= end) return -1;
    let at = Math.min(count - 1, Math.floor((instant - first) / length));
    while (instant < (edges[at] ?? 0)) at--;
    while (at + 1 < count && instant >= (edges[at + 1] ?? 0)) at++;
    return at;
  };
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

function parts(wall: number) {
  const date = new Date(wall);
  return {
    year: date.getUTCFullYear(),
    month: months[date.getUTCMonth()] ?? "",
    day: date.getUTCDate(),
    clock: `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`,
  };
}

/** `9-Jan-2020`. */
export function dayLabel(wall: number): string {
  const { day, month, year } = parts(wall);
  return `${day}-${month}-${year}`;
}

/** `19 – 25 Jan`, cut to the range. */
function weekLabel(start: number, { from, to }: Range): string {
  const day = (wall: number) => Math.floor(wall / oneDay) * oneDay;
  const first = Math.max(day(start), day(from));
  const last = Math.max(Math.min(day(start) + 6 * oneDay, day(to)), first);
  const [a, b] = [parts(first), parts(last)];
  if (first === last) return dayLabel(first);
  if (a.year !== b.year) return `${dayLabel(first)} – ${dayLabel(last)}`;
  return a.month === b.month ? `${a.day}–${b.day} ${b.month}` : `${a.day}-${a.month} – ${b.day}-${b.month}`;
}

/** Label of an interval in charts. Upstream PostHog/posthog posthog/hogql_queries/utils/timestamp_utils.py. */
export function intervalLabel(start: number, range: Range): string {
  const { day, month, year, clock } = parts(start);
  switch (range.interval) {
    case "week":
      return weekLabel(start, range);
    case "month":
      return `${month} ${year}`;
    case "day":
      return `${day}-${month}-${year}`;
    default:
      return `${day}-${month} ${clock}`;
  }
}

/** `2020-01-09`, with the time for intervals shorter than a day. */
export function dayText(start: number, interval: Interval): string {
  const text = new Date(start).toISOString();
  return interval === "hour" || interval === "minute" ? text.slice(0, 19).replace("T", " ") : text.slice(0, 10);
}
