import { own } from "../../../kernel/base/json.ts";
import { rowsPerStep, type Steps } from "../table.ts";
import type { Located, WindowNode } from "./ast.ts";
import { numbering } from "./grouping.ts";
import { checkCount, Refusal } from "./refusal.ts";
import { order, sorted } from "./sort.ts";
import { type Accumulator, compile, type HogQLTerm, type Read } from "./term.ts";
import { type HogQLValue, nothing, type Type } from "./types.ts";
import { defaultOf, keyOf, weightOf } from "./values.ts";

/** The place of a row in its partition: in order, and among rows of the same place in the order, its peers. */
interface Place {
  /** Rows of the partition in order. */
  readonly rows: readonly number[];
  readonly at: number;
  readonly firstPeer: number;
  /** Number of the peers, from 1. */
  readonly peers: number;
  /** First and last row of the frame. */
  readonly from: number;
  readonly to: number;
}

/** A function of the place of a row; `value` reads the first argument of a row of the partition. */
interface WindowFunction {
  readonly args: readonly [least: number, most: number];
  /** Default: that of the first argument. */
  readonly type?: Type;
  /** Undefined if there is no such row. */
  read(place: Place, value: (at: number) => HogQLValue, n: number): HogQLValue | undefined;
}

const whole: Type = { kind: "UInt64" };
const inside = (at: number, from: number, to: number): number | undefined => (at >= from && at <= to ? at : undefined);

/** Of another row, `sign` rows away. */
const away = (sign: 1 | -1, isInFrame: boolean): WindowFunction => ({
  args: [1, 3],
  read({ rows, at, from, to }, value, n) {
    const other = isInFrame ? inside(at + sign * n, from, to) : inside(at + sign * n, 0, rows.length - 1);
    return other === undefined ? undefined : value(other);
  },
});

const known = (step: 1 | -1): WindowFunction => ({
  args: [1, 1],
  read({ from, to }, value) {
    for (let at = step > 0 ? from : to; at >= from && at <= to; at += step) {
      const found = value(at);
      if (found !== null) return found;
    }
    return undefined;
  },
});

/** Functions that need a window; aggregations can have one. */
export const windowFunctions: Readonly<Record<string, WindowFunction>> = {
  row_number: { args: [0, 0], type: whole, read: ({ at }) => at + 1 },
  rank: { args: [0, 0], type: whole, read: ({ firstPeer }) => firstPeer + 1 },
  dense_rank: { args: [0, 0], type: whole, read: ({ peers }) => peers },
  first_value: known(1),
  last_value: known(-1),
  nth_value: {
    args: [2, 2],
    read({ from, to }, value, n) {
      const at = inside(from + n - 1, from, to);
      return at === undefined ? undefined : value(at);
    },
  },
  lag: away(-1, false),
  lead: away(1, false),
  lagInFrame: away(-1, true),
  leadInFrame: away(1, true),
};

/** A frame: distances of rows, or for `RANGE` 0 for the peers; infinite for UNBOUNDED. */
interface Frame {
  readonly isRows: boolean;
  readonly from: number;
  readonly to: number;
}

function frameOf({ frame_method, frame_start, frame_end, order_by }: WindowNode, at: Located): Frame {
  if (!frame_start)
    return { isRows: false, from: Number.NEGATIVE_INFINITY, to: order_by ? 0 : Number.POSITIVE_INFINITY };
  const [from, to] = [frame_start, frame_end].map((bound) => {
    if (!bound || bound.frame_type === "CURRENT ROW") return 0;
    const size = bound.frame_value ?? Number.POSITIVE_INFINITY;
    return bound.frame_type === "PRECEDING" ? -size : size;
  });
  if ((from ?? 0) > (to ?? 0)) throw new Refusal("The frame ends before it starts", at);
  const isRows = frame_method === "ROWS";
  if (!isRows && [from, to].some((it) => it !== 0 && Number.isFinite(it)))
    throw new Refusal("A frame of RANGE with a number is not emulated; use ROWS", at);
  return { isRows, from: from ?? 0, to: to ?? 0 };
}

/** The places of the rows of a partition, which are in order. */
function* placesOf(rows: readonly number[], reads: readonly Read[], frame: Frame): Steps<Place[]> {
  const starts: { first: number; last: number }[] = [];
  const peersAt: number[] = [];
  let previous: unknown;
  for (const [at, row] of rows.entries()) {
    if (at % rowsPerStep === rowsPerStep - 1) yield undefined;
    const key = keyOf(reads.map((it) => it(row)));
    if (at === 0 || key !== previous) starts.push({ first: at, last: at });
    previous = key;
    const peers = starts.at(-1);
    if (peers) peers.last = at;
    peersAt.push(starts.length);
  }
  const end = rows.length - 1;
  return peersAt.map((peers, at) => {
    const { first, last } = starts[peers - 1] ?? { first: at, last: at };
    const from = frame.isRows ? at + frame.from : frame.from === 0 ? first : 0;
    const to = frame.isRows ? at + frame.to : frame.to === 0 ? last : end;
    return { rows, at, firstPeer: first, peers, from: Math.max(0, from), to: Math.min(end, to) };
  });
}

/** The results of an aggregation of frames. Rows are added to those of the frame before, if it has the same start. */
function framed({ start, add, end }: Accumulator): (place: Place) => Steps<HogQLValue> {
  let frame: Pick<Place, "rows" | "from" | "to"> | undefined;
  let state: unknown;
  let result: HogQLValue = null;
  let steps = 0;
  return function* ({ rows, from, to }) {
    if (frame?.rows === rows && frame.from === from && frame.to === to) return result;
    const grows = frame?.rows === rows && frame.from === from && frame.to < to;
    if (!grows) state = start();
    for (let at = grows ? (frame?.to ?? 0) + 1 : from; at <= to; at++) {
      if (++steps % rowsPerStep === 0) yield undefined;
      add(state, rows[at] ?? 0);
    }
    frame = { rows, from, to };
    result = end(state);
    return result;
  };
}

interface WindowCall {
  readonly name: string;
  readonly args: readonly HogQLTerm[];
  /** The aggregation of the arguments; undefined for a function of places. */
  readonly aggregate: (HogQLTerm & { op: "aggregate" }) | undefined;
  readonly window: WindowNode;
  readonly partition: readonly HogQLTerm[];
  readonly order: readonly HogQLTerm[];
  readonly at: Located;
}

/** The term of a function over a window. @throws Refusal */
export function windowCall({ name, args, aggregate, window, partition, order: by, at }: WindowCall): HogQLTerm {
  const row = aggregate ? undefined : own(windowFunctions, name);
  if (!aggregate && !row) throw new Refusal(`The window function ${name} is not emulated`, at);
  if (row) checkCount(`Window function '${name}'`, args.length, row.args, at);
  const frame = frameOf(window, at);
  const type = aggregate?.type ?? row?.type ?? args[0]?.type ?? nothing;
  const other = defaultOf(type);
  const values = aggregate?.args ?? args;
  const keys = [values, partition, by].map((terms) => terms.map((it) => it.key).join(", "));
  const directions = (window.order_by ?? []).map((it) => it.order === "DESC");
  const bounds = `${frame.isRows} ${frame.from} ${frame.to}`;
  return {
    ...{ op: "window", name, type, at },
    key: `window ${aggregate?.key ?? name}(${keys.join("; ")}; ${directions}; ${bounds})`,
    args: [...values, ...partition, ...by],
    *read(rows, known, budget) {
      const compiled = (terms: readonly HogQLTerm[]): Read[] => terms.map((it) => compile(it, known));
      const reads = compiled(values);
      const orders = compiled(by);
      const sortKeys = orders.map((read, i) => ({ read, isDescending: directions[i] ?? false }));
      const ofFrame = aggregate && framed(aggregate.accumulate(reads, budget));
      const parts = new Map<number, number[]>();
      const numberOf = numbering(compiled(partition));
      budget.take(2 * rows.length);
      for (const [i, row] of rows.entries()) {
        if (i % rowsPerStep === rowsPerStep - 1) yield undefined;
        const part = parts.get(numberOf(row));
        if (part) part.push(row);
        else parts.set(numberOf(row), [row]);
      }
      const results = new Map<number, HogQLValue>();
      for (const part of parts.values()) {
        const inOrder = by.length > 0 ? yield* sorted(part, order(sortKeys)) : part;
        for (const place of yield* placesOf(inOrder, orders, frame)) {
          if (place.at % rowsPerStep === rowsPerStep - 1) yield undefined;
          const here = inOrder[place.at] ?? 0;
          const argument = (i: number, at: number): HogQLValue | undefined => reads[i]?.(inOrder[at] ?? 0);
          const n = Number(argument(1, place.at) ?? 1);
          const result = ofFrame
            ? yield* ofFrame(place)
            : (row?.read(place, (at) => argument(0, at) ?? null, n) ?? argument(2, place.at) ?? other);
          budget.take(weightOf(result));
          results.set(here, result);
        }
      }
      return (it) => results.get(it) ?? null;
    },
  };
}
