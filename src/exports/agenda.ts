/** What is to be done, in order of its time; of those of one time, what was added first. */
export interface Agenda<T> {
  add(at: number, step: T): void;
  /** Takes the first out. */
  next(): { at: number; step: T } | undefined;
}

/** An agenda up to a time (ms): what lies behind it is not taken in. */
export function createAgenda<T>(until: number): Agenda<T> {
  const entries: { at: number; step: T }[] = [];
  let first = 0;

  function placeOf(at: number): number {
    let low = first;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(at, step) {
      if (at <= until) entries.splice(placeOf(at), 0, { at, step });
    },
    next: () => (first < entries.length ? entries[first++] : undefined),
  };
}
