import { type Zone, zoneOf } from "../../service/flags/engine/zone.ts";
import type { Persona } from "./shapes.ts";

const hour = 3_600_000;
const day = 24 * hour;

/** `2025-06-01` of a wall clock. */
const dateText = (wallClock: number): string => new Date(wallClock).toISOString().slice(0, 10);

/** Midnight of a wall clock. */
const midnightOf = (wallClock: number): number => Math.floor(wallClock / day) * day;

/** When a day begins: at 01:00 where clocks go forward at midnight. */
function startOfDay(zone: Zone, midnight: number): number {
  const instant = zone.instant(midnight);
  return Number.isNaN(instant) ? zone.instant(midnight + hour) : instant;
}

export interface Period {
  /** The end, ms since the epoch; it is included. */
  readonly until: number;
  /** Number of calendar days, the last of which has the end. */
  readonly days: number;
  /** IANA name. */
  readonly timeZone: string;
  /** First day of a week: 0 Sunday, 1 Monday. */
  readonly weekStart: 0 | 1;
}

/** The days and weeks of a period in a time zone, and how likely each hour of it is. */
export class GenerationCalendar {
  /** The beginning of the first day, ms since the epoch. */
  readonly from: number;
  readonly until: number;
  /** `2025-06-01`, in order. */
  readonly days: readonly string[];
  /** First days of the weeks, in order; the first week may begin before the period. */
  readonly weeks: readonly string[];
  /** When each day begins, and the end of the last one. */
  readonly #dayStarts: readonly number[];
  readonly #weekOfDay: readonly number[];
  /** Weights of the hours up to each one; the first is 0. */
  readonly #weights: readonly number[];
  /** The day of the last look-up: times mostly come in order. */
  #day = 0;

  constructor({ until, days, timeZone, weekStart }: Period, { hours, weekdays }: Persona) {
    const zone = zoneOf(timeZone);
    const lastMidnight = midnightOf(zone.wallClock(until));
    const midnights = Array.from({ length: days + 1 }, (_, i) => lastMidnight + (i + 1 - days) * day);
    this.#dayStarts = midnights.map((it) => startOfDay(zone, it));
    this.from = this.#dayStarts[0] ?? until;
    this.until = until;
    this.days = midnights.slice(0, days).map(dateText);
    const firstDays = midnights.slice(0, days).map((it) => {
      const weekday = new Date(it).getUTCDay();
      return dateText(it - ((weekday - weekStart + 7) % 7) * day);
    });
    this.weeks = [...new Set(firstDays)];
    this.#weekOfDay = firstDays.map((it) => this.weeks.indexOf(it));
    let sum = 0;
    const weights = [0];
    for (let at = this.from; at <= until; at += hour) {
      const wallClock = new Date(zone.wallClock(at));
      const share = Math.min(1, (until + 1 - at) / hour);
      const ofDay = weekdays?.[(wallClock.getUTCDay() + 6) % 7] ?? 1;
      sum += (hours?.[wallClock.getUTCHours()] ?? 1) * ofDay * share;
      weights.push(sum);
    }
    this.#weights = weights;
  }

  /** True if some hour of the period has a weight. */
  get hasTime(): boolean {
    return (this.#weights.at(-1) ?? 0) > 0;
  }

  /** Index of the day of a time within the period. */
  dayOf(time: number): number {
    const starts = this.#dayStarts;
    while (this.#day > 0 && time < (starts[this.#day] ?? 0)) this.#day--;
    while (time >= (starts[this.#day + 1] ?? Number.POSITIVE_INFINITY)) this.#day++;
    return this.#day;
  }

  /** Index of the week of a day. */
  weekOf(dayIndex: number): number {
    return this.#weekOfDay[dayIndex] ?? 0;
  }

  /** When a week begins: that of its first day in the period. Undefined after the last week. */
  startOfWeek(week: number): number | undefined {
    const first = this.#weekOfDay.indexOf(week);
    return first === -1 ? undefined : this.#dayStarts[first];
  }

  /** The time before which this share of all visits begins. */
  timeAt(share: number): number {
    return this.#timeOfWeight(share * (this.#weights.at(-1) ?? 0));
  }

  /** A time of a week, by the same weights; undefined if no hour of it has one. */
  timeInWeek(week: number, share: number): number | undefined {
    const [first, next] = [this.startOfWeek(week), this.startOfWeek(week + 1)];
    if (first === undefined) return undefined;
    const before = this.#weightBefore(first);
    const within = (next === undefined ? (this.#weights.at(-1) ?? 0) : this.#weightBefore(next)) - before;
    return within > 0 ? Math.max(first, this.#timeOfWeight(before + share * within)) : undefined;
  }

  /** The length of an hour, ms: the end cuts off the last one. */
  #lengthOf(index: number): number {
    return Math.min(hour, this.until + 1 - this.from - index * hour);
  }

  #weightBefore(time: number): number {
    const index = Math.floor((time - this.from) / hour);
    const before = this.#weights[index] ?? 0;
    const part = (time - this.from - index * hour) / this.#lengthOf(index);
    return before + ((this.#weights[index + 1] ?? before) - before) * part;
  }

  #timeOfWeight(weight: number): number {
    let [low, high] = [0, this.#weights.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#weights[middle] ?? 0) <= weight) low = middle;
      else high = middle;
    }
    const [before, after] = [this.#weights[low] ?? 0, this.#weights[high] ?? 0];
    const part = after > before ? (weight - before) / (after - before) : 0;
    return Math.min(this.until, Math.floor(this.from + low * hour + part * this.#lengthOf(low)));
  }
}
