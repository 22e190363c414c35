import { Refusal } from "../refusal.ts";
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
  startDay,
  unitNumber,
  weekday,
} from "../time.ts";
import { date, type HogQLValue, nothing, nullable, string, type TimeUnit, type Type, units } from "../types.ts";
import {
  expectKind,
  type FunctionContext,
  type FunctionRow,
  illegalType,
  isAnyNullable,
  literal,
  named,
  special,
  strict,
} from "./row.ts";

type Argument = Parameters<FunctionRow["resolve"]>[0][number];

/** Reads a Date or DateTime as a wall clock, and the zone it is in. */
interface TimeReader {
  readonly type: Type;
  readonly zone: ClockZone;
  wall(value: HogQLValue): number;
}

function timeReader(arg: Argument | undefined, name: string, context: FunctionContext): TimeReader {
  const type = arg?.type ?? nothing;
  expectKind(arg, "time", name);
  const zone = context.zones((type.kind === "DateTime" || type.kind === "DateTime64" ? type.zone : undefined) ?? "UTC");
  return {
    type,
    zone,
    wall: type.kind === "Date" ? (value) => Number(value) * lengths.day : (value) => zone.wall(Number(value)),
  };
}

/** A number read from a time. */
const part = (name: string, type: Type, read: (wall: number) => number): FunctionRow =>
  special(name, [1, 1], (args, context) => {
    const { wall } = timeReader(args[0], name, context);
    return { type: nullable(type, isAnyNullable(args)), build: strict((value) => read(wall(value))) };
  });

const small: Type = { kind: "UInt8" };
const middle: Type = { kind: "UInt16" };
const large: Type = { kind: "UInt32" };
const on = (read: (date: ReturnType<typeof calendar>, day: number) => number) => (wall: number) => {
  const day = dayOf(wall);
  return read(calendar(day), day);
};
const inDay = (wall: number): number => wall - dayOf(wall) * lengths.day;

/** Start of a day, week, month …: a Date for weeks and more, else a DateTime. */
function truncated(
  name: string,
  unit: TimeUnit,
  args: readonly Argument[],
  context: FunctionContext,
  count = 1,
  weekStart: 0 | 1 = 1,
): ReturnType<FunctionRow["resolve"]> {
  const { type, zone, wall } = timeReader(args[0], name, context);
  const isNull = isAnyNullable(args);
  if (unit === "week" || unit === "month" || unit === "quarter" || unit === "year") {
    if (count !== 1) throw new Refusal(`${name} with intervals of several ${unit}s is not emulated`);
    return { type: nullable(date, isNull), build: strict((value) => startDay(dayOf(wall(value)), unit, weekStart)) };
  }
  if (type.kind === "Date" && unit !== "day") throw illegalType(type, name);
  if (unit === "day" && count !== 1) throw new Refusal(`${name} with intervals of several days is not emulated`);
  const length = lengths[unit] * count;
  return {
    type: nullable({ kind: "DateTime", zone: zone.name }, isNull),
    build: strict((value) => {
      const clock = wall(value);
      // Counted from midnight on the clock. A short unit keeps the offset of the time itself.
      const from = dayOf(clock) * lengths.day;
      const start = from + Math.floor((clock - from) / length) * length;
      return unit === "day" || type.kind === "Date" ? zone.instant(start) : Number(value) - (clock - start);
    }),
  };
}

const startOf = (name: string, unit: TimeUnit, count = 1): FunctionRow =>
  special(name, [1, 1], (args, context) => truncated(name, unit, args, context, count));

/** Modes of weeks that start on Monday; the others start on Sunday. */
const mondayModes = [1, 3, 5, 7];

function unitOf(arg: Argument | undefined, name: string): TimeUnit {
  const text = String(literal(arg, `The unit of ${name}`)).toLowerCase();
  const short: Readonly<Record<string, TimeUnit>> = {
    ...{ ss: "second", s: "second", mi: "minute", n: "minute", hh: "hour", h: "hour", dd: "day", d: "day" },
    ...{ wk: "week", ww: "week", mm: "month", m: "month", qq: "quarter", q: "quarter", yy: "year", yyyy: "year" },
  };
  const unit = units.find((it) => it === text || `${it}s` === text) ?? short[text];
  if (unit === undefined) throw new Refusal(`Unknown unit ${JSON.stringify(text)} in ${name}`, arg?.at);
  return unit;
}

/** A time plus a number of units; a Date becomes a DateTime for hours and less. */
export function shiftedTime(
  name: string,
  time: Argument,
  unit: TimeUnit,
  sign: 1 | -1,
  context: FunctionContext,
): { type: Type; run: (time: HogQLValue, count: HogQLValue) => HogQLValue } {
  const { type, zone } = timeReader(time, name, context);
  const isShort = unit === "second" || unit === "minute" || unit === "hour";
  if (type.kind !== "Date")
    return { type, run: (value, count) => addToInstant(Number(value), unit, sign * Math.trunc(Number(count)), zone) };
  if (!isShort) return { type, run: (value, count) => addToDay(Number(value), unit, sign * Math.trunc(Number(count))) };
  const project = context.zones("UTC");
  return {
    type: nullable({ kind: "DateTime", zone: undefined }, type.nullable ?? false),
    run: (value, count) => addToInstant(Number(value) * lengths.day, unit, sign * Number(count), project),
  };
}

const shift = (name: string, unit: TimeUnit, sign: 1 | -1): FunctionRow =>
  special(name, [2, 2], ([time, count], context) => {
    expectKind(count, "number", name);
    if (!time) throw illegalType(nothing, name);
    const { type, run } = shiftedTime(name, time, unit, sign, context);
    return { type: nullable(type, isAnyNullable([time, ...(count ? [count] : [])])), build: strict(run) };
  });

/** `dateAdd(time, interval)`, `dateAdd('day', 1, time)`. */
const dateAdd = (name: string, sign: 1 | -1): FunctionRow =>
  special(name, [2, 3], (args, context) => {
    if (args.length === 2) {
      const [time, interval] = args;
      if (!time || interval?.type.kind !== "Interval") throw illegalType(interval?.type ?? nothing, name);
      const { type, run } = shiftedTime(name, time, interval.type.unit, sign, context);
      return { type: nullable(type, isAnyNullable(args)), build: strict(run) };
    }
    const [unit, count, time] = args;
    expectKind(count, "number", name);
    if (!time) throw illegalType(nothing, name);
    const { type, run } = shiftedTime(name, time, unitOf(unit, name), sign, context);
    return { type: nullable(type, isAnyNullable(args)), build: strict((_, by = 0, at = 0) => run(at, by)) };
  });

/** Units of which a day has as many as pass in it, also where clocks change. */
const isShort = (unit: TimeUnit): boolean => unit === "second" || unit === "minute" || unit === "hour";

/** Reads the number of a unit since the epoch. Upstream ClickHouse, DateLUTImpl::toRelativeHourNum and others. */
function unitCounter(of: TimeReader | undefined, unit: TimeUnit): (value: number) => number {
  if (!of) return () => 0;
  if (!isShort(unit) || of.type.kind === "Date") return (value) => unitNumber(of.wall(value), unit);
  const shift = of.zone.wall(0);
  return (value) => unitNumber(value + shift, unit);
}

const dateDiff = special("dateDiff", [3, 3], (args, context) => {
  const unit = unitOf(args[0], "dateDiff");
  const [first, last] = [args[1], args[2]].map((it) => unitCounter(timeReader(it, "dateDiff", context), unit)) as [
    (value: number) => number,
    (value: number) => number,
  ];
  return {
    type: nullable({ kind: "Int64" }, isAnyNullable(args)),
    build: strict((_, a = 0, b = 0) => last(Number(b)) - first(Number(a))),
  };
});

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
const monthNames = [
  ...["January", "February", "March", "April", "May", "June", "July"],
  ...["August", "September", "October", "November", "December"],
];
const dayNames = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** Letters of `formatDateTime`, for a wall clock. */
const letters: Readonly<Record<string, (wall: number, offset: number) => string>> = {
  Y: (wall) => pad(calendar(dayOf(wall)).year, 4),
  y: (wall) => pad(calendar(dayOf(wall)).year % 100),
  C: (wall) => pad(Math.floor(calendar(dayOf(wall)).year / 100)),
  m: (wall) => pad(calendar(dayOf(wall)).month),
  c: (wall) => String(calendar(dayOf(wall)).month),
  M: (wall) => monthNames[calendar(dayOf(wall)).month - 1] ?? "",
  b: (wall) => (monthNames[calendar(dayOf(wall)).month - 1] ?? "").slice(0, 3),
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
  a: (wall) => (dayNames[weekday(dayOf(wall)) - 1] ?? "").slice(0, 3),
  W: (wall) => dayNames[weekday(dayOf(wall)) - 1] ?? "",
  u: (wall) => String(weekday(dayOf(wall))),
  w: (wall) => String(weekday(dayOf(wall)) % 7),
  V: (wall) => pad(isoWeek(dayOf(wall)).week),
  G: (wall) => pad(isoWeek(dayOf(wall)).year, 4),
  g: (wall) => pad(isoWeek(dayOf(wall)).year % 100),
  Q: (wall) => String(Math.ceil(calendar(dayOf(wall)).month / 3)),
  F: (wall) => ["Y", "m", "d"].map((it) => letters[it]?.(wall, 0)).join("-"),
  D: (wall) => ["m", "d", "y"].map((it) => letters[it]?.(wall, 0)).join("/"),
  T: (wall) => ["H", "i", "S"].map((it) => letters[it]?.(wall, 0)).join(":"),
  R: (wall) => ["H", "i"].map((it) => letters[it]?.(wall, 0)).join(":"),
  r: (wall) => `${["h", "i"].map((it) => letters[it]?.(wall, 0)).join(":")} ${letters.p?.(wall, 0)}`,
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
  special(name, [2, 3], (args, context) => {
    const [time, pattern, zoneName] = args;
    const reader = timeReader(time, name, context);
    const zone = zoneName ? context.zones(String(literal(zoneName, "A time zone"))) : reader.zone;
    const text = String(literal(pattern, `The format of ${name}`));
    const unknown = [...text.matchAll(/%(.?)/gs)].find(([, it = ""]) => !Object.hasOwn(letters, it));
    if (unknown) throw new Refusal(`The format ${unknown[0]} of ${name} is not emulated`, pattern?.at);
    return {
      type: nullable(string, time?.type.nullable ?? false),
      build: strict((value) => {
        const instant = reader.type.kind === "Date" ? Number(value) * lengths.day : Number(value);
        const wall = reader.type.kind === "Date" ? instant : zone.wall(instant);
        return text.replace(/%(.)/gs, (_, it: string) => letters[it]?.(wall, wall - instant) ?? "");
      }),
    };
  });

/** A time that does not depend on rows. */
const moment = (name: string, args: readonly [number, number], at: (context: FunctionContext) => [Type, HogQLValue]) =>
  special(name, args, (_, context) => {
    const [type, value] = at(context);
    return { type, build: () => () => value };
  });
const now = ({ now, timeZone }: FunctionContext): [Type, HogQLValue] => [{ kind: "DateTime64", zone: timeZone }, now];
const today = ({ now }: FunctionContext): [Type, HogQLValue] => [date, dayOf(now)];

const stamp = (name: string, type: Type, run: (instant: number) => number): FunctionRow =>
  special(name, [1, 1], ([time]) => {
    expectKind(time, "time", name);
    const of = time?.type ?? nothing;
    if (of.kind === "Date") throw illegalType(of, name);
    return { type: nullable(type, of.nullable ?? false), build: strict((value) => run(Number(value))) };
  });

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const dateFunctions: readonly FunctionRow[] = [
  part(
    "toYear",
    middle,
    on(({ year }) => year),
  ),
  part(
    "toQuarter",
    small,
    on(({ month }) => Math.ceil(month / 3)),
  ),
  part(
    "toMonth",
    small,
    on(({ month }) => month),
  ),
  part(
    "toDayOfMonth",
    small,
    on(({ day }) => day),
  ),
  part("toDayOfYear", middle, dayOfYear),
  part("toDayOfWeek", small, (wall) => weekday(dayOf(wall))),
  part("toHour", small, hourOf),
  part("toMinute", small, minuteOf),
  part("toSecond", small, secondOf),
  part("toISOYear", middle, (wall) => isoWeek(dayOf(wall)).year),
  part("toISOWeek", small, (wall) => isoWeek(dayOf(wall)).week),
  part(
    "toYYYYMM",
    large,
    on(({ year, month }) => year * 100 + month),
  ),
  part(
    "toYYYYMMDD",
    large,
    on(({ year, month, day }) => (year * 100 + month) * 100 + day),
  ),
  special("monthName", [1, 1], (args, context) => {
    const { wall } = timeReader(args[0], "monthName", context);
    return { type: nullable(string, isAnyNullable(args)), build: strict((it) => letters.M?.(wall(it), 0) ?? "") };
  }),
  stamp("toUnixTimestamp", large, (instant) => Math.floor(instant / 1000)),
  stamp("toUnixTimestamp64Milli", { kind: "Int64" }, Math.floor),
  special("fromUnixTimestamp", [1, 1], ([time]) => {
    expectKind(time, "integer", "fromUnixTimestamp");
    const type: Type = nullable({ kind: "DateTime", zone: undefined }, time?.type.nullable ?? false);
    return { type, build: strict((value) => Number(value) * 1000) };
  }),
  startOf("toStartOfYear", "year"),
  startOf("toStartOfQuarter", "quarter"),
  startOf("toStartOfMonth", "month"),
  startOf("toMonday", "week"),
  special("toStartOfWeek", [1, 2], (args, context) => {
    const mode = args[1] ? Number(literal(args[1], "The mode of toStartOfWeek")) : undefined;
    const weekStart = mode === undefined ? context.weekStart : mondayModes.includes(mode) ? 1 : 0;
    const { type, build } = truncated("toStartOfWeek", "week", args.slice(0, 1), context, 1, weekStart);
    return { type, build };
  }),
  startOf("toStartOfDay", "day"),
  startOf("toStartOfHour", "hour"),
  startOf("toStartOfMinute", "minute"),
  startOf("toStartOfFiveMinutes", "minute", 5),
  startOf("toStartOfTenMinutes", "minute", 10),
  startOf("toStartOfFifteenMinutes", "minute", 15),
  special("toStartOfInterval", [2, 2], (args, context) => {
    const interval = args[1]?.type;
    if (interval?.kind !== "Interval") throw illegalType(interval ?? nothing, "toStartOfInterval");
    const count = Number(literal(args[1], "The interval of toStartOfInterval"));
    const whole: Partial<Record<TimeUnit, number>> = { second: 60, minute: 60, hour: 24 };
    if (!(count >= 1) || (whole[interval.unit] ?? count) % count !== 0)
      throw new Refusal(`toStartOfInterval of ${count} ${interval.unit}s is not emulated`);
    return truncated("toStartOfInterval", interval.unit, args.slice(0, 1), context, count);
  }),
  ...named(
    ["dateTrunc", "date_trunc"],
    special("dateTrunc", [2, 3], (args, context) => {
      const [unit, time, zone] = args;
      if (!time) throw illegalType(nothing, "dateTrunc");
      const type = time.type;
      const name = zone ? String(literal(zone, "A time zone")) : undefined;
      const inZone = name !== undefined && (type.kind === "DateTime" || type.kind === "DateTime64");
      const at = inZone ? { ...time, type: { ...type, zone: name } } : time;
      const { type: result, build } = truncated("dateTrunc", unitOf(unit, "dateTrunc"), [at], context);
      return { type: result, build: ([, read]) => build(read ? [read] : []) };
    }),
  ),
  part(
    "toLastDayOfMonth",
    date,
    on(({ year, month }) => dayNumber(year, month + 1, 1) - 1),
  ),
  ...units.flatMap((unit) => [
    shift(`add${capital(unit)}s`, unit, 1),
    shift(`subtract${capital(unit)}s`, unit, -1),
    special(`toInterval${capital(unit)}`, [1, 1], ([count]) => {
      expectKind(count, "number", `toInterval${capital(unit)}`);
      const type: Type = nullable({ kind: "Interval", unit }, count?.type.nullable ?? false);
      return { type, build: strict((value) => value) };
    }),
  ]),
  dateAdd("dateAdd", 1),
  dateAdd("date_add", 1),
  dateAdd("timeStampAdd", 1),
  dateAdd("dateSub", -1),
  dateAdd("date_subtract", -1),
  dateAdd("timeStampSub", -1),
  ...named(["dateDiff", "date_diff"], dateDiff),
  ...["formatDateTime", "to_char"].map(format),
  moment("now", [0, 0], now),
  moment("current_timestamp", [0, 0], now),
  moment("today", [0, 0], today),
  moment("current_date", [0, 0], today),
  moment("yesterday", [0, 0], ({ now }) => [date, dayOf(now) - 1]),
];
