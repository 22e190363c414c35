/** Where the next press of an arrow leads; `at` is -1 while nothing is chosen. */
export function stepped(at: number, step: number, count: number): number {
  if (count === 0) return -1;
  if (at < 0) return Math.abs(step) > count && step > 0 ? count - 1 : 0;
  return Math.max(0, Math.min(count - 1, at + step));
}

/** What the page's address says of the events: `12`, or `12/compare/15`. */
export interface Place {
  readonly seq: number | undefined;
  /** The one that it is compared with. */
  readonly other: number | undefined;
}

const seqIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;

export function placeOf([first, word, second]: readonly string[]): Place {
  const seq = seqIn(first);
  return { seq, other: seq !== undefined && word === "compare" ? seqIn(second) : undefined };
}
