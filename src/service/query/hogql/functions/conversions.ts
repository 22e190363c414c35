import { placed, Refusal } from "../refusal.ts";
import type { Build, HogQLTerm, Read } from "../term.ts";
import { type ClockZone, dayOf, lengths, readDay, readPlainTime, readTime } from "../time.ts";
import {
  commonType,
  date,
  flag,
  float,
  type HogQLValue,
  isInteger,
  isMoment,
  isNumber,
  isTime,
  nothing,
  nullable,
  string,
  type Type,
  typeName,
  zoneNameOf,
} from "../types.ts";
import { compareValues, defaultOf, isTrue, textOf } from "../values.ts";
import {
  expectKind,
  type FunctionContext,
  type FunctionRow,
  fn,
  illegalType,
  isAnyNullable,
  lenient,
  literal,
  many,
  special,
  strict,
  typed,
} from "./row.ts";

const numberShape = /^[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|inf(?:inity)?|nan)$/i;

/** A number as ClickHouse reads one from the whole text; undefined for anything else. */
export function readFloat(text: string): number | undefined {
  if (!numberShape.test(text)) return undefined;
  if (/nan/i.test(text)) return Number.NaN;
  if (/inf/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

function readInteger(text: string): number | undefined {
  if (!/^[-+]?\d+$/.test(text)) return undefined;
  const value = Number(text);
  if (Math.abs(value) >= 2 ** 63) return undefined;
  if (!Number.isSafeInteger(value)) throw new Refusal(`The integer ${text} is beyond 2^53, which is not emulated`);
  return value;
}

const truths = ["true", "t", "yes", "y", "on", "1", "enable", "enabled"];
const untruths = ["false", "f", "no", "n", "off", "0", "disable", "disabled"];

export function readBool(text: string): number | undefined {
  const word = text.toLowerCase();
  return truths.includes(word) ? 1 : untruths.includes(word) ? 0 : undefined;
}

const uuidShape = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
export function readUuid(text: string): string | undefined {
  if (!uuidShape.test(text)) return undefined;
  const hex = text.replaceAll("-", "").toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const toNumber = (name: string, type: Type, read: (text: string) => number | undefined): FunctionRow =>
  special(name, [1, 1], ([arg]) => {
    const { kind } = arg?.type ?? nothing;
    const isFine = !isNumber(kind) || !isInteger(type.kind) ? () => true : Number.isSafeInteger;
    const run = (value: HogQLValue): HogQLValue => {
      if (typeof value === "string") return read(value) ?? null;
      if (kind === "DateTime") return Math.floor(Number(value) / 1000);
      return isFine(Number(value)) ? value : null;
    };
    const fits = isNumber(kind) || kind === "String" || kind === "Nothing" || kind === "Date" || kind === "DateTime";
    if (!fits) throw illegalType(arg?.type ?? nothing, name);
    return { type: nullable(type), build: strict(run) };
  });

/** String → number, or a default. */
const orDefault = (name: string, type: Type, read: (text: string) => number | undefined): FunctionRow =>
  special(name, name.endsWith("OrDefault") ? [1, 2] : [1, 1], ([arg, other]) => {
    expectKind(arg, "string", name);
    expectKind(other, "number", name);
    return {
      type: nullable(type, arg?.type.nullable ?? false),
      build: strict((text = "", value = 0) => read(String(text)) ?? value),
    };
  });

function zoneArgument(zone: HogQLTerm | undefined, { zones, timeZone }: FunctionContext): ClockZone {
  return zone ? placed(zone.at, () => zones(String(literal(zone, "A time zone")))) : zones(timeZone);
}

/** Upstream posthog/hogql/printer/clickhouse.py: literals of three forms are read strictly, other texts leniently. */
const toDateTime = special("toDateTime", [1, 2], ([arg, zoneName], context) => {
  const zone = zoneArgument(zoneName, context);
  const of = arg?.type ?? nothing;
  const seconds: Type = nullable({ kind: "DateTime", zone: zone.name }, of.nullable ?? false);
  const fine: Type = { kind: "DateTime64", zone: zone.name };
  if (of.kind === "Nothing") return { type: nullable(fine), build: () => () => null };
  if (isMoment(of)) return { type: seconds, build: strict((value) => Math.floor(Number(value) / 1000) * 1000) };
  if (of.kind === "Date") return { type: seconds, build: strict((value) => zone.instant(Number(value) * lengths.day)) };
  if (isInteger(of.kind)) return { type: seconds, build: strict((value) => Number(value) * 1000) };
  if (of.kind !== "String" || !arg) throw illegalType(of, "toDateTime");
  if (arg.op !== "constant" || zoneName)
    return { type: nullable(fine), build: strict((text) => readTime(String(text), zone) ?? null) };
  const text = String(arg.value);
  const isPlain = /^\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2})?$/.test(text);
  const value = isPlain ? readPlainTime(text, zone) : readTime(text, zone);
  if (value === undefined) throw new Refusal(`Cannot parse DateTime from ${JSON.stringify(text)}`, arg.at);
  return { type: isPlain ? seconds : fine, build: () => () => value };
});

const toDate = (name: string): FunctionRow =>
  special(name, [1, 1], ([arg], { zones }) => {
    const of = arg?.type ?? nothing;
    if (of.kind === "String") return { type: nullable(date), build: strict((text) => readDay(String(text)) ?? null) };
    if (!isTime(of.kind) && of.kind !== "Nothing") throw illegalType(of, name);
    const zone = zones(zoneNameOf(of));
    const run = (value: HogQLValue): HogQLValue => (isMoment(of) ? dayOf(zone.wall(Number(value))) : value);
    return { type: nullable(date, of.nullable ?? false), build: strict(run) };
  });

/** @throws Refusal if there is no type that has the values of all */
function commonOf(args: readonly HogQLTerm[], name: string): Type {
  const type = commonType(args.map((it) => it.type));
  if (type) return type;
  const names = args.map((it) => typeName(it.type)).join(", ");
  throw new Refusal(`There is no supertype for types ${names} in function ${name}`);
}

/** Tests and values in turn from `first` on, then the value for none: the value after the first test that passes. */
const choice =
  (reads: readonly Read[], first: 0 | 1, passes: (test: HogQLValue, row: number) => boolean): Read =>
  (row) => {
    let i = first;
    while (i < reads.length - 1 && !passes(reads[i]?.(row) ?? null, row)) i += 2;
    return reads[Math.min(i + 1, reads.length - 1)]?.(row) ?? null;
  };

/** Conditions and values in turn, then the value for none. */
const multiIf = (name: string, args: readonly [number, number]): FunctionRow =>
  special(name, args, (all) => {
    if (all.length % 2 === 0) throw new Refusal(`Function '${name}' expects an odd number of arguments`);
    const values = all.filter((_, i) => i % 2 === 1 || i === all.length - 1);
    for (const it of all) if (!values.includes(it)) expectKind(it, "number", name);
    return { type: commonOf(values, name), build: (reads) => choice(reads, 0, isTrue) };
  });

const areEqual = (a: HogQLValue, b: HogQLValue): boolean => a !== null && b !== null && compareValues(a, b) === 0;

/** `CASE x WHEN a THEN 1 … END`. */
const caseOf = special("_caseWithExpression", [2, many], (args) => {
  const [of, ...all] = args;
  const values = all.filter((_, i) => i % 2 === 1 || i === all.length - 1);
  for (const key of all) if (of && !values.includes(key)) commonOf([of, key], "CASE");
  const build: Build = (reads) => choice(reads, 1, (key, row) => areEqual(reads[0]?.(row) ?? null, key));
  return { type: commonOf(values, "CASE"), build };
});

/** The first value that is not NULL. */
const coalesce = (name: string, args: readonly [number, number]): FunctionRow =>
  special(name, args, (all) => {
    const isNull = all.every((it) => it.type.nullable ?? false);
    const build: Build = (reads) => (row) => {
      for (const read of reads) {
        const value = read(row);
        if (value !== null) return value;
      }
      return null;
    };
    return { type: nullable(commonOf(all, name), isNull), build };
  });

const bool: Type = { kind: "Bool" };

/** Logic of three values. `stop` decides alone: 0 for AND, 1 for OR. */
const logic = (name: string, stop: 0 | 1): FunctionRow =>
  special(name, [2, many], (args) => {
    for (const arg of args) expectKind(arg, "number", name);
    const isBool = args.some((it) => it.type.kind === "Bool" && !it.type.nullable);
    return {
      type: nullable(isBool ? bool : flag, isAnyNullable(args)),
      build: (reads) => (row) => {
        let result: HogQLValue = 1 - stop;
        for (const read of reads) {
          const value = read(row);
          if (value === null) result = null;
          else if (Number(value !== 0) === stop) return stop;
        }
        return result;
      },
    };
  });

function toBool(value: HogQLValue): HogQLValue {
  if (typeof value !== "string") return Number(value !== 0);
  const read = readBool(value);
  if (read === undefined) throw new Refusal(`Cannot parse boolean value ${JSON.stringify(value)}`);
  return read;
}

export const conversionFunctions: readonly FunctionRow[] = [
  toNumber("toInt", { kind: "Int64" }, readInteger),
  toNumber("toFloat", float, readFloat),
  orDefault("toIntOrZero", { kind: "Int64" }, readInteger),
  orDefault("toFloatOrZero", float, readFloat),
  orDefault("toFloatOrDefault", float, readFloat),
  typed("toString", ["any"], ([arg], { zones }) => [string, (value) => textOf(value, arg?.type ?? nothing, zones)]),
  typed("toBool", ["any"], ([arg]) => {
    if (arg?.type.kind !== "String") expectKind(arg, "number", "toBool");
    return [bool, toBool];
  }),
  typed("toUUID", ["any"], ([arg]) => {
    if (arg?.type.kind !== "UUID") expectKind(arg, "string", "toUUID");
    return [{ kind: "UUID", nullable: true }, (text) => readUuid(String(text)) ?? null];
  }),
  ...["toDate", "to_date"].map(toDate),
  toDateTime,
  special("parseDateTimeBestEffort", [1, 2], ([text, zoneName], context) => {
    expectKind(text, "string", "parseDateTimeBestEffort");
    const zone = zoneArgument(zoneName, context);
    const type: Type = { kind: "DateTime64", zone: zone.name, nullable: true };
    return { type, build: strict((value) => readTime(String(value), zone) ?? null) };
  }),
  special("toTimeZone", [1, 2], ([arg, zoneName], context) => {
    const of = arg?.type ?? nothing;
    if (of.kind !== "DateTime" && of.kind !== "DateTime64") throw illegalType(of, "toTimeZone");
    return { type: { ...of, zone: zoneArgument(zoneName, context).name }, build: strict((value = null) => value) };
  }),
  special("toTypeName", [1, 1], ([arg]) => {
    const name = typeName(arg?.type ?? nothing);
    return { type: string, build: () => () => name };
  }),
  special("isNull", [1, 1], () => ({ type: flag, build: lenient((value) => Number(value === null)) })),
  special("isNotNull", [1, 1], () => ({ type: flag, build: lenient((value) => Number(value !== null)) })),
  coalesce("coalesce", [1, many]),
  coalesce("ifNull", [2, 2]),
  special("nullIf", [2, 2], (args) => {
    commonOf(args, "nullIf");
    return {
      type: nullable(args[0]?.type ?? nothing),
      build: lenient((a = null, b = null) => (areEqual(a, b) ? null : a)),
    };
  }),
  special("assumeNotNull", [1, 1], ([arg]) => {
    const type = nullable(arg?.type ?? nothing, false);
    const other = defaultOf(type);
    return { type, build: lenient((value) => value ?? other) };
  }),
  special("toNullable", [1, 1], ([arg]) => ({
    type: nullable(arg?.type ?? nothing),
    build: ([read = () => null]) => read,
  })),
  multiIf("if", [3, 3]),
  multiIf("multiIf", [3, many]),
  caseOf,
  logic("and", 0),
  logic("or", 1),
  typed("not", ["number"], ([arg]) => [arg?.type.kind === "Bool" ? bool : flag, (value) => Number(value === 0)]),
  fn("xor", ["number", "number"], flag, (a, b) => Number((a !== 0) !== (b !== 0))),
];
