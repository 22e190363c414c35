/** What lists are sorted by: a wire time, which old documents may lack, and a number. */
interface Dated {
  readonly id: number;
  readonly created_at?: string | null | undefined;
}

/** Without the `Z` a whole second sorts before its fractions. */
const instant = ({ created_at }: Dated): string => created_at?.slice(0, -1) ?? "";

/** The order of lists: the last created first, and of those created at once the higher number. */
export function newestFirst(a: Dated, b: Dated): number {
  const left = instant(a);
  const right = instant(b);
  return left === right ? b.id - a.id : left < right ? 1 : -1;
}
