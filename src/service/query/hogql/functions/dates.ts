import { Refusal } from "../refusal.ts";
import type { HogQLTerm } from "../term.ts";
import {
  addToDay,
  addToInstant,
  type ClockZone,
  calendar,
  dayNumber,
  dayOf,
  isoWeek,
  lengths,
  microseconds,
  pad,
  startDay,
  unitNumber,
  weekday,
} from "../time.ts";
import {
  capital,
  date,
  type HogQLValue,
  isMoment,
  nothing,
  string,
  type TimeUnit,
  type Type,
  units,
  zoneNameOf,
} from "../types.ts";
import { expectKind, type FunctionContext, type FunctionRow, fn, illegalType, literal, special, typed } from "./row.ts";

type Argument = HogQLTerm | undefined;
type Shift = (time: HogQLValue, count: HogQLValue) => HogQLValue;

/** Reads a Date or DateTime as a wall clock, and the zone it is in. */
function timeReader(arg: Argument, name: string, context: FunctionContext) {
  const type = arg?.type ?? nothing;
  expectKind(arg, "time", name);
  const zone = context.zones(zoneNameOf(type));
  const isDate = type.kind === "Date";
  return { type, zone, isDate, wall: (of: HogQLValue) => (isDate ? Number(of) * lengths.day : zone.wall(Number(of))) };
}

const small: Type = { kind: "UInt8" };
const middle: Type = { kind: "UInt16" };
const large: Type = { kind: "UInt32" };
const wide: Type = { kind: "Int64" };
const seconds: Type = { kind: "DateTime", zone: undefined };
const on = (read: (date: ReturnType<typeof calendar>, day: number) => number) => (wall: number) => {
  const day = dayOf(wall);
  return read(calendar(day), day);
};
const inDay = (wall: number): number => wall - dayOf(wall) * lengths.day;

/** Start of a day, week, month …: a Date for weeks and more, else a DateTime. */
function truncated(
  name: string,
  unit: TimeUnit,
  time: Argument,
  context: FunctionContext,
  count = 1,
  weekStart: 0 | 1 = 1,
): [Type, (value: HogQLValue) => number] {
  const { type, zone, isDate, wall } = timeReader(time, name, context);
  const isLong = unit === "week" || unit === "month" || unit === "quarter" || unit === "year";
  if (isDate && !isLong && unit !== "day") throw illegalType(type, name);
  if ((isLong || unit === "day") && count !== 1)
    throw new Refusal(`${name} with intervals of several ${unit}s is not emulated`);
  if (isLong) return [date, (value) => startDay(dayOf(wall(value)), unit, weekStart)];
  const length = lengths[unit] * count;
  const start = (value: HogQLValue): number => {
    const clock = wall(value);
    // Counted from midnight on the clock. A short unit keeps the offset of the time itself.
    const from = dayOf(clock) * lengths.day;
    const begin = from + Math.floor((clock - from) / length) * length;
    return unit === "day" ? zone.instant(begin) : Number(value) - (clock - begin);
  };
  return [{ kind: "DateTime", zone: zone.name }, start];
}

const startOf = (name: string, unit: TimeUnit, count = 1): FunctionRow =>
  typed(name, ["time"], ([time], context) => truncated(name, unit, time, context, count));

const shortUnits: Readonly<Record<string, TimeUnit>> = {
  ...{ ss: "second", s: "second", mi: "minute", n: "minute", hh: "hour", h: "hour", dd: "day", d: "day" },
  ...{ wk: "week", ww: "week", mm: "month", m: "month", qq: "quarter", q: "quarter", yy: "year", yyyy: "year" },
};

function unitOf(arg: Argument, name: string): TimeUnit {
  const text = String(literal(arg, `The unit of ${name}`)).toLowerCase();
  const unit = units.find((it) => it === text || `${it}s` === text) ?? shortUnits[text];
  if (unit === undefined) throw new Refusal(`Unknown unit ${JSON.stringify(text)} in ${name}`, arg?.at);
  return unit;
}

/** Units of which a day has the same number on every day, also where clocks change. */
const isShort = (unit: TimeUnit): boolean => unit === "second" || unit === "minute" || unit === "hour";

/** A time plus a number of units; a Date becomes a DateTime for hours and less. */
export function shiftedTime(
  name: string,
  time: Argument,
  unit: TimeUnit,
  sign: 1 | -1,
  context: FunctionContext,
): [Type, Shift] {
  const { type, zone, isDate } = timeReader(time, name, context);
  const by = (count: HogQLValue): number => sign * Math.trunc(Number(count));
  if (!isDate) return [type, (value, count) => addToInstant(Number(value), unit, by(count), zone)];
  if (!isShort(unit)) return [type, (value, count) => addToDay(Number(value), unit, by(count))];
  const run: Shift = (day, count) => addToInstant(Number(day) * lengths.day, unit, sign * Number(count), zone);
  return [seconds, run];
}

const shift = (name: string, unit: TimeUnit, sign: 1 | -1): FunctionRow =>
  typed(name, ["any", "number"], ([time], context) => shiftedTime(name, time, unit, sign, context));

/** `dateAdd(time, interval)`, `dateAdd('day', 1, time)`. */
const dateAdd = (name: string, sign: 1 | -1): FunctionRow =>
  typed(name, ["any", "any", "any?"], ([first, second, third], context) => {
    if (third) {
      expectKind(second, "number", name);
      const [type, run] = shiftedTime(name, third, unitOf(first, name), sign, context);
      return [type, (_, count, at = null) => run(at, count)];
    }
    if (second?.type.kind !== "Interval") throw illegalType(second?.type ?? nothing, name);
    return shiftedTime(name, first, second.type.unit, sign, context);
  });

/** Reads the number of a unit since the epoch. Upstream ClickHouse, DateLUTImpl::toRelativeHourNum and others. */
function unitCounter(of: Argument, unit: TimeUnit, name: string, context: FunctionContext): (value: number) => number {
  const { zone, isDate, wall } = timeReader(of, name, context);
  if (!isShort(unit) || isDate) return (value) => unitNumber(wall(value), unit);
  const shift = zone.wall(0);
  return (value) => unitNumber(value + shift, unit);
}

const dateDiff = (name: string): FunctionRow =>
  typed(name, ["any", "any", "any"], ([unitName, from, to], context) => {
    const unit = unitOf(unitName, name);
    const [first, last] = [unitCounter(from, unit, name, context), unitCounter(to, unit, name, context)];
    return [wide, (_, a, b) => last(Number(b)) - first(Number(a))];
  });

const monthNames = "January February March April May June July August September October November December".split(" ");
const dayNames = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const monthName = (wall: number): string => monthNames[calendar(dayOf(wall)).month - 1] ?? "";
const dayName = (wall: number): string => dayNames[weekday(dayOf(wall)) - 1] ?? "";
const all = (format: string, wall: number): string => format.replace(/[a-z]/gi, (it) => letters[it]?.(wall, 0) ?? "");

/** Letters of `formatDateTime`, for a wall clock. */
const letters: Readonly<Record<string, (wall: number, offset: number) => string>> = {
  Y: (wall) => pad(calendar(dayOf(wall)).year, 4),
  y: (wall) => pad(calendar(dayOf(wall)).year % 100),
  C: (wall) => pad(Math.floor(calendar(dayOf(wall)).year / 100)),
  m: (wall) => pad(calendar(dayOf(wall)).month),
  c: (wall) => String(calendar(dayOf(wall)).month),
  M: monthName,
  b: (wall) => monthName(wall).slice(0, 3),
  d: (wall) => pad(calendar(dayOf(wall)).day),
  e: (wall) => String(calendar(dayOf(wall)).day).padStart(2, " "),
  j: (wall) => pad(dayOfYear(wall), 3),
  H: (wall) => pad(hourOf(wall)),
  h: (wall) => pad(hourOf(wall) % 12 || 12),
  I: (wall) => pad(hourOf(wall) % 12 || 12),
  i: (wall) => pad(minuteOf(wall)),
  S: (wall) => pad(secondOf(wall)),
  s: (wall) => pad(secondOf(wall)),
  f: (wall) => pad(microseconds(wall), 6),
  p: (wall) => (hourOf(wall) < 12 ? "AM" : "PM"),
  a: (wall) => dayName(wall).slice(0, 3),
  W: dayName,
  u: (wall) => String(weekday(dayOf(wall))),
  w: (wall) => String(weekday(dayOf(wall)) % 7),
  V: (wall) => pad(isoWeek(dayOf(wall)).week),
  G: (wall) => pad(isoWeek(dayOf(wall)).year, 4),
  g: (wall) => pad(isoWeek(dayOf(wall)).year % 100),
  Q: (wall) => String(Math.ceil(calendar(dayOf(wall)).month / 3)),
  F: (wall) => all("Y-m-d", wall),
  D: (wall) => all("m/d/y", wall),
  T: (wall) => all("H:i:S", wall),
  R: (wall) => all("H:i", wall),
  r: (wall) => all("h:i p", wall),
  z: (_, offset) => {
    const minutes = Math.abs(Math.round(offset / 60_000));
    return `${offset < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}${pad(minutes % 60)}`;
  },
  n: () => "\n",
  t: () => "\t",
  "%": () => "%",
};
const hourOf = (wall: number): number => Math.floor(inDay(wall) / lengths.hour);
const minuteOf = (wall: number): number => Math.floor(inDay(wall) / lengths.minute) % 60;
const secondOf = (wall: number): number => Math.floor(inDay(wall) / 1000) % 60;
const dayOfYear = on(({ year }, day) => day - dayNumber(year, 1, 1) + 1);

const format = (name: string): FunctionRow =>
  typed(name, ["time", "any", "any?"], ([time, pattern, zoneName], context) => {
    const { isDate, zone } = timeReader(time, name, context);
    const shown: ClockZone = zoneName ? context.zones(String(literal(zoneName, "A time zone"))) : zone;
    const text = String(literal(pattern, `The format of ${name}`));
    const unknown = [...text.matchAll(/%(.?)/gs)].find(([, it = ""]) => !Object.hasOwn(letters, it));
    if (unknown) throw new Refusal(`The format ${unknown[0]} of ${name} is not emulated`, pattern?.at);
    const run = (value: number): string => {
      const instant = isDate ? value * lengths.day : value;
      const wall = isDate ? instant : shown.wall(instant);
      return text.replace(/%(.)/gs, (_, it: string) => letters[it]?.(wall, wall - instant) ?? "");
    };
    return [string, run];
  });

/** A time that does not depend on rows. */
const moment = (name: string, at: (context: FunctionContext) => [Type, number]): FunctionRow =>
  typed(name, [], (_, context) => {
    const [type, value] = at(context);
    return [type, () => value];
  });
const now = ({ now, timeZone }: FunctionContext): [Type, number] => [{ kind: "DateTime64", zone: timeZone }, now];
const today = ({ now }: FunctionContext): [Type, number] => [date, dayOf(now)];

const stamp = (name: string, type: Type, run: (instant: number) => number): FunctionRow =>
  typed(name, ["time"], ([time]) => {
    if (time?.type.kind === "Date") throw illegalType(time.type, name);
    return [type, run];
  });

const parts: readonly (readonly [name: string, type: Type, read: (wall: number) => HogQLValue])[] = [
  ["toYear", middle, on(({ year }) => year)],
  ["toQuarter", small, on(({ month }) => Math.ceil(month / 3))],
  ["toMonth", small, on(({ month }) => month)],
  ["toDayOfMonth", small, on(({ day }) => day)],
  ["toDayOfYear", middle, dayOfYear],
  ["toDayOfWeek", small, (wall) => weekday(dayOf(wall))],
  ["toHour", small, hourOf],
  ["toMinute", small, minuteOf],
  ["toSecond", small, secondOf],
  ["toISOYear", middle, (wall) => isoWeek(dayOf(wall)).year],
  ["toISOWeek", small, (wall) => isoWeek(dayOf(wall)).week],
  ["toYYYYMM", large, on(({ year, month }) => year * 100 + month)],
  ["toYYYYMMDD", large, on(({ year, month, day }) => (year * 100 + month) * 100 + day)],
  ["toLastDayOfMonth", date, on(({ year, month }) => dayNumber(year, month + 1, 1) - 1)],
  ["monthName", string, monthName],
];

/** Modes of weeks that start on Monday; the others start on Sunday. */
const mondayModes = [1, 3, 5, 7];

/** Numbers of short units that divide the next longer one. */
const whole: Partial<Record<TimeUnit, number>> = { second: 60, minute: 60, hour: 24 };

export const dateFunctions: readonly FunctionRow[] = [
  ...parts.map(([name, type, read]) =>
    typed(name, ["time"], ([time], context) => {
      const { wall } = timeReader(time, name, context);
      return [type, (value) => read(wall(value))];
    }),
  ),
  stamp("toUnixTimestamp", large, (instant) => Math.floor(instant / 1000)),
  stamp("toUnixTimestamp64Milli", wide, Math.floor),
  fn("fromUnixTimestamp", ["integer"], seconds, (value) => value * 1000),
  startOf("toStartOfYear", "year"),
  startOf("toStartOfQuarter", "quarter"),
  startOf("toStartOfMonth", "month"),
  startOf("toMonday", "week"),
  typed("toStartOfWeek", ["time", "any?"], ([time, modeArgument], context) => {
    const mode = modeArgument ? Number(literal(modeArgument, "The mode of toStartOfWeek")) : undefined;
    const weekStart = mode === undefined ? context.weekStart : mondayModes.includes(mode) ? 1 : 0;
    return truncated("toStartOfWeek", "week", time, context, 1, weekStart);
  }),
  startOf("toStartOfDay", "day"),
  startOf("toStartOfHour", "hour"),
  startOf("toStartOfMinute", "minute"),
  startOf("toStartOfFiveMinutes", "minute", 5),
  startOf("toStartOfTenMinutes", "minute", 10),
  startOf("toStartOfFifteenMinutes", "minute", 15),
  typed("toStartOfInterval", ["any", "any"], ([time, interval], context) => {
    if (interval?.type.kind !== "Interval") throw illegalType(interval?.type ?? nothing, "toStartOfInterval");
    const { unit } = interval.type;
    const count = Number(literal(interval, "The interval of toStartOfInterval"));
    if (!(count >= 1) || (whole[unit] ?? count) % count !== 0)
      throw new Refusal(`toStartOfInterval of ${count} ${unit}s is not emulated`);
    return truncated("toStartOfInterval", unit, time, context, count);
  }),
  ...["dateTrunc", "date_trunc"].map((name) =>
    special(name, [2, 3], ([unit, time, zone], context) => {
      const zoneName = zone ? String(literal(zone, "A time zone")) : undefined;
      const type = time?.type ?? nothing;
      const at =
        time && zoneName !== undefined && isMoment(type) ? { ...time, type: { ...type, zone: zoneName } } : time;
      const { type: result, build } = startOf(name, unitOf(unit, name)).resolve(at ? [at] : [], context);
      return { type: result, build: ([, read]) => build(read ? [read] : []) };
    }),
  ),
  ...units.flatMap((unit) => [
    shift(`add${capital(unit)}s`, unit, 1),
    shift(`subtract${capital(unit)}s`, unit, -1),
    fn(`toInterval${capital(unit)}`, ["number"], { kind: "Interval", unit }, (count) => count),
  ]),
  ...["dateAdd", "date_add", "timeStampAdd"].map((name) => dateAdd(name, 1)),
  ...["dateSub", "date_subtract", "timeStampSub"].map((name) => dateAdd(name, -1)),
  ...["dateDiff", "date_diff"].map(dateDiff),
  ...["formatDateTime", "to_char"].map(format),
  ...["now", "current_timestamp"].map((name) => moment(name, now)),
  ...["today", "current_date"].map((name) => moment(name, today)),
  moment("yesterday", ({ now }) => [date, dayOf(now) - 1]),
];
