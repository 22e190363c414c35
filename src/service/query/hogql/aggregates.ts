import type { Located } from "./ast.ts";
import { checkCount, Refusal } from "./refusal.ts";
import { type Accumulator, type HogQLTerm, type Read, termsIn, type ValueBudget } from "./term.ts";
import { float, type HogQLValue, isNumber, nullable, type Type, totalType, typeName } from "./types.ts";
import { compareValues, defaultOf, isTrue, keyOf, weightOf } from "./values.ts";

/** The computation of an aggregation with its state `S`. */
interface Fold<S> {
  start(): S;
  /** Not called for rows in which an argument is NULL. */
  add(state: S, a: HogQLValue, b: HogQLValue, budget: ValueBudget): void;
  /** NULL if no row was added. */
  end(state: S): HogQLValue;
  /** The result of no rows, unless the type has NULL (default: that of the type). */
  readonly none?: HogQLValue;
}

type Range = readonly [least: number, most: number];
const one: Range = [1, 1];
type MakeFold<S> = (params: readonly number[], name: string, type: Type) => Fold<S>;

/** An aggregation: numbers of arguments and of parameters, the type for types of arguments, the computation. */
interface AggregateRow {
  readonly args: Range;
  readonly params: Range;
  type(of: Type, by: Type, name: string): Type;
  readonly fold: MakeFold<never>;
}

const illegal = (name: string, type: Type): Refusal =>
  new Refusal(`Illegal type ${typeName(type)} of argument for aggregate function ${name}`);

const row = <S>(args: Range, type: AggregateRow["type"], fold: MakeFold<S>, params: Range = [0, 0]): AggregateRow => ({
  args,
  params,
  type,
  fold: fold as MakeFold<never>,
});

/** Aggregations of numbers. Without rows NaN, or 0 for integers. */
const numeric = <S>(of: (type: Type) => Type, make: MakeFold<S>, params?: Range): AggregateRow =>
  row<S>(
    one,
    (type, _, name) => {
      if (!isNumber(type.kind) && type.kind !== "Nothing") throw illegal(name, type);
      return nullable(of(type), type.nullable ?? false);
    },
    (values, name, type) => ({ none: type.kind === "Float64" ? Number.NaN : 0, ...make(values, name, type) }),
    params,
  );

interface Total {
  sum: number;
  count: number;
}

const totals = (end: (state: Total) => number): Fold<Total> => ({
  start: () => ({ sum: 0, count: 0 }),
  add(state, a) {
    state.sum += a as number;
    state.count += 1;
  },
  end: (state) => (state.count === 0 ? null : end(state)),
});

const sum: MakeFold<Total> = (_, __, { kind }) => {
  const end = ({ sum }: Total): number => {
    if (kind === "Float64" || Number.isSafeInteger(sum)) return sum;
    throw new Refusal("A sum of integers is beyond 2^53, which is not emulated");
  };
  return { ...totals(end), none: 0 };
};

const real = (): Type => float;

/** Welford's method. */
const variance = (end: (squares: number, count: number) => number): AggregateRow =>
  numeric(real, () => ({
    start: () => ({ count: 0, mean: 0, squares: 0 }),
    add(state, a) {
      const off = Number(a) - state.mean;
      state.count += 1;
      state.mean += off / state.count;
      state.squares += off * (Number(a) - state.mean);
    },
    end: ({ squares, count }) => (count === 0 ? null : end(squares, count)),
  }));
const ofSample = (squares: number, count: number): number => (count < 2 ? Number.NaN : squares / (count - 1));

/** The first argument of one row: the first, or one whose last argument replaces that of the row so far. */
const chosen = (args: 1 | 2, type: AggregateRow["type"], replaces: (by: HogQLValue, best: HogQLValue) => boolean) =>
  row<{ value: HogQLValue; best: HogQLValue }>([args, args], type, () => ({
    start: () => ({ value: null, best: null }),
    add(state, a, b) {
      const by = args === 2 ? b : a;
      if (state.best !== null && !replaces(by, state.best)) return;
      state.best = by;
      state.value = a;
    },
    end: ({ value }) => value,
  }));
const isLess = (a: HogQLValue, b: HogQLValue): boolean => compareValues(a, b) < 0;
const isMore = (a: HogQLValue, b: HogQLValue): boolean => compareValues(a, b) > 0;

const same = (type: Type): Type => type;
const listOf = (type: Type): Type => ({ kind: "Array", item: nullable(type, false) });
const byOther = (type: Type, by: Type): Type => nullable(type, (type.nullable ?? false) || (by.nullable ?? false));
function ordered(type: Type, _: Type, name: string): Type {
  if (type.kind === "Tuple" || type.kind === "Interval") throw illegal(name, type);
  return type;
}
const whole = (): Type => ({ kind: "UInt64" });

const count: Fold<{ count: number }> = {
  start: () => ({ count: 0 }),
  add(state) {
    state.count += 1;
  },
  end: (state) => state.count,
};

type Distinct = Map<unknown, { readonly value: HogQLValue; count: number }>;

/** The distinct values, and how often each occurs. */
const distinctFold = (end: (values: Distinct) => HogQLValue): Fold<Distinct> => ({
  start: () => new Map(),
  add(state, a, _, budget) {
    const key = keyOf(a);
    const known = state.get(key);
    if (known) known.count += 1;
    else {
      budget.take(weightOf(a));
      state.set(key, { value: a, count: 1 });
    }
  },
  end,
});
const most = (values: readonly { readonly value: HogQLValue }[], count?: number): HogQLValue[] =>
  values.slice(0, count).map((it) => it.value);

/** Number of distinct values, exactly: the service's `uniq` is an estimate for more than 65,536 of them. */
const uniq = row([1, 16], whole, () => distinctFold((values) => values.size));
const uniqArray = row(one, listOf, ([count]) => distinctFold((values) => most([...values.values()], count)), [0, 1]);
const topFold: MakeFold<Distinct> = ([count = 10]) =>
  distinctFold((values) =>
    most(
      [...values.values()].sort((a, b) => b.count - a.count),
      count,
    ),
  );
const arrayFold: MakeFold<HogQLValue[]> = ([count = Number.POSITIVE_INFINITY]) => ({
  start: () => [],
  add(state, a, _, budget) {
    if (state.length >= count) return;
    budget.take(weightOf(a));
    state.push(a);
  },
  end: (state) => [...state],
});
const array = row(one, listOf, arrayFold, [0, 1]);

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

const samples = (end: (sorted: Float64Array) => HogQLValue): Fold<number[]> => ({
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

const quantile = (at: typeof exact, type: (of: Type) => Type): AggregateRow =>
  numeric(type, ([share], name) => samples((sorted) => at(sorted, level(name, share))), [0, 1]);

const quantilesFold =
  (at: typeof exact): MakeFold<number[]> =>
  (levels, name) => {
    const shares = levels.map((it) => level(name, it));
    return { ...samples((sorted) => shares.map((it) => at(sorted, it))), none: shares.map(() => Number.NaN) };
  };
const quantiles = (at: typeof exact): AggregateRow => numeric(() => listOf(float), quantilesFold(at), [1, 100]);

/** The aggregations. Each has a form with a condition as its last argument, e.g. `sumIf`. */
const rows: Readonly<Record<string, AggregateRow>> = {
  count: row([0, 1], whole, () => count),
  sum: numeric(totalType, sum),
  avg: numeric(real, () => totals(({ sum, count }) => sum / count)),
  min: chosen(1, ordered, isLess),
  max: chosen(1, ordered, isMore),
  any: chosen(1, same, () => false),
  anyLast: chosen(1, same, () => true),
  argMin: chosen(2, byOther, isLess),
  argMax: chosen(2, byOther, isMore),
  ...{ uniq, uniqExact: uniq, uniqHLL12: uniq, uniqTheta: uniq, countDistinct: uniq },
  ...{ groupArray: array, array_agg: array, groupUniqArray: uniqArray },
  ...{ median: quantile(interpolated, real), quantile: quantile(interpolated, real) },
  ...{ medianExact: quantile(exact, same), quantileExact: quantile(exact, same) },
  ...{ quantiles: quantiles(interpolated), quantilesExact: quantiles(exact) },
  varPop: variance((squares, n) => squares / n),
  varSamp: variance(ofSample),
  stddevPop: variance((squares, n) => Math.sqrt(squares / n)),
  stddevSamp: variance((squares, n) => Math.sqrt(ofSample(squares, n))),
  topK: row(one, listOf, topFold, one),
};

export const aggregateNames: readonly string[] = Object.keys(rows).flatMap((name) => [name, `${name}If`]);

const caseless = ["count", "min", "max", "sum", "avg"];

/** An aggregation by its name, or by that of its form with a condition. */
export function aggregateNamed(name: string): { name: string; isConditional: boolean } | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(rows, name)) return { name, isConditional: false };
  if (caseless.includes(lower)) return { name: lower, isConditional: false };
  const plain = name.replace(/If$/, "");
  return plain !== name && Object.hasOwn(rows, plain) ? { name: plain, isConditional: true } : undefined;
}

interface Call {
  readonly name: string;
  readonly args: readonly HogQLTerm[];
  readonly params: readonly HogQLTerm[] | undefined;
  readonly filter: HogQLTerm | undefined;
  readonly isDistinct: boolean;
  /** Over a window, where arguments may be aggregations. */
  readonly isWindow: boolean;
  readonly at: Located;
}

/** The term of a call. `both` makes one condition of two. @throws Refusal if the arguments do not fit */
export function aggregateCall(
  call: Call,
  both: (conditions: readonly HogQLTerm[]) => HogQLTerm,
): HogQLTerm & { op: "aggregate" } {
  const { name, args: all, filter, isDistinct, isWindow, at } = call;
  const named = aggregateNamed(name);
  const row = rows[named?.name ?? ""];
  if (!named || !row) throw new Refusal(`There is no aggregation ${name}`, at);
  const extra = Number(named.isConditional);
  const isCount = isDistinct && named.name === "count";
  checkCount(`Aggregation '${name}'`, all.length, isCount ? [1, 16] : [row.args[0] + extra, row.args[1] + extra], at);
  const params = paramsOf(call, row);
  const [nested] = [...all, ...(filter ? [filter] : [])].flatMap((it) => termsIn(it, "aggregate"));
  if (nested && !isWindow)
    throw new Refusal(`Aggregation '${nested.name}' cannot be nested inside another aggregation '${name}'.`, at);
  const values = all.slice(0, all.length - extra);
  const conditions = [...all.slice(all.length - extra), ...(filter ? [filter] : [])];
  for (const { type } of conditions)
    if (!isNumber(type.kind) && type.kind !== "Nothing")
      throw new Refusal(`Illegal type ${typeName(type)} of the condition of '${name}'`, at);
  const hasCondition = conditions.length > 0;
  const args = [...values, ...(conditions.length > 1 ? [both(conditions)] : conditions)];
  const of = isCount ? uniq : row;
  const type = of.type(values[0]?.type ?? float, values[1]?.type ?? float, named.name);
  const fold = of.fold(params, named.name, type) as Fold<unknown>;
  const none = fold.none ?? defaultOf(type);
  return {
    op: "aggregate",
    name,
    key: `${named.name}${hasCondition ? "If" : ""}{${params}}${isDistinct}(${args.map((it) => it.key)})`,
    type,
    args,
    at,
    accumulate(reads, budget) {
      const condition = hasCondition ? reads.at(-1) : undefined;
      const own = hasCondition ? reads.slice(0, -1) : reads;
      const add = adding(fold, of.args[1] > 2 && own.length > 1 ? [tuple(own)] : own, budget);
      const accumulator: Accumulator = {
        start: () => fold.start(),
        add: condition ? (state, row) => isTrue(condition(row)) && add(state, row) : add,
        end: (state) => fold.end(state) ?? (type.nullable ? null : none),
      };
      return isDistinct && !isCount ? distinct(accumulator, tuple(own), budget) : accumulator;
    },
  };
}

function paramsOf({ name, params, at }: Call, row: AggregateRow): number[] {
  const values = (params ?? []).map((it) => {
    if (it.op === "constant" && isNumber(it.type.kind)) return Number(it.value);
    throw new Refusal(`The parameters of the aggregation '${name}' must be numbers`, it.at);
  });
  if (params) checkCount(`Aggregation '${name}'`, values.length, row.params, at, "parameter");
  else if (row.params[0] > 0)
    throw new Refusal(`Aggregation '${name}' requires parameters in addition to arguments`, at);
  return values;
}

function adding(fold: Fold<unknown>, [first, second]: readonly Read[], budget: ValueBudget): Accumulator["add"] {
  if (!first) return (state) => fold.add(state, 0, 0, budget);
  return (state, row) => {
    const a = first(row);
    const b = second ? second(row) : 0;
    if (a !== null && b !== null) fold.add(state, a, b, budget);
  };
}

/** Adds only the first of rows with equal arguments. */
function distinct({ start, add, end }: Accumulator, args: Read, budget: ValueBudget): Accumulator {
  interface Seen {
    readonly keys: Set<unknown>;
    readonly state: unknown;
  }
  return {
    start: (): Seen => ({ keys: new Set(), state: start() }),
    add(seen, row) {
      const { keys, state } = seen as Seen;
      const key = keyOf(args(row));
      if (keys.has(key)) return;
      budget.take(1);
      keys.add(key);
      add(state, row);
    },
    end: (seen) => end((seen as Seen).state),
  };
}

/** The values as one; NULL if one of them is. */
const tuple =
  (args: readonly Read[]): Read =>
  (row) => {
    const values = args.map((it) => it(row));
    return values.includes(null) ? null : values;
  };
