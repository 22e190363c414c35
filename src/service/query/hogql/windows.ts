import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { own } from "../../../kernel/base/json.ts";
import type { FrameNode, Located, WindowNode } from "./ast.ts";
import { numbering, order } from "./output.ts";
import { checkCount, Refusal } from "./refusal.ts";
import { type Accumulator, compileAll, type HogQLTerm, type Read } from "./term.ts";
import { type HogQLValue, nothing, type Type } from "./types.ts";
import { defaultOf, keyOf, weightOf } from "./values.ts";

/** The place of a row in its partition, and the first and last row of its frame. */
interface Place {
  /** Rows of the partition in order. */
  readonly rows: readonly number[];
  readonly at: number;
  /** Peers are rows that the order does not tell apart: the first of them, and their number, from 1. */
  readonly firstPeer: number;
  readonly peers: number;
  readonly from: number;
  readonly to: number;
}

const places: Readonly<Record<string, (place: Place) => number>> = {
  row_number: ({ at }) => at + 1,
  rank: ({ firstPeer }) => firstPeer + 1,
  dense_rank: ({ peers }) => peers,
};

type Row = readonly [at: number, least: number, most: number];

/** Functions of another row, by their second argument: its place, and the places where it may be. */
const otherRows: Readonly<Record<string, (place: Place, n: number) => Row>> = {
  lag: ({ at, rows }, n) => [at - n, 0, rows.length - 1],
  lead: ({ at, rows }, n) => [at + n, 0, rows.length - 1],
  lagInFrame: ({ at, from, to }, n) => [at - n, from, to],
  leadInFrame: ({ at, from, to }, n) => [at + n, from, to],
  nth_value: ({ from, to }, n) => [from + n - 1, from, to],
};

/** Aggregations that have another name with a window. */
export const windowAggregates: Readonly<Record<string, string>> = { first_value: "any", last_value: "anyLast" };

/** Functions that need a window; aggregations can have one. */
export const windowFunctions: readonly string[] = [places, otherRows, windowAggregates].flatMap((it) =>
  Object.keys(it),
);

/** A frame: distances of rows, or for `RANGE` 0 for the peers; infinite for UNBOUNDED. */
interface Frame {
  readonly isRows: boolean;
  readonly from: number;
  readonly to: number;
}

function frameOf({ frame_method, frame_start, frame_end, order_by }: WindowNode, at: Located): Frame {
  const infinite = Number.POSITIVE_INFINITY;
  if (!frame_start) return { isRows: false, from: -infinite, to: order_by ? 0 : infinite };
  const distance = (bound: FrameNode | null | undefined): number => {
    if (!bound || bound.frame_type === "CURRENT ROW") return 0;
    return (bound.frame_value ?? infinite) * (bound.frame_type === "PRECEDING" ? -1 : 1);
  };
  const [from, to] = [distance(frame_start), distance(frame_end)];
  const isRows = frame_method === "ROWS";
  if (from > to) throw new Refusal("The frame ends before it starts", at);
  if (!isRows && [from, to].some((it) => it !== 0 && Number.isFinite(it)))
    throw new Refusal("A frame of RANGE with a number is not emulated; use ROWS", at);
  return { isRows, from, to };
}

/** The places of the rows of a partition, which are in order. */
function placesOf(rows: readonly number[], reads: readonly Read[], frame: Frame): Place[] {
  const groups: { first: number; last: number }[] = [];
  const peersAt: number[] = [];
  let previous: unknown;
  for (const [at, row] of rows.entries()) {
    const key = keyOf(reads.map((it) => it(row)));
    const group = key === previous ? groups.at(-1) : undefined;
    if (group) group.last = at;
    else groups.push({ first: at, last: at });
    previous = key;
    peersAt.push(groups.length);
  }
  const end = rows.length - 1;
  return peersAt.map((peers, at) => {
    const { first, last } = groups[peers - 1] ?? { first: at, last: at };
    const from = frame.isRows ? at + frame.from : frame.from === 0 ? first : 0;
    const to = frame.isRows ? at + frame.to : frame.to === 0 ? last : end;
    return { rows, at, firstPeer: first, peers, from: Math.max(0, from), to: Math.min(end, to) };
  });
}

/** The results of an aggregation of frames. Rows are added to those of the frame before, if it has the same start. */
function framed({ start, add, end }: Accumulator): (place: Place) => HogQLValue {
  let frame: Pick<Place, "rows" | "from" | "to"> | undefined;
  let state: unknown;
  let result: HogQLValue = null;
  return ({ rows, from, to }) => {
    const before = frame?.rows === rows && frame.from === from && frame.to <= to ? frame.to : undefined;
    if (before === to) return result;
    if (before === undefined) state = start();
    for (let at = before === undefined ? from : before + 1; at <= to; at++) add(state, rows[at] ?? 0);
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
  const [place, other] = aggregate ? [] : [own(places, name), own(otherRows, name)];
  if (!aggregate && !place && !other) throw new Refusal(`The window function ${name} is not emulated`, at);
  const range = place ? ([0, 0] as const) : name === "nth_value" ? ([2, 2] as const) : ([1, 3] as const);
  if (!aggregate) checkCount(`Window function '${name}'`, args.length, range, at);
  const frame = frameOf(window, at);
  const type: Type = aggregate?.type ?? (place ? { kind: "UInt64" } : (args[0]?.type ?? nothing));
  const values = aggregate?.args ?? args;
  const keys = [values, partition, by].map((terms) => terms.map((it) => it.key).join(", "));
  const directions = (window.order_by ?? []).map((it) => it.order === "DESC");
  return {
    ...{ op: "window", name, type, at },
    key: `window ${aggregate?.key ?? name}(${keys.join("; ")}; ${directions}; ${Object.values(frame).join(" ")})`,
    args: [...values, ...partition, ...by],
    read(rows, known, budget) {
      const [reads = [], keyReads = [], orders = []] = [values, partition, by].map((it) => compileAll(it, known));
      const ofFrame = aggregate && framed(aggregate.accumulate(reads, budget));
      const compare = order(orders.map((read, i) => ({ read, isDescending: directions[i] ?? false })));
      budget.take(2 * rows.length);
      const valueAt = (here: Place): HogQLValue => {
        if (place) return place(here);
        const argument = (i: number, of: number): HogQLValue => reads[i]?.(here.rows[of] ?? 0) ?? null;
        const [of, least, most] = other?.(here, reads[1] ? Number(argument(1, here.at)) : 1) ?? [0, 0, -1];
        if (of >= least && of <= most) return argument(0, of);
        return reads[2] ? argument(2, here.at) : defaultOf(type);
      };
      const results = new Map<number, HogQLValue>();
      for (const part of groupedBy(rows, numbering(keyReads)).values()) {
        const inOrder = by.length > 0 ? part.sort(compare) : part;
        for (const here of placesOf(inOrder, orders, frame)) {
          const result = (ofFrame ?? valueAt)(here);
          budget.take(weightOf(result));
          results.set(inOrder[here.at] ?? 0, result);
        }
      }
      return (row) => results.get(row) ?? null;
    },
  };
}
