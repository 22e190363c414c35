/** Extra rows drawn above and below the visible ones, for quick scrolling. */
const spare = 8;
/** The drawn rows change in steps of this size. */
const step = 4;

/** Index of the first drawn row. */
export const firstShown = (top: number, rowHeight: number, count: number): number => {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - spare);
  return first - (first % step);
};

/** Number of drawn rows, at most `left`. */
export const shownCount = (height: number, rowHeight: number, left: number): number =>
  Math.max(0, Math.min(left, Math.ceil(height / rowHeight) + 2 * spare + step));

/** Nearest scroll position that shows a row. */
export function topFor(index: number, top: number, height: number, rowHeight: number): number {
  const begin = index * rowHeight;
  if (begin < top) return begin;
  return begin + rowHeight > top + height ? begin + rowHeight - height : top;
}

/** Index that a key moves to; undefined for other keys. */
export function stepTo(key: string, index: number, count: number, page: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: Math.max(index, 0) + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1,
  };
  const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
  return target === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** Index after a step; `at` is -1 while no row is selected. */
export function stepped(at: number, step: number, count: number): number {
  if (count === 0) return -1;
  if (at < 0) return Math.abs(step) > count && step > 0 ? count - 1 : 0;
  return Math.max(0, Math.min(count - 1, at + step));
}
