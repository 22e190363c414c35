/** Rows drawn above and below what is seen, so that a quick scroll finds them there. */
const spare = 8;

/** The first row to be drawn. */
export const firstShown = (top: number, rowHeight: number, count: number): number =>
  Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - spare);

/** How many rows are drawn from there on, of `left` that there are. */
export const shownCount = (height: number, rowHeight: number, left: number): number =>
  Math.max(0, Math.min(left, Math.ceil(height / rowHeight) + 2 * spare));
