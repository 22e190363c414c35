import type { TimeSource } from "../../kernel/base/clock.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { countsOf, eventCounter, freshCount, type RowCount } from "./counting.ts";
import { parseEventFilter } from "./filter-parameter.ts";
import { Histogram, HistogramQuery } from "./histogram-answer.ts";
import { isWarnedFacet } from "./log/facets.ts";
import type { TrafficLog } from "./log/traffic-log.ts";

type Bar = [kept: number, warned: number, dropped: number];

interface BarCount extends RowCount {
  /** Length of a bucket, a power of two: two buckets are merged into one as the range grows. */
  step: number;
  bars: Map<number, Bar>;
  lowest: number;
  highest: number;
  pending: { n: number; outcome: 0 | 1 | 2 }[];
}

const mostCounts = 16;

interface HistogramPorts {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
}

function stepFor(range: number, buckets: number): number {
  let step = 1;
  while (range / step > buckets - 1) step *= 2;
  return step;
}

function merge(count: BarCount): void {
  const merged = new Map<number, Bar>();
  for (const [place, bar] of count.bars) {
    const half = Math.floor(place / 2);
    const known = merged.get(half);
    if (known) for (const i of [0, 1, 2] as const) known[i] += bar[i];
    else merged.set(half, bar);
  }
  count.bars = merged;
  count.step *= 2;
  count.lowest = Math.floor(count.lowest / 2);
  count.highest = Math.floor(count.highest / 2);
}

function barAt(count: BarCount, at: number, buckets: number): Bar {
  const placeOf = () => Math.floor(at / count.step);
  while (count.bars.size > 0) {
    const [low, high] = [Math.min(count.lowest, placeOf()), Math.max(count.highest, placeOf())];
    if (high - low < buckets) break;
    merge(count);
  }
  const place = placeOf();
  const bar = count.bars.get(place) ?? [0, 0, 0];
  if (count.bars.size === 0) [count.lowest, count.highest] = [place, place];
  count.bars.set(place, bar);
  count.lowest = Math.min(count.lowest, place);
  count.highest = Math.max(count.highest, place);
  return bar;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly buckets: number;
}

/**
 * Moves pending events to their bars. Requests arrive in order: if the first and the last of a part belong to one bar,
 * all between do, and their lines are not read.
 */
function settlePending(count: BarCount, log: TrafficLog, { from, to, buckets }: Range): void {
  const { pending } = count;
  const known = new Map<number, number | undefined>();
  const arrivalOf = (i: number): number | undefined => {
    const n = pending[i]?.n ?? 0;
    if (!known.has(n)) known.set(n, log.head(n)?.at);
    return known.get(n);
  };
  const isIn = (at: number) => at >= from && at < to;
  function settle(first: number, last: number): void {
    if (first > last) return;
    const [a, b] = [arrivalOf(first), arrivalOf(last)];
    const isOne =
      a !== undefined &&
      b !== undefined &&
      isIn(a) === isIn(b) &&
      Math.floor(a / count.step) === Math.floor(b / count.step);
    if (!isOne && first < last) {
      const middle = (first + last) >> 1;
      settle(first, middle);
      settle(middle + 1, last);
    } else if (a === undefined) count.isPart = true;
    else if (isIn(a)) {
      const bar = barAt(count, a, buckets);
      for (let i = first; i <= last; i++) {
        const outcome = pending[i]?.outcome;
        if (outcome !== undefined) bar[outcome]++;
      }
    }
  }
  settle(0, pending.length - 1);
  count.pending = [];
}

export const histogramSlice = slice(["log", "clock"], ({ log, clock }: HistogramPorts) => {
  const counts = countsOf<BarCount>(log, mostCounts);
  const length = (): number => {
    const [first, last] = [log.head(log.firstRequest)?.at, log.head(log.lastRequest)?.at];
    return first === undefined || last === undefined ? 0 : Math.max(0, last - first);
  };
  return [
    row({
      method: "GET",
      path: "/__sim/feed/histogram",
      access: "control",
      summary: "Counts events over the time of their arrival, by outcome",
      query: HistogramQuery,
      reply: Histogram,
      async handle({ query: { filter: text, project, from = 0, to = Number.MAX_SAFE_INTEGER, buckets } }) {
        const filter = parseEventFilter(text);
        const range = { from, to, buckets };
        const name = JSON.stringify([project ?? null, filter.text, from, to, buckets]);
        const { count, progress } = await counts.get(name, () => ({
          isTimed: filter.isTimed,
          counter: eventCounter<BarCount>({
            ...{ log, clock, filter, project },
            add({ pending }, { n, isDropped, facet }) {
              pending.push({ n, outcome: isDropped ? 2 : isWarnedFacet(facet) ? 1 : 0 });
            },
            settle: (it) => settlePending(it, log, range),
          }),
          count: {
            ...freshCount(log.lastSeq),
            step: stepFor(Math.min(length(), to - from), buckets),
            bars: new Map(),
            lowest: 0,
            highest: -1,
            pending: [],
          },
        }));
        const { step, lowest, highest, bars } = count;
        const ofOutcome = (i: 0 | 1 | 2) =>
          Array.from({ length: highest - lowest + 1 }, (_, place) => bars.get(lowest + place)?.[i] ?? 0);
        return {
          ...progress,
          ...{ from: lowest * step, step },
          ...{ kept: ofOutcome(0), warned: ofOutcome(1), dropped: ofOutcome(2) },
        };
      },
    }),
  ];
});
