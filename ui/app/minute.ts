/** Running totals, as the sim tells them. */
export interface Totals {
  readonly kept: number;
  readonly dropped: number;
  readonly rejected: number;
}

type Counts = Readonly<Record<keyof Totals, readonly number[]>>;

/** What came in each of the last sixty seconds, the newest last. */
export interface Minute extends Counts {
  /** The second of the last entry, since the epoch. */
  readonly second: number;
  readonly last: Totals;
}

const length = 60;
const none: readonly number[] = Array.from({ length }, () => 0);

const moved = (values: readonly number[], by: number): readonly number[] =>
  by >= length ? none : [...values.slice(by), ...none.slice(0, by)];

const withMore = (values: readonly number[], more: number): readonly number[] =>
  more <= 0 ? values : [...values.slice(0, -1), (values.at(-1) ?? 0) + more];

/** A minute in which nothing came: what was before is not known. */
export const beginMinute = (at: number, last: Totals): Minute => ({
  second: Math.floor(at / 1000),
  last,
  kept: none,
  dropped: none,
  rejected: none,
});

/** The minute that ends at `at`, ms; totals that went down were cleared, and count from there on. */
export function minuteAt(minute: Minute, at: number, now: Totals = minute.last): Minute {
  const second = Math.max(minute.second, Math.floor(at / 1000));
  const by = second - minute.second;
  const next = (name: keyof Totals) => withMore(moved(minute[name], by), now[name] - minute.last[name]);
  return { second, last: now, kept: next("kept"), dropped: next("dropped"), rejected: next("rejected") };
}

/** How many came in that minute. */
export const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Did nothing come? Then it looks the same in a second. */
export const isStill = ({ kept, dropped, rejected }: Minute): boolean =>
  sumOf(kept) + sumOf(dropped) + sumOf(rejected) === 0;
