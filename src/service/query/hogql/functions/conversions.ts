import { placed, Refusal } from "../refusal.ts";
import { type ClockZone, readDay, readPlainTime, readTime } from "../time.ts";
import {
  commonType,
  date,
  float,
  type HogQLValue,
  isInteger,
  isNumber,
  nothing,
  nullable,
  string,
  type Type,
  typeName,
} from "../types.ts";
import { compareValues, defaultOf, textOf } from "../values.ts";
import {
  expectKind,
  type FunctionContext,
  type FunctionRow,
  fn,
  illegalType,
  lenient,
  literal,
  many,
  named,
  special,
  strict,
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
    const of = arg?.type ?? nothing;
    if (of.kind === "String") return { type: nullable(type), build: strict((text) => read(String(text)) ?? null) };
    if (isNumber(of.kind) || of.kind === "Nothing") {
      const isExact = (value: number) => !isInteger(type.kind) || Number.isSafeInteger(value);
      return { type: nullable(type), build: strict((value) => (isExact(Number(value)) ? value : null)) };
    }
    if (of.kind === "Date") return { type: nullable(type), build: strict((value) => value) };
    if (of.kind === "DateTime")
      return { type: nullable(type), build: strict((value) => Math.floor(Number(value) / 1000)) };
    throw illegalType(of, name);
  });

/** String → number, or a default. */
const orDefault = (name: string, type: Type, read: (text: string) => number | undefined): FunctionRow =>
  special(name, name.endsWith("OrDefault") ? [1, 2] : [1, 1], ([arg, other]) => {
    expectKind(arg, "string", name);
    expectKind(other, "number", name);
    return {
      type: nullable(type, arg?.type.nullable ?? false),
      build: strict((text, value = 0) => read(String(text)) ?? value),
    };
  });

function zoneArgument(args: readonly FunctionArgument[], index: number, context: FunctionContext): ClockZone {
  const given = args[index];
  if (!given) return context.zones(context.timeZone);
  return placed(given.at, () => context.zones(String(literal(given, "A time zone"))));
}
type FunctionArgument = Parameters<FunctionRow["resolve"]>[0][number];

/** Upstream posthog/hogql/printer/clickhouse.py: literals of three forms are read strictly, other texts leniently. */
const toDateTime = (name: string): FunctionRow =>
  special(name, [1, 2], (args, context) => {
    const [arg] = args;
    const zone = zoneArgument(args, 1, context);
    const of = arg?.type ?? nothing;
    const isNull = of.nullable ?? false;
    const seconds: Type = nullable({ kind: "DateTime", zone: zone.name }, isNull);
    const fine: Type = { kind: "DateTime64", zone: zone.name };
    if (of.kind === "Nothing") return { type: nullable(fine), build: () => () => null };
    if (of.kind === "DateTime64" || of.kind === "DateTime")
      return { type: seconds, build: strict((value) => Math.floor(Number(value) / 1000) * 1000) };
    if (of.kind === "Date")
      return { type: seconds, build: strict((value) => zone.instant(Number(value) * 86_400_000)) };
    if (isInteger(of.kind)) return { type: seconds, build: strict((value) => Number(value) * 1000) };
    if (of.kind !== "String" || !arg) throw illegalType(of, name);
    if (arg.op !== "constant" || args.length > 1)
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
    const type = nullable(date, of.nullable ?? false);
    if (of.kind === "Date" || of.kind === "Nothing") return { type, build: strict((value) => value) };
    if (of.kind === "DateTime" || of.kind === "DateTime64") {
      const zone = zones(of.zone ?? "UTC");
      return { type, build: strict((value) => Math.floor(zone.wall(Number(value)) / 86_400_000)) };
    }
    if (of.kind !== "String") throw illegalType(of, name);
    return { type: nullable(date), build: strict((text) => readDay(String(text)) ?? null) };
  });

/** @throws Refusal if there is no type that has the values of all */
function commonOf(args: readonly FunctionArgument[], name: string): Type {
  const type = commonType(args.map((it) => it.type));
  if (type) return type;
  const names = args.map((it) => typeName(it.type)).join(", ");
  throw new Refusal(`There is no supertype for types ${names} in function ${name}`);
}

const isTrue = (value: HogQLValue): boolean => value !== null && value !== 0;

/** Conditions and values in turn, then the value for none. */
const multiIf = (name: string, args: readonly [number, number]): FunctionRow =>
  special(name, args, (all) => {
    if (all.length % 2 === 0) throw new Refusal(`Function '${name}' expects an odd number of arguments`);
    const isCondition = (i: number) => i % 2 === 0 && i < all.length - 1;
    for (const [i, it] of all.entries()) if (isCondition(i)) expectKind(it, "number", name);
    const values = all.filter((_, i) => !isCondition(i));
    const type = commonOf(values, name);
    return {
      type,
      build: (reads) => (row) => {
        let i = 0;
        while (i < reads.length - 1 && !isTrue(reads[i]?.(row) ?? null)) i += 2;
        const at = i < reads.length - 1 ? i + 1 : i;
        return reads[at]?.(row) ?? null;
      },
    };
  });

const coalesce = (name: string, args: readonly [number, number]): FunctionRow =>
  special(name, args, (all) => {
    const common = commonOf(all, name);
    return {
      type: nullable(
        common,
        all.every((it) => it.type.nullable ?? false),
      ),
      build: (reads) => (row) => {
        for (const read of reads) {
          const value = read(row);
          if (value !== null) return value;
        }
        return null;
      },
    };
  });

const flag: Type = { kind: "UInt8" };

/** Logic of three values. `stop` decides alone: 0 for AND, 1 for OR. */
const logic = (name: string, stop: 0 | 1): FunctionRow =>
  special(name, [2, many], (args) => {
    for (const arg of args) expectKind(arg, "number", name);
    const isBool = args.some((it) => it.type.kind === "Bool" && !it.type.nullable);
    const isNull = args.some((it) => it.type.nullable ?? false);
    return {
      type: nullable(isBool ? { kind: "Bool" } : flag, isNull),
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

/** `CASE x WHEN a THEN 1 … END`. */
const caseOf = special("_caseWithExpression", [2, many], (args) => {
  const [of] = args;
  const keys = args.slice(1, -1).filter((_, i) => i % 2 === 0);
  const values = [...args.slice(1, -1).filter((_, i) => i % 2 === 1), ...args.slice(-1)];
  for (const key of keys) if (of && !commonType([of.type, key.type])) commonOf([of, key], "CASE");
  const type = commonOf(values, "CASE");
  return {
    type,
    build: (reads) => (row) => {
      const value = reads[0]?.(row) ?? null;
      let i = 1;
      while (i < reads.length - 1) {
        const key = reads[i]?.(row) ?? null;
        if (value !== null && key !== null && compareValues(value, key) === 0) break;
        i += 2;
      }
      const at = i < reads.length - 1 ? i + 1 : reads.length - 1;
      return reads[at]?.(row) ?? null;
    },
  };
});

export const conversionFunctions: readonly FunctionRow[] = [
  toNumber("toInt", { kind: "Int64" }, readInteger),
  toNumber("toFloat", float, readFloat),
  orDefault("toIntOrZero", { kind: "Int64" }, readInteger),
  orDefault("toFloatOrZero", float, readFloat),
  orDefault("toFloatOrDefault", float, readFloat),
  special("toString", [1, 1], ([arg], { zones }) => {
    const of = arg?.type ?? nothing;
    return { type: nullable(string, of.nullable ?? false), build: strict((value) => textOf(value, of, zones)) };
  }),
  special("toBool", [1, 1], ([arg]) => {
    const of = arg?.type ?? nothing;
    const type: Type = nullable({ kind: "Bool" }, of.nullable ?? false);
    if (of.kind !== "String") expectKind(arg, "number", "toBool");
    const read = (value: HogQLValue): HogQLValue => {
      if (typeof value !== "string") return Number(value !== 0);
      const bool = readBool(value);
      if (bool === undefined) throw new Refusal(`Cannot parse boolean value ${JSON.stringify(value)}`);
      return bool;
    };
    return { type, build: strict(read) };
  }),
  special("toUUID", [1, 1], ([arg]) => {
    if (arg?.type.kind !== "UUID") expectKind(arg, "string", "toUUID");
    return { type: { kind: "UUID", nullable: true }, build: strict((text) => readUuid(String(text)) ?? null) };
  }),
  ...["toDate", "to_date"].map(toDate),
  toDateTime("toDateTime"),
  special("parseDateTimeBestEffort", [1, 2], (args, context) => {
    expectKind(args[0], "string", "parseDateTimeBestEffort");
    const zone = zoneArgument(args, 1, context);
    const type: Type = { kind: "DateTime64", zone: zone.name, nullable: true };
    return { type, build: strict((text) => readTime(String(text), zone) ?? null) };
  }),
  ...named(
    ["toTimeZone"],
    special("toTimeZone", [1, 2], (args, context) => {
      const [arg] = args;
      const of = arg?.type ?? nothing;
      if (of.kind !== "DateTime" && of.kind !== "DateTime64") throw illegalType(of, "toTimeZone");
      return { type: { ...of, zone: zoneArgument(args, 1, context).name }, build: strict((value) => value) };
    }),
  ),
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
      build: lenient((a, b = null) => (a !== null && b !== null && compareValues(a, b) === 0 ? null : (a ?? null))),
    };
  }),
  special("assumeNotNull", [1, 1], ([arg]) => {
    const type = nullable(arg?.type ?? nothing, false);
    const other = defaultOf(type);
    return { type, build: lenient((value) => value ?? other) };
  }),
  special("toNullable", [1, 1], ([arg]) => ({ type: nullable(arg?.type ?? nothing), build: strict((it) => it) })),
  multiIf("if", [3, 3]),
  multiIf("multiIf", [3, many]),
  caseOf,
  logic("and", 0),
  logic("or", 1),
  special("not", [1, 1], ([arg]) => {
    expectKind(arg, "number", "not");
    const isNull = arg?.type.nullable ?? false;
    return {
      type: nullable(arg?.type.kind === "Bool" ? { kind: "Bool" } : flag, isNull),
      build: strict((value) => Number(value === 0)),
    };
  }),
  fn("xor", ["number", "number"], flag, (a, b) => Number((a !== 0) !== (b !== 0))),
];
