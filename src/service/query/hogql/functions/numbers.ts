import { Refusal } from "../refusal.ts";
import { commonType, flag, float, type HogQLValue, integerType, isInteger, sumType, type Type } from "../types.ts";
import { compareValues } from "../values.ts";
import { type FunctionRow, fn, many, special, typed } from "./row.ts";

/** Functions of two numbers whose result is an integer if both are; integers are exact up to 2^53 only. */
const arithmetic = (name: string, run: (a: number, b: number) => number, isSigned = false): FunctionRow =>
  typed(name, ["number", "number"], ([a, b]) => {
    const type = a && b ? sumType(a.type, b.type, isSigned) : float;
    const isExact = isInteger(type.kind);
    const checked = (x: number, y: number): number => {
      const value = run(x, y);
      if (isExact && !Number.isSafeInteger(value)) throw new Refusal("An integer beyond 2^53 is not emulated");
      return value;
    };
    return [type, checked];
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
const negated = ([a = float]: readonly Type[]): Type => sumType(a, a, true);
const absolute = ([a = float]: readonly Type[]): Type => (isInteger(a.kind) ? integerType(bitsOf(a), false) : a);

/** Half goes to the even neighbour. */
function roundEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

/** Rounding to a number of decimal places; `digits` below 0 rounds to tens, hundreds … */
const rounding = (name: string, round: (value: number) => number): FunctionRow =>
  typed(name, ["number", "integer?"], ([arg]) => {
    const type = arg?.type ?? float;
    const isExact = isInteger(type.kind);
    const run = (value: number, digits = 0): number => {
      const scale = 10 ** Math.abs(digits);
      if (digits < 0) return round(value / scale) * scale;
      return isExact ? value : round(value * scale) / scale;
    };
    return [type.kind === "Bool" ? float : type, run];
  });

/** The largest (1) or smallest (-1) argument. NULL: versions of ClickHouse differ. */
const extreme = (name: string, sign: 1 | -1): FunctionRow =>
  special(name, [2, many], (args) => {
    const type = commonType(args.map((it) => it.type));
    if (!type) throw new Refusal(`The arguments of ${name} have no common type`);
    const build = (reads: readonly ((row: number) => HogQLValue)[]) => (row: number) => {
      let best: HogQLValue = null;
      for (const read of reads) {
        const value = read(row);
        if (value === null) throw new Refusal(`NULL as an argument of ${name} is not emulated; use ifNull`);
        if (best === null || compareValues(value, best) * sign > 0) best = value;
      }
      return best;
    };
    return { type, build };
  });

const roundings = { round: roundEven, floor: Math.floor, ceil: Math.ceil, ceiling: Math.ceil, trunc: Math.trunc };
const ofNumber = { sqrt: Math.sqrt, cbrt: Math.cbrt, exp: Math.exp, log: Math.log, ln: Math.log, log2: Math.log2 };
const tests = {
  isNaN: Number.isNaN,
  isInfinite: (a: number) => !Number.isFinite(a) && !Number.isNaN(a),
  isFinite: Number.isFinite,
};

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
  fn("negate", ["number"], negated, (a) => -a),
  fn("abs", ["number"], absolute, Math.abs),
  fn("sign", ["number"], { kind: "Int8" }, Math.sign),
  fn("max2", ["number", "number"], float, Math.max),
  fn("min2", ["number", "number"], float, Math.min),
  extreme("greatest", 1),
  extreme("least", -1),
  ...Object.entries({ ...roundings, truncate: Math.trunc }).map(([name, round]) => rounding(name, round)),
  ...Object.entries({ ...ofNumber, log10: Math.log10 }).map(([name, run]) => fn(name, ["number"], float, run)),
  ...["pow", "power"].map((name) => fn(name, ["number", "number"], float, (a, b) => a ** b)),
  ...Object.entries(tests).map(([name, is]) => fn(name, ["number"], flag, (a) => Number(is(a)))),
  fn("pi", [], float, () => Math.PI),
];
