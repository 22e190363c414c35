import { Refusal } from "../refusal.ts";
import { commonType, float, type HogQLValue, integerType, isInteger, nullable, sumType, type Type } from "../types.ts";
import { compareValues } from "../values.ts";
import { expectKind, type FunctionRow, fn, isAnyNullable, many, special, strict } from "./row.ts";

/** Integers are exact up to 2^53 only. @throws Refusal */
function checked(value: number, type: Type): number {
  if (isInteger(type.kind) && !Number.isSafeInteger(value)) throw new Refusal("An integer beyond 2^53 is not emulated");
  return value;
}

/** Functions of two numbers whose result is an integer if both are. */
const arithmetic = (name: string, run: (a: number, b: number) => number, isSigned = false): FunctionRow =>
  special(name, [2, 2], (args) => {
    for (const arg of args) expectKind(arg, "number", name);
    const [a = args[0], b = a] = args;
    const type = a && b ? sumType(a.type, b.type, isSigned) : float;
    return {
      type: nullable(type, isAnyNullable(args)),
      build: strict((x, y) => checked(run(Number(x), Number(y)), type)),
    };
  });

function divided(a: number, b: number): number {
  if (b === 0) throw new Refusal("Division by zero");
  return a;
}

const bitsOf = ({ kind }: Type): number => (kind === "Bool" ? 8 : Number(kind.replace(/\D/g, "")));
const isSigned = ({ kind }: Type): boolean => kind.startsWith("Int");
const isWhole = ({ kind }: Type): boolean => isInteger(kind) || kind === "Bool";

/** Types of divisions. Upstream ClickHouse, NumberTraits.h. */
const quotient = ([a = float, b = a]: readonly Type[]): Type => integerType(bitsOf(a), isSigned(a) || isSigned(b));
const remainder = ([a = float, b = a]: readonly Type[]): Type =>
  isWhole(a) && isWhole(b) ? integerType(bitsOf(b) * (isSigned(a) ? 2 : 1), isSigned(a)) : float;
const positive = ([a = float, b = a]: readonly Type[]): Type =>
  isWhole(a) && isWhole(b) ? integerType(bitsOf(b), false) : float;

/** Half goes to the even neighbour. */
function roundEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

/** Rounding to a number of decimal places; `digits` below 0 rounds to tens, hundreds … */
const rounding = (name: string, round: (value: number) => number): FunctionRow =>
  special(name, [1, 2], (args) => {
    expectKind(args[0], "number", name);
    expectKind(args[1], "integer", name);
    const type = args[0]?.type ?? float;
    const isExact = isInteger(type.kind);
    const run = (value: HogQLValue, digits: HogQLValue = 0): HogQLValue => {
      const scale = 10 ** Math.abs(Number(digits));
      if (Number(digits) < 0) return round(Number(value) / scale) * scale;
      return isExact ? value : round(Number(value) * scale) / scale;
    };
    return { type: nullable(type.kind === "Bool" ? float : type, isAnyNullable(args)), build: strict(run) };
  });

const real = (name: string, run: (value: number) => number): FunctionRow => fn(name, ["number"], float, run);

/** The largest (1) or smallest (-1) argument. NULL: versions of ClickHouse differ. */
const extreme = (name: string, sign: 1 | -1): FunctionRow =>
  special(name, [2, many], (args) => {
    const type = commonType(args.map((it) => it.type));
    if (!type) throw new Refusal(`The arguments of ${name} have no common type`);
    return {
      type,
      build: (reads) => (row) => {
        let best: HogQLValue = null;
        for (const read of reads) {
          const value = read(row);
          if (value === null) throw new Refusal(`NULL as an argument of ${name} is not emulated; use ifNull`);
          if (best === null || compareValues(value, best) * sign > 0) best = value;
        }
        return best;
      },
    };
  });

const absolute = ([type = float]: readonly Type[]): Type =>
  isInteger(type.kind) ? integerType(Number(type.kind.replace(/\D/g, "")), false) : type;

export const numberFunctions: readonly FunctionRow[] = [
  arithmetic("plus", (a, b) => a + b),
  arithmetic("minus", (a, b) => a - b, true),
  arithmetic("multiply", (a, b) => a * b),
  fn("divide", ["number", "number"], float, (a, b) => a / b),
  fn("intDiv", ["integer", "integer"], quotient, (a, b) => Math.trunc(divided(a, b) / b)),
  fn("intDivOrZero", ["integer", "integer"], quotient, (a, b) => (b === 0 ? 0 : Math.trunc(a / b))),
  fn("modulo", ["number", "number"], remainder, (a, b) => divided(a, b) % b),
  fn("moduloOrZero", ["integer", "integer"], remainder, (a, b) => (b === 0 ? 0 : a % b)),
  fn("positiveModulo", ["number", "number"], positive, (a, b) => ((divided(a, b) % b) + Math.abs(b)) % Math.abs(b)),
  special("negate", [1, 1], ([arg]) => {
    expectKind(arg, "number", "negate");
    const type = arg ? sumType(arg.type, arg.type, true) : float;
    return { type: nullable(type, arg?.type.nullable ?? false), build: strict((a) => -Number(a)) };
  }),
  fn("abs", ["number"], absolute, Math.abs),
  fn("sign", ["number"], { kind: "Int8" }, Math.sign),
  fn("max2", ["number", "number"], float, Math.max),
  fn("min2", ["number", "number"], float, Math.min),
  extreme("greatest", 1),
  extreme("least", -1),
  rounding("round", roundEven),
  rounding("floor", Math.floor),
  rounding("ceil", Math.ceil),
  rounding("ceiling", Math.ceil),
  rounding("trunc", Math.trunc),
  rounding("truncate", Math.trunc),
  real("sqrt", Math.sqrt),
  real("cbrt", Math.cbrt),
  real("exp", Math.exp),
  real("log", Math.log),
  real("ln", Math.log),
  real("log2", Math.log2),
  real("log10", Math.log10),
  fn("pow", ["number", "number"], float, (a, b) => a ** b),
  fn("power", ["number", "number"], float, (a, b) => a ** b),
  fn("isNaN", ["number"], { kind: "UInt8" }, (a) => Number(Number.isNaN(a))),
  fn("isInfinite", ["number"], { kind: "UInt8" }, (a) => Number(!Number.isFinite(a) && !Number.isNaN(a))),
  fn("isFinite", ["number"], { kind: "UInt8" }, (a) => Number(Number.isFinite(a))),
  fn("pi", [], float, () => Math.PI),
];
