import { Refusal } from "../refusal.ts";
import type { HogQLTerm, Read } from "../term.ts";
import {
  commonType,
  flag,
  float,
  type HogQLValue,
  isNumber,
  nothing,
  nullable,
  string,
  type Type,
  totalType,
} from "../types.ts";
import { compareValues, defaultOf, isTrue, keyOf, textOf } from "../values.ts";
import { expectKind, type FunctionRow, fn, illegalType, lenient, literal, many, special, typed } from "./row.ts";

const size: Type = { kind: "UInt64" };
const index: Type = { kind: "UInt32" };
const mostItems = 1_000_000;

type Items = readonly HogQLValue[];
type Typed = HogQLTerm | undefined;

const itemOf = (type: Type | undefined): Type => (type?.kind === "Array" ? type.item : nothing);
const items = (value: HogQLValue | undefined): Items => (typeof value === "object" && value !== null ? value : []);
const arrayOf = (item: Type): Type => ({ kind: "Array", item });
const sameArray = ([type = nothing]: readonly Type[]): Type => type;

const itemTypes = (args: readonly HogQLTerm[]): Type[] => args.map((it) => itemOf(it.type));

function common(types: readonly Type[], name: string): Type {
  const type = commonType(types);
  if (!type) throw new Refusal(`The arguments of ${name} have no common type`);
  return type;
}

const equal = (a: HogQLValue, b: HogQLValue): boolean => keyOf(a) === keyOf(b);

/** A function of an array and a value, which may be NULL. */
const withValue = (
  name: string,
  type: Type | undefined,
  run: (all: Items, one: HogQLValue) => HogQLValue,
): FunctionRow =>
  special(name, [2, 2], ([array, value]) => {
    expectKind(array, "array", name);
    const item = common([itemOf(array?.type), value?.type ?? nothing], name);
    return { type: type ?? arrayOf(item), build: lenient((all = null, one = null) => run(items(all), one)) };
  });

const sets = (name: string, run: (a: Items, b: Items) => boolean): FunctionRow =>
  typed(name, ["array", "array"], (args) => {
    common(itemTypes(args), name);
    return [flag, (a, b) => Number(run(a, b))];
  });
const isIn = (values: Items): ((it: HogQLValue) => boolean) => {
  const keys = new Set(values.map(keyOf));
  return (it) => keys.has(keyOf(it));
};

/** An item by its number, from 1, or from the end, -1; the type's default beyond the ends. */
const arrayElement = typed("arrayElement", ["array", "integer"], ([array]) => {
  const type = itemOf(array?.type);
  const other = defaultOf(type);
  const run = (all: Items, at: number): HogQLValue => {
    if (at === 0) throw new Refusal("Array indices are 1-based");
    return all.at(at > 0 ? at - 1 : at) ?? other;
  };
  return [type, run];
});

function mapped(lambda: Typed, [body, ...arrays]: readonly Read[]): (row: number) => Items {
  if (lambda?.op !== "lambda") throw new Refusal("The first argument must be a function", lambda?.at);
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

/** A function of an array, after a lambda or not. */
const statistic = (
  name: string,
  type: Type | ((item: Type) => Type),
  run: (values: readonly number[]) => number,
): FunctionRow =>
  special(name, [1, 2], (args) => {
    const [lambda, array] = args.length === 2 ? args : [undefined, args[0]];
    const item = lambda?.op === "lambda" ? lambda.type : itemOf(array?.type);
    if (!isNumber(item.kind) && item.kind !== "Nothing") throw illegalType(item, name);
    const build = (reads: readonly Read[]) => {
      const values = lambda ? mapped(lambda, reads) : (row: number) => items(reads[0]?.(row));
      return (row: number) => run(known(values(row)).map(Number));
    };
    return { type: typeof type === "function" ? type(item) : type, build };
  });

const withLambda = (
  name: string,
  type: Type | ((result: Type, item: Type) => Type),
  run: (results: Items, array: Items, other: HogQLValue) => HogQLValue,
): FunctionRow =>
  special(name, [2, many], ([lambda, array]) => {
    if (lambda?.op !== "lambda") throw new Refusal(`The first argument of ${name} must be a function`, lambda?.at);
    const item = itemOf(array?.type);
    const other = defaultOf(item);
    const build = (reads: readonly Read[]) => {
      const results = mapped(lambda, reads);
      return (row: number) => run(results(row), items(reads[1]?.(row)), other);
    };
    return { type: typeof type === "function" ? type(lambda.type, item) : type, build };
  });

/** Sorts by value, or by the results of a lambda. */
const sorted = (name: string): FunctionRow =>
  special(name, [1, 2], (args) => {
    const [lambda, array] = args.length === 2 ? args : [undefined, args[0]];
    expectKind(array, "array", name);
    const build = (reads: readonly Read[]) => {
      const keys = lambda ? mapped(lambda, reads) : undefined;
      return (row: number) => {
        const all = items(reads.at(-1)?.(row));
        const by = keys?.(row) ?? all;
        const order = all.map((_, i) => i).sort((a, b) => compareValues(by[a] ?? null, by[b] ?? null));
        return order.map((i) => all[i] ?? null);
      };
    };
    return { type: array?.type ?? arrayOf(nothing), build };
  });

const flattened = (array: Items): HogQLValue[] =>
  array.flatMap((it) => (typeof it === "object" && it !== null ? flattened(it) : [it]));
const flatType = (type: Type): Type => (type.kind === "Array" ? flatType(type.item) : type);
const unique = (values: Items): HogQLValue[] => [...new Map(values.map((it) => [keyOf(it), it])).values()];
const known = (values: Items): HogQLValue[] => values.filter((it) => it !== null);
const sum = (values: readonly number[]): number => values.reduce((total, it) => total + it, 0);
const sameItems = (_: Type, item: Type): Type => arrayOf(item);
const itself = (_: Type, item: Type): Type => item;
const plain = (item: Type): Type => nullable(item, false);

function zipped(...all: Items[]): HogQLValue {
  if (all.some((it) => it.length !== all[0]?.length))
    throw new Refusal("Arrays passed to arrayZip must have equal size");
  return (all[0] ?? []).map((_, i) => all.map((it) => it[i] ?? null));
}

/** Functions of strings, in bytes, and of arrays: [name, type of the result, of a string, of an array]. */
type Either = readonly [string, Type | undefined, (of: Buffer) => HogQLValue, (of: Items) => HogQLValue];
const ofEither: readonly Either[] = [
  ["length", size, (of) => of.length, (of) => of.length],
  ["empty", flag, (of) => Number(of.length === 0), (of) => Number(of.length === 0)],
  ["notEmpty", flag, (of) => Number(of.length > 0), (of) => Number(of.length > 0)],
  ["reverse", undefined, (of) => of.reverse().toString(), (of) => of.toReversed()],
];

export const arrayFunctions: readonly FunctionRow[] = [
  special("array", [0, many], (args) => {
    const types = args.map((it) => it.type);
    return { type: arrayOf(common(types, "array")), build: lenient((...values) => values) };
  }),
  special("tuple", [0, many], (args) => ({
    type: { kind: "Tuple", items: args.map((it) => it.type) },
    build: lenient((...values) => values),
  })),
  special("tupleElement", [2, 2], ([tuple, place]) => {
    const at = Number(literal(place, "The index of a tuple"));
    const type = tuple?.type.kind === "Tuple" ? tuple.type.items[at - 1] : undefined;
    if (!type) throw illegalType(tuple?.type ?? nothing, "tupleElement");
    return { type, build: lenient((value) => items(value)[at - 1] ?? null) };
  }),
  arrayElement,
  ...ofEither.map(([name, result, ofText, ofItems]) =>
    typed(name, ["any"], ([arg]) => {
      const type = arg?.type ?? nothing;
      if (type.kind !== "Array") expectKind(arg, "string", name);
      return [result ?? type, (it) => (typeof it === "string" ? ofText(Buffer.from(it)) : ofItems(items(it)))];
    }),
  ),
  withValue("has", flag, (all, one) => Number(all.some((it) => equal(it, one)))),
  withValue("indexOf", size, (all, one) => all.findIndex((it) => equal(it, one)) + 1),
  withValue("countEqual", size, (all, one) => all.filter((it) => equal(it, one)).length),
  withValue("arrayPushBack", undefined, (all, one) => [...all, one]),
  withValue("arrayPushFront", undefined, (all, one) => [one, ...all]),
  sets("hasAny", (a, b) => a.some(isIn(b))),
  sets("hasAll", (a, b) => b.every(isIn(a))),
  typed("arrayConcat", ["array", "array", "array*"], (args) => [
    arrayOf(common(itemTypes(args), "arrayConcat")),
    (...arrays) => arrays.flat(1),
  ]),
  fn("arrayPopBack", ["array"], sameArray, (array) => array.slice(0, -1)),
  fn("arrayPopFront", ["array"], sameArray, (array) => array.slice(1)),
  fn("arrayReverse", ["array"], sameArray, (array) => array.toReversed()),
  fn("arrayDistinct", ["array"], sameArray, (array) => unique(known(array))),
  fn("arrayUniq", ["array"], size, (array) => unique(array).length),
  fn("arrayCompact", ["array"], sameArray, (all) => all.filter((it, i) => i === 0 || !equal(it, all[i - 1] ?? null))),
  fn("arrayEnumerate", ["array"], arrayOf(index), (array) => array.map((_, i) => i + 1)),
  fn("arrayFlatten", ["array"], ([type = nothing]) => arrayOf(flatType(type)), flattened),
  fn("arraySlice", ["array", "integer", "integer?"], sameArray, (array, from, count) => {
    const start = from > 0 ? from - 1 : Math.max(0, array.length + from);
    const end = count === undefined ? array.length : count < 0 ? array.length + count : start + count;
    return array.slice(start, end);
  }),
  typed("arrayStringConcat", ["array", "string?"], ([array], { zones }) => {
    const text = (it: HogQLValue): string => textOf(it, itemOf(array?.type), zones);
    return [string, (all, by = "") => known(all).map(text).join(by)];
  }),
  typed("arrayZip", ["array", "array", "array*"], (args) => [
    arrayOf({ kind: "Tuple", items: itemTypes(args) }),
    zipped,
  ]),
  fn("range", ["integer", "integer?", "integer?"], arrayOf(size), (a, b, step = 1) => {
    const [from, to] = b === undefined ? [0, a] : [a, b];
    if (step <= 0 || (to - from) / step > mostItems)
      throw new Refusal(`range has at most ${mostItems} items, and a step above 0`);
    return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step);
  }),
  sorted("arraySort"),
  // the service maps it to arraySort: posthog/hogql/functions/clickhouse/arrays.py
  sorted("arrayReverseSort"),
  statistic("arraySum", totalType, sum),
  statistic("arrayAvg", float, (values) => sum(values) / values.length),
  statistic("arrayMin", plain, (values) => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0)),
  statistic("arrayMax", plain, (values) => values.reduce((a, b) => Math.max(a, b), values[0] ?? 0)),
  withLambda("arrayMap", arrayOf, (results) => results),
  withLambda("arrayFilter", sameItems, (results, array) => array.filter((_, i) => isTrue(results[i]))),
  withLambda("arrayExists", flag, (results) => Number(results.some(isTrue))),
  withLambda("arrayAll", flag, (results) => Number(results.every(isTrue))),
  withLambda("arrayCount", index, (results) => results.filter(isTrue).length),
  withLambda("arrayFirst", itself, (results, array, other) => array[results.findIndex(isTrue)] ?? other),
  withLambda("arrayLast", itself, (results, array, other) => array[results.findLastIndex(isTrue)] ?? other),
  withLambda("arrayFirstIndex", index, (results) => results.findIndex(isTrue) + 1),
];
