/** Rows drawn above and below what is seen, so that a quick scroll finds them there. */
const spare = 8;
/** What is drawn changes only after so many rows: between, scrolling costs nothing. */
const step = 4;

/** The first row to be drawn. */
export const firstShown = (top: number, rowHeight: number, count: number): number => {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - spare);
  return first - (first % step);
};

/** How many rows are drawn from there on, of `left` that there are. */
export const shownCount = (height: number, rowHeight: number, left: number): number =>
  Math.max(0, Math.min(left, Math.ceil(height / rowHeight) + 2 * spare + step));

/** Where to scroll so that a row is in sight; the nearest way. */
export function topFor(index: number, top: number, height: number, rowHeight: number): number {
  const begin = index * rowHeight;
  if (begin < top) return begin;
  return begin + rowHeight > top + height ? begin + rowHeight - height : top;
}

/** Where a key leads to in a list; undefined: it is no such key. */
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
