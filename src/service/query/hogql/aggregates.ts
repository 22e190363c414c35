import { Refusal } from "./refusal.ts";
import type { Accumulator, AggregateCode, Read, ValueBudget } from "./term.ts";
import { float, type HogQLValue, isNumber, nullable, type Type, totalType, typeName } from "./types.ts";
import { compareValues, defaultOf, keyOf, weightOf } from "./values.ts";

const mostValues = 5_000_000;

export function createBudget(): ValueBudget {
  let left = mostValues;
  return {
    take(count) {
      left -= count;
      if (left < 0) throw new Refusal(`The query keeps more than ${mostValues} values in memory`);
    },
  };
}

/** The computation of an aggregation with its state `S`. */
interface Fold<S> {
  start(): S;
  /** Not called for rows in which an argument is NULL. */
  add(state: S, a: HogQLValue, b: HogQLValue, budget: ValueBudget): void;
  /** NULL if no row was added. */
  end(state: S): HogQLValue;
}

interface Made<S> {
  readonly type: Type;
  readonly fold: Fold<S>;
  /** The result of no rows, unless the type has NULL (default: that of the type). */
  readonly none?: HogQLValue;
}

/** An aggregation: name, number of arguments, and what it does for arguments of some types. */
interface AggregateRow {
  readonly name: string;
  readonly args: readonly [least: number, most: number];
  readonly params?: readonly [least: number, most: number];
  fold(types: readonly Type[], params: readonly number[]): Made<never>;
}

function illegal(name: string, type: Type): Refusal {
  return new Refusal(`Illegal type ${typeName(type)} of argument for aggregate function ${name}`);
}

function row<S>(
  name: string,
  args: number | readonly [number, number],
  make: (types: readonly Type[], params: readonly number[], name: string) => Made<S>,
  params?: readonly [number, number],
): AggregateRow {
  return {
    name,
    args: typeof args === "number" ? [args, args] : args,
    ...(params && { params }),
    fold: (types, values) => make(types, values, name) as Made<never>,
  };
}

/** Aggregations of numbers; NULL if all are NULL. `none` is the result of no rows. */
function numeric<S>(
  name: string,
  type: (of: Type) => Type,
  fold: (of: Type, params: readonly number[]) => Fold<S>,
  none: number,
  params?: readonly [number, number],
): AggregateRow {
  const make = ([of = float]: readonly Type[], values: readonly number[]): Made<S> => {
    if (!isNumber(of.kind) && of.kind !== "Nothing") throw illegal(name, of);
    const result = nullable(type(of), of.nullable ?? false);
    const isFloat = result.kind === "Float64";
    return { type: result, fold: fold(of, values), none: isFloat ? none : 0 };
  };
  return row(name, 1, make, params);
}

interface Total {
  sum: number;
  count: number;
}

const totalFold = (end: (state: Total) => number): Fold<Total> => ({
  start: () => ({ sum: 0, count: 0 }),
  add(state, a) {
    state.sum += a as number;
    state.count += 1;
  },
  end: (state) => (state.count === 0 ? null : end(state)),
});

const sumFold = (of: Type): Fold<Total> => {
  const isWhole = totalType(of).kind !== "Float64";
  return totalFold(({ sum }) => {
    if (isWhole && !Number.isSafeInteger(sum))
      throw new Refusal("A sum of integers is beyond 2^53, which is not emulated");
    return sum;
  });
};

const averageFold = (): Fold<Total> => totalFold(({ sum, count }) => sum / count);

/** Welford's method. */
const varianceFold =
  (end: (squares: number, count: number) => number) => (): Fold<{ count: number; mean: number; squares: number }> => ({
    start: () => ({ count: 0, mean: 0, squares: 0 }),
    add(state, a) {
      const value = Number(a);
      state.count += 1;
      const off = value - state.mean;
      state.mean += off / state.count;
      state.squares += off * (value - state.mean);
    },
    end: ({ squares, count }) => (count === 0 ? null : end(squares, count)),
  });

/** The first (-1) or last (1) of the values in their order. */
const extremeFold = (sign: 1 | -1): Fold<{ best: HogQLValue }> => ({
  start: () => ({ best: null }),
  add(state, a) {
    if (state.best === null || compareValues(a, state.best) * sign > 0) state.best = a;
  },
  end: ({ best }) => best,
});

function extreme(name: string, sign: 1 | -1): AggregateRow {
  return row(name, 1, ([of = float]) => {
    if (of.kind === "Tuple" || of.kind === "Interval") throw illegal(name, of);
    return { type: of, fold: extremeFold(sign) };
  });
}

const pick = (name: string, isLast: boolean): AggregateRow =>
  row<{ value: HogQLValue }>(name, 1, ([of = float]) => ({
    type: of,
    fold: {
      start: () => ({ value: null }),
      add(state, a) {
        if (isLast || state.value === null) state.value = a;
      },
      end: ({ value }) => value,
    },
  }));

const pickBy = (name: string, sign: 1 | -1): AggregateRow =>
  row<{ value: HogQLValue; best: HogQLValue }>(name, 2, ([of = float, by = float]) => ({
    type: nullable(of, (of.nullable ?? false) || (by.nullable ?? false)),
    fold: {
      start: () => ({ value: null, best: null }),
      add(state, a, b) {
        if (state.best !== null && compareValues(b, state.best) * sign <= 0) return;
        state.best = b;
        state.value = a;
      },
      end: ({ value }) => value,
    },
  }));

const count: Fold<{ count: number }> = {
  start: () => ({ count: 0 }),
  add(state) {
    state.count += 1;
  },
  end: (state) => state.count,
};

const distinctFold: Fold<Set<unknown>> = {
  start: () => new Set(),
  add(state, a, _, budget) {
    const key = keyOf(a);
    if (state.has(key)) return;
    budget.take(weightOf(a));
    state.add(key);
  },
  end: (state) => state.size,
};

/** Number of distinct values, exactly: the service's `uniq` is an estimate for more than 65,536 of them. */
const uniq = (name: string): AggregateRow =>
  row(name, [1, 16], () => ({ type: { kind: "UInt64" } as const, fold: distinctFold }));

const arrayFold = (most: number, isUnique: boolean): Fold<Map<unknown, HogQLValue>> => ({
  start: () => new Map(),
  add(state, a, _, budget) {
    const key = isUnique ? keyOf(a) : state.size;
    if (state.size >= most || state.has(key)) return;
    budget.take(weightOf(a));
    state.set(key, a);
  },
  end: (state) => [...state.values()],
});

const array = (name: string, isUnique: boolean): AggregateRow =>
  row(
    name,
    1,
    ([of = float], [most = Number.POSITIVE_INFINITY]) => ({
      type: { kind: "Array", item: nullable(of, false) } as const,
      fold: arrayFold(most, isUnique),
    }),
    [0, 1],
  );

/** The value at a share of the sorted values, between two of them in proportion. Upstream ClickHouse, ReservoirSampler. */
function interpolated(sorted: Float64Array, level: number): number {
  const index = Math.max(0, Math.min(sorted.length - 1, level * (sorted.length - 1)));
  const left = Math.floor(index);
  const low = sorted[left] ?? Number.NaN;
  const high = sorted[left + 1];
  return high === undefined ? low : low * (left + 1 - index) + high * (index - left);
}

const exact = (sorted: Float64Array, level: number): number =>
  sorted[level < 1 ? Math.floor(level * sorted.length) : sorted.length - 1] ?? Number.NaN;

const samplesFold = (end: (sorted: Float64Array) => HogQLValue): Fold<number[]> => ({
  start: () => [],
  add(state, a, _, budget) {
    budget.take(1);
    if (!Number.isNaN(a)) state.push(a as number);
  },
  end: (state) => (state.length === 0 ? null : end(Float64Array.from(state).sort())),
});

function level(name: string, value = 0.5): number {
  if (!(value >= 0 && value <= 1)) throw new Refusal(`Aggregation '${name}' expects levels from 0 to 1`);
  return value;
}

const quantile = (name: string, at: typeof exact, type: (of: Type) => Type): AggregateRow =>
  numeric(name, type, (_, [share]) => samplesFold((sorted) => at(sorted, level(name, share))), Number.NaN, [0, 1]);

const quantiles = (name: string, at: typeof exact): AggregateRow =>
  row(
    name,
    1,
    ([of = float], levels) => {
      if (!isNumber(of.kind) && of.kind !== "Nothing") throw illegal(name, of);
      const shares = levels.map((it) => level(name, it));
      return {
        type: { kind: "Array", item: float } as const,
        fold: samplesFold((sorted) => shares.map((it) => at(sorted, it))),
        none: shares.map(() => Number.NaN),
      };
    },
    [1, 100],
  );

const same = (type: Type): Type => nullable(type, false);
const always = (type: Type) => (): Type => type;

const topK = row(
  "topK",
  1,
  ([of = float], [most = 10]) => ({
    type: { kind: "Array", item: same(of) } as const,
    fold: {
      start: () => new Map<unknown, { value: HogQLValue; count: number }>(),
      add(
        state: Map<unknown, { value: HogQLValue; count: number }>,
        a: HogQLValue,
        _: HogQLValue,
        budget: ValueBudget,
      ) {
        const found = state.get(keyOf(a));
        if (found) found.count += 1;
        else {
          budget.take(weightOf(a));
          state.set(keyOf(a), { value: a, count: 1 });
        }
      },
      end: (state: Map<unknown, { value: HogQLValue; count: number }>) =>
        [...state.values()]
          .sort((a, b) => b.count - a.count)
          .slice(0, most)
          .map((it) => it.value),
    },
  }),
  [1, 1],
);

/** The aggregations. Each has a form with a condition as its last argument, e.g. `sumIf`. */
const rows: readonly AggregateRow[] = [
  row("count", [0, 1], () => ({ type: { kind: "UInt64" }, fold: count })),
  numeric("sum", totalType, sumFold, 0),
  numeric("avg", always(float), averageFold, Number.NaN),
  extreme("min", -1),
  extreme("max", 1),
  pick("any", false),
  pick("anyLast", true),
  pickBy("argMin", -1),
  pickBy("argMax", 1),
  uniq("uniq"),
  uniq("uniqExact"),
  uniq("uniqHLL12"),
  uniq("uniqTheta"),
  uniq("countDistinct"),
  array("groupArray", false),
  array("array_agg", false),
  array("groupUniqArray", true),
  quantile("median", interpolated, always(float)),
  quantile("quantile", interpolated, always(float)),
  quantile("medianExact", exact, same),
  quantile("quantileExact", exact, same),
  quantiles("quantiles", interpolated),
  quantiles("quantilesExact", exact),
  numeric(
    "varPop",
    always(float),
    varianceFold((squares, n) => squares / n),
    Number.NaN,
  ),
  numeric(
    "varSamp",
    always(float),
    varianceFold((squares, n) => (n < 2 ? Number.NaN : squares / (n - 1))),
    Number.NaN,
  ),
  numeric(
    "stddevPop",
    always(float),
    varianceFold((squares, n) => Math.sqrt(squares / n)),
    Number.NaN,
  ),
  numeric(
    "stddevSamp",
    always(float),
    varianceFold((squares, n) => (n < 2 ? Number.NaN : Math.sqrt(squares / (n - 1)))),
    Number.NaN,
  ),
  topK,
];

/** These are found in any case. */
const caseless = ["count", "min", "max", "sum", "avg"];

const byName = (name: string): AggregateRow | undefined =>
  rows.find((it) => it.name === name) ??
  (caseless.includes(name.toLowerCase()) ? rows.find((it) => it.name === name.toLowerCase()) : undefined);

/** Row of an aggregation; `isConditional` for a name with the ending `If`. */
export function aggregateNamed(name: string): { row: AggregateRow; isConditional: boolean } | undefined {
  const plain = byName(name);
  if (plain) return { row: plain, isConditional: false };
  const conditional = name.endsWith("If") ? rows.find((it) => `${it.name}If` === name) : undefined;
  return conditional && { row: conditional, isConditional: true };
}

export const aggregateNames: readonly string[] = rows.flatMap(({ name }) => [name, `${name}If`]);

interface Call {
  readonly row: AggregateRow;
  readonly types: readonly Type[];
  readonly params: readonly number[];
  readonly isDistinct: boolean;
  /** The last read of `accumulate` is a condition. */
  readonly hasCondition: boolean;
}

type Add = (state: unknown, row: number) => void;

/** The aggregation of a call. @throws Refusal if the types do not fit */
export function aggregateOf({ row, types, params, isDistinct, hasCondition }: Call): AggregateCode {
  const isCount = isDistinct && row.name === "count";
  const of = (isCount ? byName("uniqExact") : undefined) ?? row;
  const { type, fold: made, none = defaultOf(type) } = of.fold(types, params);
  const fold = made as Fold<unknown>;
  return {
    type,
    accumulate(reads, budget) {
      const condition = hasCondition ? reads.at(-1) : undefined;
      const args = hasCondition ? reads.slice(0, -1) : reads;
      const add = adding(fold, of.args[1] > 2 && args.length > 1 ? [tuple(args)] : args, budget);
      const accumulator: Accumulator = {
        start: () => fold.start(),
        add: condition ? when(condition, add) : add,
        end: (state) => fold.end(state) ?? (type.nullable ? null : none),
      };
      return isDistinct && !isCount ? distinct(accumulator, tuple(args), budget) : accumulator;
    },
  };
}

function adding(fold: Fold<unknown>, [first, second]: readonly Read[], budget: ValueBudget): Add {
  if (!first) return (state) => fold.add(state, 0, 0, budget);
  if (!second)
    return (state, row) => {
      const a = first(row);
      if (a !== null) fold.add(state, a, 0, budget);
    };
  return (state, row) => {
    const a = first(row);
    const b = second(row);
    if (a !== null && b !== null) fold.add(state, a, b, budget);
  };
}

const when =
  (condition: Read, add: Add): Add =>
  (state, row) => {
    const passes = condition(row);
    if (passes !== null && passes !== 0) add(state, row);
  };

/** Adds only the first of rows with equal arguments. */
function distinct({ start, add, end }: Accumulator, args: Read, budget: ValueBudget): Accumulator {
  interface Seen {
    readonly keys: Set<unknown>;
    readonly state: unknown;
  }
  return {
    start: (): Seen => ({ keys: new Set(), state: start() }),
    add(given, row) {
      const { keys, state } = given as Seen;
      const key = keyOf(args(row));
      if (keys.has(key)) return;
      budget.take(1);
      keys.add(key);
      add(state, row);
    },
    end: (given) => end((given as Seen).state),
  };
}

/** The values as one; NULL if one of them is. */
const tuple =
  (args: readonly Read[]): Read =>
  (row) => {
    const values = args.map((it) => it(row));
    return values.includes(null) ? null : values;
  };
