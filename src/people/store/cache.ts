/** Recently used values by row number. Two generations stand in for an exact order of use, at the price of a Map. */
interface Cache<T> {
  get(row: number): T | undefined;
  /** `weight` in bytes; heavy values leave sooner. */
  set(row: number, value: T, weight: number): void;
  delete(row: number): void;
  clear(): void;
}

/** Holds at most 2 × `count` values and about 2 × `weight` bytes. */
export function createCache<T>(count: number, weight: number): Cache<T> {
  let young = new Map<number, T>();
  let old = new Map<number, T>();
  let load = 0;

  function set(row: number, value: T, bytes: number): void {
    if (young.size >= count || load >= weight) {
      old = young;
      young = new Map();
      load = 0;
    }
    young.set(row, value);
    load += bytes;
  }

  return {
    set,
    get(row) {
      const recent = young.get(row);
      if (recent !== undefined) return recent;
      const earlier = old.get(row);
      // Its weight was paid when it came; a second look costs a place only.
      if (earlier !== undefined) set(row, earlier, 0);
      return earlier;
    },
    delete(row) {
      young.delete(row);
      old.delete(row);
    },
    clear() {
      young = new Map();
      old = new Map();
      load = 0;
    },
  };
}
