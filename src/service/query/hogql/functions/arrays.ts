import { Refusal } from "../refusal.ts";
import type { HogQLTerm } from "../term.ts";
import {
  commonType,
  float,
  type HogQLValue,
  isNumber,
  nothing,
  nullable,
  string,
  type Type,
  totalType,
} from "../types.ts";
import { compareValues, defaultOf, keyOf, textOf } from "../values.ts";
import { expectKind, type FunctionRow, fn, illegalType, lenient, literal, many, special, strict } from "./row.ts";

const flag: Type = { kind: "UInt8" };
const size: Type = { kind: "UInt64" };
const mostItems = 1_000_000;

const itemOf = (type: Type | undefined): Type => (type?.kind === "Array" ? type.item : nothing);
const items = (value: HogQLValue): readonly HogQLValue[] => (typeof value === "object" && value !== null ? value : []);
const arrayOf = (item: Type): Type => ({ kind: "Array", item });
const sameArray = ([type = nothing]: readonly Type[]): Type => type;

/** @throws Refusal */
function common(types: readonly Type[], name: string): Type {
  const type = commonType(types);
  if (!type) throw new Refusal(`The arguments of ${name} have no common type`);
  return type;
}

const equal = (a: HogQLValue, b: HogQLValue): boolean => keyOf(a) === keyOf(b);

const lookUp = (
  name: string,
  type: Type,
  run: (array: readonly HogQLValue[], value: HogQLValue) => HogQLValue,
): FunctionRow =>
  special(name, [2, 2], ([array, value]) => {
    expectKind(array, "array", name);
    if (value) common([itemOf(array?.type), value.type], name);
    return { type, build: lenient((all, one = null) => run(items(all), one)) };
  });

const sets = (name: string, run: (a: readonly HogQLValue[], keys: ReadonlySet<unknown>) => boolean): FunctionRow =>
  special(name, [2, 2], ([a, b]) => {
    for (const it of [a, b]) expectKind(it, "array", name);
    common([itemOf(a?.type), itemOf(b?.type)], name);
    return { type: flag, build: strict((x, y = null) => Number(run(items(x), new Set(items(y).map(keyOf))))) };
  });

/** An item by its number, from 1, or from the end, -1; the type's default beyond the ends. */
const arrayElement = special("arrayElement", [2, 2], ([array, index]) => {
  expectKind(array, "array", "arrayElement");
  expectKind(index, "integer", "arrayElement");
  const type = itemOf(array?.type);
  const other = defaultOf(type);
  const run = (all: HogQLValue, at: HogQLValue = 0): HogQLValue => {
    if (at === 0) throw new Refusal("Array indices are 1-based");
    return items(all).at(Number(at) > 0 ? Number(at) - 1 : Number(at)) ?? other;
  };
  return { type: nullable(type, (type.nullable ?? false) || (index?.type.nullable ?? false)), build: strict(run) };
});

const statistic = (name: string, type: (item: Type) => Type, run: (values: readonly number[]) => number): FunctionRow =>
  special(name, [1, 2], (args) => {
    const [lambda, array] = args.length === 2 ? args : [undefined, args[0]];
    const item = lambda?.op === "lambda" ? lambda.type : itemOf(array?.type);
    if (!isNumber(item.kind) && item.kind !== "Nothing") throw illegalType(item, name);
    return {
      type: type(item),
      build: (reads) => {
        const values = lambda ? mapped(lambda, reads) : reads[0];
        return (row) =>
          run(
            items(values?.(row) ?? null)
              .filter((it) => it !== null)
              .map(Number),
          );
      },
    };
  });

/** Values of a lambda for the items of arrays. */
function mapped(
  lambda: HogQLTerm,
  [body, ...arrays]: readonly ((row: number) => HogQLValue)[],
): (row: number) => readonly HogQLValue[] {
  if (lambda.op !== "lambda") throw new Refusal("The first argument must be a function", lambda.at);
  const { locals } = lambda;
  return (row) => {
    const all = arrays.map((it) => items(it(row)));
    const count = all[0]?.length ?? 0;
    if (all.some((it) => it.length !== count)) throw new Refusal("Arrays passed to a function must have equal size");
    const results: HogQLValue[] = [];
    for (let i = 0; i < count; i++) {
      for (const [k, local] of locals.entries()) local.value = all[k]?.[i] ?? null;
      results.push(body?.(row) ?? null);
    }
    return results;
  };
}

const isTrue = (value: HogQLValue | undefined): boolean => value !== null && value !== undefined && value !== 0;

/** A function of a lambda and arrays. */
const withLambda = (
  name: string,
  type: (result: Type, item: Type) => Type,
  run: (results: readonly HogQLValue[], array: readonly HogQLValue[], other: HogQLValue) => HogQLValue,
): FunctionRow =>
  special(name, [2, many], (args) => {
    const [lambda, array] = args;
    if (lambda?.op !== "lambda") throw new Refusal(`The first argument of ${name} must be a function`, lambda?.at);
    const item = itemOf(array?.type);
    const other = defaultOf(item);
    return {
      type: type(lambda.type, item),
      build: (reads) => {
        const results = mapped(lambda, reads);
        return (row) => run(results(row), items(reads[1]?.(row) ?? null), other);
      },
    };
  });

/** Sorts by value, or by the results of a lambda. */
const sorted = (name: string): FunctionRow =>
  special(name, [1, 2], (args) => {
    const [lambda, array] = args.length === 2 ? args : [undefined, args[0]];
    expectKind(array, "array", name);
    return {
      type: array?.type ?? arrayOf(nothing),
      build: (reads) => {
        const keys = lambda ? mapped(lambda, reads) : undefined;
        return (row) => {
          const all = items(reads.at(-1)?.(row) ?? null);
          const by = keys?.(row) ?? all;
          const indexes = all.map((_, i) => i).sort((a, b) => compareValues(by[a] ?? null, by[b] ?? null));
          return indexes.map((i) => all[i] ?? null);
        };
      },
    };
  });

const flattened = (array: readonly HogQLValue[]): HogQLValue[] =>
  array.flatMap((it) => (typeof it === "object" && it !== null ? flattened(it) : [it]));
const unique = (values: readonly HogQLValue[]): HogQLValue[] => [
  ...new Map(values.map((it) => [keyOf(it), it])).values(),
];
const known = (values: readonly HogQLValue[]): HogQLValue[] => values.filter((it) => it !== null);

export const arrayFunctions: readonly FunctionRow[] = [
  special("array", [0, many], (args) => ({
    type: arrayOf(
      common(
        args.map((it) => it.type),
        "array",
      ),
    ),
    build: lenient((...values) => (args.length === 0 ? [] : values)),
  })),
  special("tuple", [0, many], (args) => ({
    type: { kind: "Tuple", items: args.map((it) => it.type) },
    build: lenient((...values) => (args.length === 0 ? [] : values)),
  })),
  special("tupleElement", [2, 2], ([tuple, index]) => {
    const at = Number(literal(index, "The index of a tuple"));
    const type = tuple?.type.kind === "Tuple" ? tuple.type.items[at - 1] : undefined;
    if (!type) throw illegalType(tuple?.type ?? nothing, "tupleElement");
    return { type, build: lenient((value) => items(value)[at - 1] ?? null) };
  }),
  arrayElement,
  ...["length", "empty", "notEmpty", "reverse"].map((name) =>
    special(name, [1, 1], ([arg]) => {
      const of = arg?.type ?? nothing;
      if (of.kind !== "Array") expectKind(arg, "string", name);
      const length = (value: HogQLValue) =>
        typeof value === "string" ? Buffer.byteLength(value) : items(value).length;
      const reversed = (value: HogQLValue) =>
        typeof value === "string" ? Buffer.from(value).reverse().toString() : items(value).toReversed();
      const type = name === "length" ? size : name === "reverse" ? of : flag;
      const run = (value: HogQLValue): HogQLValue => {
        if (name === "reverse") return reversed(value);
        return name === "length" ? length(value) : Number((length(value) === 0) === (name === "empty"));
      };
      return { type: nullable(type, of.nullable ?? false), build: strict(run) };
    }),
  ),
  lookUp("has", flag, (array, value) => Number(array.some((it) => equal(it, value)))),
  lookUp("indexOf", size, (array, value) => array.findIndex((it) => equal(it, value)) + 1),
  lookUp("countEqual", size, (array, value) => array.filter((it) => equal(it, value)).length),
  sets("hasAny", (a, keys) => a.some((it) => keys.has(keyOf(it)))),
  special("hasAll", [2, 2], ([a, b]) => {
    for (const it of [a, b]) expectKind(it, "array", "hasAll");
    common([itemOf(a?.type), itemOf(b?.type)], "hasAll");
    const run = (x: HogQLValue, y: HogQLValue = null): HogQLValue => {
      const keys = new Set(items(x).map(keyOf));
      return Number(items(y).every((it) => keys.has(keyOf(it))));
    };
    return { type: flag, build: strict(run) };
  }),
  special("arrayConcat", [2, many], (args) => {
    for (const it of args) expectKind(it, "array", "arrayConcat");
    return {
      type: arrayOf(
        common(
          args.map((it) => itemOf(it.type)),
          "arrayConcat",
        ),
      ),
      build: strict((...values) => values.flatMap((it) => [...items(it)])),
    };
  }),
  ...["arrayPushBack", "arrayPushFront"].map((name) =>
    special(name, [2, 2], ([array, value]) => {
      expectKind(array, "array", name);
      return {
        type: arrayOf(common([itemOf(array?.type), value?.type ?? nothing], name)),
        build: lenient((all, one = null) => (name === "arrayPushBack" ? [...items(all), one] : [one, ...items(all)])),
      };
    }),
  ),
  fn("arrayPopBack", ["array"], sameArray, (array) => array.slice(0, -1)),
  fn("arrayPopFront", ["array"], sameArray, (array) => array.slice(1)),
  fn("arrayReverse", ["array"], sameArray, (array) => array.toReversed()),
  fn("arrayDistinct", ["array"], sameArray, (array) => unique(known(array))),
  fn("arrayUniq", ["array"], size, (array) => unique(array).length),
  fn("arrayCompact", ["array"], sameArray, (array) =>
    array.filter((it, i) => i === 0 || !equal(it, array[i - 1] ?? null)),
  ),
  fn("arrayEnumerate", ["array"], arrayOf({ kind: "UInt32" }), (array) => array.map((_, i) => i + 1)),
  fn(
    "arrayFlatten",
    ["array"],
    ([type = nothing]) => {
      let item = itemOf(type);
      while (item.kind === "Array") item = item.item;
      return arrayOf(item);
    },
    flattened,
  ),
  fn("arraySlice", ["array", "integer", "integer?"], sameArray, (array, from, count) => {
    const start = from > 0 ? from - 1 : Math.max(0, array.length + from);
    const end = count === undefined ? array.length : count < 0 ? array.length + count : start + count;
    return array.slice(start, end);
  }),
  special("arrayStringConcat", [1, 2], ([array, separator], { zones }) => {
    expectKind(array, "array", "arrayStringConcat");
    expectKind(separator, "string", "arrayStringConcat");
    const item = itemOf(array?.type);
    const run = (all: HogQLValue, by: HogQLValue = ""): HogQLValue =>
      known(items(all))
        .map((it) => textOf(it, item, zones))
        .join(String(by));
    return { type: nullable(string, separator?.type.nullable ?? false), build: strict(run) };
  }),
  special("arrayZip", [2, many], (args) => {
    for (const it of args) expectKind(it, "array", "arrayZip");
    const run = (...values: HogQLValue[]): HogQLValue => {
      const all = values.map(items);
      if (all.some((it) => it.length !== all[0]?.length))
        throw new Refusal("Arrays passed to arrayZip must have equal size");
      return (all[0] ?? []).map((_, i) => all.map((it) => it[i] ?? null));
    };
    return { type: arrayOf({ kind: "Tuple", items: args.map((it) => itemOf(it.type)) }), build: strict(run) };
  }),
  fn("range", ["integer", "integer?", "integer?"], arrayOf({ kind: "UInt64" }), (a, b, step = 1) => {
    const [from, to] = b === undefined ? [0, a] : [a, b];
    if (step <= 0 || (to - from) / step > mostItems)
      throw new Refusal(`range has at most ${mostItems} items, and a step above 0`);
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step);
  }),
  sorted("arraySort"),
  // the service maps it to arraySort: posthog/hogql/functions/clickhouse/arrays.py
  sorted("arrayReverseSort"),
  statistic("arraySum", totalType, (values) => values.reduce((sum, it) => sum + it, 0)),
  statistic(
    "arrayAvg",
    () => float,
    (values) => values.reduce((sum, it) => sum + it, 0) / values.length,
  ),
  statistic(
    "arrayMin",
    (item) => nullable(item, false),
    (values) => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0),
  ),
  statistic(
    "arrayMax",
    (item) => nullable(item, false),
    (values) => values.reduce((a, b) => Math.max(a, b), values[0] ?? 0),
  ),
  withLambda("arrayMap", arrayOf, (results) => results),
  withLambda(
    "arrayFilter",
    (_, item) => arrayOf(item),
    (results, array) => array.filter((_, i) => isTrue(results[i])),
  ),
  withLambda(
    "arrayExists",
    () => flag,
    (results) => Number(results.some(isTrue)),
  ),
  withLambda(
    "arrayAll",
    () => flag,
    (results) => Number(results.every(isTrue)),
  ),
  withLambda(
    "arrayCount",
    () => ({ kind: "UInt32" }),
    (results) => results.filter(isTrue).length,
  ),
  withLambda(
    "arrayFirst",
    (_, item) => item,
    (results, array, other) => array[results.findIndex(isTrue)] ?? other,
  ),
  withLambda(
    "arrayLast",
    (_, item) => item,
    (results, array, other) => array[results.findLastIndex(isTrue)] ?? other,
  ),
  withLambda(
    "arrayFirstIndex",
    () => ({ kind: "UInt32" }),
    (results) => results.findIndex(isTrue) + 1,
  ),
];
